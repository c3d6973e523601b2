// Points sent through a network several at a time, in floats with bounds on what rounding may have done.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/exact/rounding.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

namespace forward {

// More than what rounding adds to a bound while it is computed.
inline constexpr double margin = 1 + 0x1p-19;

// Numbers of the cells that go through the network together, in two registers so that a weight is loaded once for both.
inline constexpr int halves = 2, group = halves * lanes;
struct Values {
    Lanes half[halves]{};
};
struct Choices {
    Choice half[halves]{};
};

// What one source puts out for a group of cells, with one bound for the errors and one for the sizes of all its
// entries.
struct Source {
    std::vector<Values> values;
    std::vector<std::size_t> some;  // entries that are not zero for all of them
    Values error, size;
};

// Points go through the network as any input would, several at a time, with a bound for what rounding may have done.
class ForwardPass {
  public:
    explicit ForwardPass(const Problem& problem) : problem_(problem), sources_(problem.stages.size()) {
        for (const Stage& stage : problem.stages) {
            Limits& limits = limits_.emplace_back();
            for (const double bias : stage.bias)
                limits.bias_error.push_back(rounding::bound(stage.terms) * std::abs(bias) * margin + rounding::tiny);
            for (const double error : limits.bias_error)
                limits.largest_bias_error = std::max(limits.largest_bias_error, error);
            for (const auto* slopes : {&stage.slope_on, &stage.slope_off})
                for (const double slope : *slopes) limits.slope = std::max(limits.slope, std::abs(slope));
            limits.row_sum.assign(stage.width, 0.0);
            for (const Block& block : stage.blocks)
                for (int j = 0; j < block.columns; ++j)
                    for (int i = 0; i < stage.width; ++i)
                        limits.row_sum[i] += std::abs(block.by_column[j * stage.width + i]) * margin;
            for (const double sum : limits.row_sum) limits.largest_row_sum = std::max(limits.largest_row_sum, sum);
        }
    }

    // Of which points it is proved that they lie strictly inside the domain and strictly inside the cells with these
    // patterns.
    void prove(int count, const std::uint8_t* patterns, const double* points, std::uint8_t* proved) {
        run(count, points, proved, [&](std::size_t s, Choices& fine) { switch_as(s, count, patterns, fine); });
    }

    // The pattern of each point as floats have it; of which points all of it is proved, and that they lie strictly
    // inside the domain.
    void find(int count, const double* points, std::uint8_t* patterns, std::uint8_t* proved) {
        std::fill_n(patterns, static_cast<std::ptrdiff_t>(count) * ((problem_.gates + 7) / 8), std::uint8_t{0});
        run(count, points, proved, [&](std::size_t s, Choices& fine) { switch_by_sign(s, count, patterns, fine); });
    }

    // Leaves only those points proved of which it is proved that they lie strictly inside the domain.
    void keep_inside(int count, const double* points, std::uint8_t* proved) {
        Choices fine;
        for (Choice& half : fine.half) half = ~Choice{};
        read_inputs(count, points);
        pass_domain(fine);
        for (int cell = 0; cell < count; ++cell) proved[cell] &= fine.half[cell / lanes][cell % lanes] != 0;
    }

  private:
    // The domain's rows put nothing out: source 0 is the input.
    void pass_domain(Choices& fine) {
        add_up(0);
        look_at_range(limits_[0], fine);
        look_at_domain(fine);
    }

    template <class Switch>
    void run(int count, const double* points, std::uint8_t* proved, Switch switch_gates) {
        Choices fine;
        for (Choice& half : fine.half) half = ~Choice{};
        read_inputs(count, points);
        pass_domain(fine);
        for (std::size_t s = 1; s < problem_.stages.size(); ++s) {
            add_up(s);
            look_at_range(limits_[s], fine);
            switch_gates(s, fine);
        }
        for (int cell = 0; cell < count; ++cell) proved[cell] = fine.half[cell / lanes][cell % lanes] != 0;
    }

    // What bounds the errors of a stage, whatever comes in.
    struct Limits {
        std::vector<double> bias_error, row_sum;  // by row
        double largest_bias_error = 0, largest_row_sum = 0;
        double slope = 0;  // the steepest
    };

    const Problem& problem_;
    std::vector<Source> sources_;
    std::vector<Limits> limits_;
    std::vector<Values> parameters_;

    // Of the stage at hand.
    std::vector<Values> sums_;
    Values doubt_;  // about every number that comes in, rounded once with its weight

    void read_inputs(int count, const double* points) {
        const int d = problem_.dim;
        parameters_.assign(d, {});
        for (int k = 0; k < d; ++k)
            for (int cell = 0; cell < count; ++cell)
                parameters_[k].half[cell / lanes][cell % lanes] = points[cell * d + k];
        Source& inputs = sources_[0];
        inputs.some.resize(problem_.input_dim);
        std::iota(inputs.some.begin(), inputs.some.end(), 0);
        inputs.values.resize(problem_.input_dim);
        inputs.size = {};
        for (Lanes& error : inputs.error.half) error = Lanes{} + rounding::least;  // products with them may underflow
        for (int j = 0; j < problem_.input_dim; ++j)
            for (int h = 0; h < halves; ++h) {
                Sum input{problem_.frame_is_identity ? parameters_[j].half[h] : Lanes{}, {}};  // not rounded
                if (!problem_.frame_is_identity) input = at_parameters(problem_.frame.data() + j * (d + 1), h);
                inputs.values[j].half[h] = input.value;
                inputs.size.half[h] = larger(inputs.size.half[h], size_of(input.value));
                inputs.error.half[h] = larger(inputs.error.half[h], input.error);
            }
    }

    struct Sum {
        Lanes value, error;
    };
    // An affine form, whose constant comes last.
    Sum at_parameters(const double* form, int h) const {
        const int d = problem_.dim;
        Lanes value = Lanes{} + form[d], size = size_of(value);
        for (int k = 0; k < d; ++k) {
            const Lanes term = form[k] * parameters_[k].half[h];
            value += term;
            size += size_of(term);
        }
        return {value, rounding::bound(d + 4) * size * margin + rounding::least};
    }

    void add_up(std::size_t s) {
        const Stage& stage = problem_.stages[s];
        const double relative = rounding::bound(stage.terms);
        const auto width = static_cast<std::size_t>(stage.width);
        sums_.resize(width);
        for (std::size_t i = 0; i < width; ++i)
            for (Lanes& half : sums_[i].half) half = Lanes{} + stage.bias[i];
        doubt_ = {};
        for (const Block& block : stage.blocks) {
            const Source& source = sources_[block.source];
            add_columns(block, source, width);
            for (int h = 0; h < halves; ++h)
                doubt_.half[h] = larger(
                    doubt_.half[h], (source.error.half[h] * (1 + relative) + relative * source.size.half[h]) * margin);
        }
    }

    // Four at a time, because loading and storing the sums takes longest; some of the last four may be nothing. Cells
    // that come together have most of their gates in common, and gates that are off put nothing out.
    void add_columns(const Block& block, const Source& source, std::size_t width) {
        constexpr std::size_t together = 4;
        for (std::size_t first = 0; first < source.some.size(); first += together) {
            const double* columns[together];
            Values values[together];
            for (std::size_t k = 0; k < together; ++k) {
                const bool there = first + k < source.some.size();
                const std::size_t column = source.some[there ? first + k : first];
                columns[k] = block.by_column.data() + column * width;
                if (there) values[k] = source.values[column];
            }
            const double *one = columns[0], *two = columns[1], *three = columns[2], *four = columns[3];
            const Values a = values[0], b = values[1], c = values[2], d = values[3];
            for (std::size_t i = 0; i < width; ++i) {
                const double at_one = one[i], at_two = two[i], at_three = three[i], at_four = four[i];
                for (int h = 0; h < halves; ++h)
                    sums_[i].half[h] +=
                        at_one * a.half[h] + at_two * b.half[h] + at_three * c.half[h] + at_four * d.half[h];
            }
        }
    }

    // A sum that overflowed on the way proves nothing. Errors are bounded by more than a 2^-53rd of the terms: where
    // the bounds are small, so were all sums.
    void look_at_range(const Limits& limits, Choices& fine) const {
        constexpr double most = rounding::largest * rounding::unit;
        for (int h = 0; h < halves; ++h)
            fine.half[h] &= limits.largest_bias_error + limits.largest_row_sum * doubt_.half[h] < most;
    }

    void look_at_domain(Choices& fine) const {
        const Stage& stage = problem_.stages[0];
        const Limits& limits = limits_[0];
        const bool has_own = !stage.parameter_rows.empty();
        for (int i = 0; i < stage.width; ++i)
            for (int h = 0; h < halves; ++h) {
                Sum own{};
                if (has_own) own = at_parameters(stage.parameter_rows.data() + i * (problem_.dim + 1), h);
                const Lanes sum = sums_[i].half[h] + own.value;
                const Lanes error = limits.bias_error[i] + limits.row_sum[i] * doubt_.half[h] + own.error;
                fine.half[h] &= sum > (error + rounding::bound(2) * size_of(sum)) * margin;
            }
    }

    // The stage's gates as the cells' patterns say; where floats do not prove that a cell's own point agrees, nothing
    // is proved of it.
    void switch_as(std::size_t s, int count, const std::uint8_t* patterns, Choices& fine) {
        const Stage& stage = problem_.stages[s];
        const int stride = (problem_.gates + 7) / 8;
        Choices eight_gates;
        std::uint64_t some_on = 0;
        switch_each(s, fine, [&](int i, Choices& on) {
            const int gate = stage.first_wall + i, bit = gate % 8;
            if (i == 0 || bit == 0) {
                std::uint64_t bytes = 0;  // one of each cell
                some_on = 0;
                for (int cell = 0; cell < count; ++cell) {
                    const std::uint64_t byte = patterns[cell * stride + gate / 8];
                    bytes |= byte << (8 * cell);
                    some_on |= byte;
                }
                for (int h = 0; h < halves; ++h)
                    eight_gates.half[h] =
                        (Choice{} + static_cast<std::int64_t>(bytes >> (32 * h))) >> Choice{0, 8, 16, 24};
            }
            for (int h = 0; h < halves; ++h) on.half[h] = -((eight_gates.half[h] >> bit) & 1);
            return ((some_on >> bit) & 1) != 0;
        });
    }

    // The stage's gates as the signs of their values say.
    void switch_by_sign(std::size_t s, int count, std::uint8_t* patterns, Choices& fine) {
        const Stage& stage = problem_.stages[s];
        const int stride = (problem_.gates + 7) / 8;
        switch_each(s, fine, [&](int i, Choices& on) {
            const int gate = stage.first_wall + i;
            bool some_on = false;
            for (int h = 0; h < halves; ++h) on.half[h] = sums_[i].half[h] > Lanes{};
            for (int cell = 0; cell < count; ++cell) {
                const bool is_on = on.half[cell / lanes][cell % lanes] != 0;
                patterns[cell * stride + gate / 8] |= static_cast<std::uint8_t>(static_cast<int>(is_on) << (gate % 8));
                some_on |= is_on;
            }
            return some_on;
        });
    }

    // `decide(i, on)` says for which points row i is on, and returns whether it is for any of them.
    template <class Decide>
    void switch_each(std::size_t s, Choices& fine, Decide decide) {
        const Stage& stage = problem_.stages[s];
        const Limits& limits = limits_[s];
        Source& out = sources_[s];
        out.values.resize(stage.width);
        out.some.clear();
        Values size, error;
        for (int i = 0; i < stage.width; ++i) {
            Choices on;
            if (decide(i, on) || stage.slope_off[i] != 0) out.some.push_back(i);
            for (int h = 0; h < halves; ++h) {
                const Lanes z = sums_[i].half[h], doubt = limits.bias_error[i] + limits.row_sum[i] * doubt_.half[h];
                fine.half[h] &= (on.half[h] ? z : -z) > doubt * margin;
                const Lanes y = z * (on.half[h] ? Lanes{} + stage.slope_on[i] : Lanes{} + stage.slope_off[i]);
                out.values[i].half[h] = y;
                size.half[h] = larger(size.half[h], size_of(y));
                error.half[h] = larger(error.half[h], doubt);
            }
        }
        out.size = size;
        for (int h = 0; h < halves; ++h)
            out.error.half[h] =
                (limits.slope * error.half[h] + rounding::bound(2) * size.half[h]) * margin * margin + rounding::least;
    }
};

}  // namespace forward

}  // namespace polyfold
