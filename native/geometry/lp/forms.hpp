// Affine forms in floats, one behind the other, and what may be said of their values.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/exact/rounding.hpp"
#include "geometry/lp/box.hpp"

namespace polyfold {

// The true form has entries that are off by at most `error`. Coefficients are at most one in size.
struct Form {
    std::vector<double> entries;
    double error = 0;
};

class FormList {
  public:
    explicit FormList(int dim = 0) : stride_(padded(dim + 1)) {}

    int size() const { return static_cast<int>(errors_.size()); }
    const double* operator[](int row) const { return entries_.data() + static_cast<std::size_t>(row) * stride_; }
    double error(int row) const { return errors_[row]; }

    void add(const Form& form, int side) {
        for (const double entry : form.entries) entries_.push_back(side * entry);
        errors_.push_back(form.error);
    }

    // Keep only these (ascending).
    void keep(const std::vector<int>& rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::copy_n((*this)[rows[i]], stride_, entries_.data() + i * stride_);
            errors_[i] = errors_[rows[i]];
        }
        errors_.resize(rows.size());
        entries_.resize(rows.size() * stride_);
    }

  private:
    int stride_;
    std::vector<double> entries_, errors_;
};

inline double dot(const double* a, const double* b, int size) {
    Lanes sum{};
    for (int k = 0; k < size; k += lanes) sum += load(a + k) * load(b + k);
    double total = 0;
    for (int j = 0; j < lanes; ++j) total += sum[j];
    return total;
}

// to -= factor * from
inline void take_away(double* to, const double* from, double factor, int size) {
    const Lanes factors = Lanes{} + factor;
    for (int i = 0; i < size; i += lanes) store(to + i, load(to + i) - factors * load(from + i));
}

// Bounds what the value of a form (its constant, its error) may be off at a point of this size, 1 + sum |u_k|, as `dot`
// computes it. See decision 50, as for everything below.
inline double doubt_at(int dim, double constant, double error, double size) {
    return (rounding::bound(dim + 3) * (std::abs(constant) + size) + error * size) * (1 + 0x1p-20) + rounding::tiny;
}

// A form's values where one coordinate of a point is changed by s: value + coefficient * s is off by at most
// doubt + of_step * |s|.
struct BesideDoubt {
    double doubt, of_step;
};
inline BesideDoubt doubt_beside(double value, double doubt, double error) {
    return {(doubt + rounding::bound(4) * std::abs(value)) * (1 + 0x1p-18),
            (rounding::bound(6) + error) * (1 + 0x1p-18)};
}

// Proved bounds on what forms can be in a box, between rows.
class LargestInBox {
  public:
    explicit LargestInBox(const Box& box) : box_(box), size_(box.size()), sum_(padded(box.dim() + 1)), sizes_(sum_) {}

    // Of a form, times +-1.
    void start(const double* form, double sign, double error);
    // A row that is at least 0 in the cell, times a multiplier that is not negative.
    void add(const double* row, double multiplier, double error);
    // No smaller than the form is anywhere in the box where these rows are at least 0.
    double bound() const;

  private:
    const Box& box_;
    const double size_;
    std::vector<double> sum_, sizes_;
    double error_ = 0;
    int rows_ = 0;
};

}  // namespace polyfold
