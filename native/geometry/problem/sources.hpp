// What outputs of other stages, or inputs, add to the affine forms of a stage.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/exact/rounding.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

// Forms are rows (a, b) over homogeneous parameters (u, t): value a . u + b t, for all rows of a stage at once.
struct Forms {
    std::vector<double> entries;  // [k * width + row]
    std::vector<double> error;    // bounds the error of every entry of a row
};

// A few outputs of other stages, or inputs, that are added to the forms of a stage together: in registers, so that the
// forms are read and written once for all of them. Every entry is summed up in the order in which they were given.
class Sources {
  public:
    // So many forms, of so many entries with so many roundings behind them.
    Sources(int width, int size, int terms)
        : width_(width),
          size_(size),
          relative_(rounding::bound(terms)),
          many_values_(size > few ? static_cast<std::size_t>(size) * together : 0),
          values_(size > few ? many_values_.data() : few_values_) {}
    Sources(const Sources&) = delete;  // knows where its values are

    // Add factor * row to the forms, each times its weight, and what that may be off.
    void add(Forms& forms, const double* weights, double factor, const double* row, int stride, double row_error) {
        if (factor == 0.0) return;
        take(factor, row, stride, row_error);
        weights_[count_] = weights;
        if (++count_ == together) finish(forms);
    }
    // The same, where the weights are the j-th column of a block.
    void add(Forms& forms, const Block& block, int j, double factor, const double* row, int stride, double row_error) {
        const double* column = block.by_column.data() + static_cast<std::ptrdiff_t>(j) * width_;
        if (block.start.empty()) return add(forms, column, factor, row, stride, row_error);
        if (factor == 0.0) return;
        take(factor, row, stride, row_error);
        for (int at = block.start[j]; at < block.start[j + 1]; ++at)
            add_to_row(forms, block.rows[at], column[block.rows[at]]);
    }

    // To be called when all are given.
    void finish(Forms& forms) {
        switch (std::exchange(count_, 0)) {
            case 0:
                return;
            case 1:
                return add_all<1>(forms);
            case 2:
                return add_all<2>(forms);
            case 3:
                return add_all<3>(forms);
            default:
                return add_all<together>(forms);
        }
    }

  private:
    static constexpr int together = 4, registers = 2;
    static constexpr int few = 8;  // entries; of more the values are put elsewhere

    const int width_, size_;
    const double relative_;
    int count_ = 0;
    const double* weights_[together];
    double doubt_[together];
    double few_values_[few * together];
    std::vector<double> many_values_;
    double* values_;  // [k * together + source]

    // The next source, and what its values may be off.
    void take(double factor, const double* row, int stride, double row_error) {
        double largest = 0;
        for (int k = 0; k < size_; ++k) {
            const double value = factor * row[k * stride];
            largest = std::max(largest, std::abs(value));
            values_[k * together + count_] = value;
        }
        // What underflows here is multiplied by the weights, which may be large.
        doubt_[count_] = std::abs(factor) * row_error * (1 + relative_) + relative_ * largest + rounding::least;
    }

    // The source that was taken, with a weight that is not zero.
    void add_to_row(Forms& forms, int row, double weight) const {
        const double doubt = doubt_[count_];
        double& error = forms.error[row];
        error =
            doubt < rounding::unknown ? error + (std::abs(weight) * doubt + rounding::underflow) : rounding::unknown;
        double* out = forms.entries.data() + row;
        for (int k = 0; k < size_; ++k)
            out[static_cast<std::ptrdiff_t>(k) * width_] += weight * values_[k * together + count_];
    }

    template <int Count>
    void add_all(Forms& forms) {
        // Apart from the others, because zero times infinity is no number.
        bool unknown[Count];
        for (int s = 0; s < Count; ++s) {
            unknown[s] = !(doubt_[s] < rounding::unknown);
            if (unknown[s]) doubt_[s] = 0;
        }
        int row = add_while<Count, registers>(forms, 0, WholeLanes());
        row = add_while<Count, 1>(forms, row, WholeLanes());
        if (row < width_) add_while<Count, 1>(forms, row, FirstLanes{width_ - row});
        for (int s = 0; s < Count; ++s)
            if (unknown[s])
                for (int i = 0; i < width_; ++i)
                    if (weights_[s][i] != 0.0) forms.error[i] = rounding::unknown;
    }

    // To the forms from `row` on, as long as they fill so many registers. Returns the next row.
    template <int Count, int Registers, class Part>
    int add_while(Forms& forms, int row, Part part) {
        constexpr int step = Registers * lanes;
        Lanes doubt[Count];
        for (int s = 0; s < Count; ++s) doubt[s] = Lanes{} + doubt_[s];
        for (; row + part.lanes_of(step) <= width_; row += step) {
            Lanes weight[Count][Registers];
            for (int s = 0; s < Count; ++s)
                for (int r = 0; r < Registers; ++r) weight[s][r] = part.get(weights_[s] + row + r * lanes);
            double* error = forms.error.data() + row;
            for (int r = 0; r < Registers; ++r) {
                Lanes sum = part.get(error + r * lanes), largest{};
                for (int s = 0; s < Count; ++s) {
                    const Lanes size = size_of(weight[s][r]);
                    sum += size * doubt[s];
                    largest = s == 0 ? size : larger(largest, size);
                }
                // Products may underflow, and so may their bounds: an entry with any term at all is never taken for
                // exact.
                sum += largest > 0 ? Lanes{} + rounding::underflow : Lanes{};
                part.put(error + r * lanes, sum);
            }
            double* out = forms.entries.data() + row;
            const double* value = values_;
            for (int k = 0; k < size_; ++k, out += width_, value += together) {
                Lanes sum[Registers];
                for (int r = 0; r < Registers; ++r) sum[r] = part.get(out + r * lanes);
                for (int s = 0; s < Count; ++s)
                    for (int r = 0; r < Registers; ++r) sum[r] += weight[s][r] * value[s];
                for (int r = 0; r < Registers; ++r) part.put(out + r * lanes, sum[r]);
            }
        }
        return row;
    }
};

}  // namespace polyfold
