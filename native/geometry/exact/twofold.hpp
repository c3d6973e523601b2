// Numbers to twice the digits of a float, as sums of two: forms and their values with bounds that say what is lost. See
// decision 59.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace twofold {

// a + b = first + second, and a * b as well, without rounding: unless something overflows, or a product underflows.
inline std::pair<double, double> sum(double a, double b) {
    const double total = a + b, part = total - a;
    return {total, (a - (total - part)) + (b - part)};
}
inline std::pair<double, double> product(double a, double b) {
    // Rounded by itself: a plain product might be fused with whatever it is added to.
    const double total = std::fma(a, b, 0.0);
    return {total, std::fma(a, b, -total)};
}

// What is lost of `terms` products that are summed up with what each of them and each sum loses: these losses are so
// small, and only their sum is rounded. `high` bounds the sum of the products' sizes, `low` that of further small
// terms.
constexpr double lost(int terms, double high, double low) {
    return rounding::bound(3 * terms + 6) * ((terms + 1) * rounding::unit * high + low) * (1 + 0x1p-20) +
           terms * rounding::underflow;
}

}  // namespace twofold

// A form a . u + b t over homogeneous parameters, every entry as a sum of two floats.
struct TwofoldForm {
    std::vector<double> high, low;
    double error = 0;  // bounds the error of every entry
};

// Adds up floats times forms.
class TwofoldSum {
  public:
    explicit TwofoldSum(int size) : high_(size, 0.0), low_(size, 0.0) {}

    // The lower parts of a form whose entries are floats are none.
    void add(double factor, const double* high, const double* low, double error) {
        double largest = 0, largest_low = 0;
        for (std::size_t k = 0; k < high_.size(); ++k) {
            const auto [term, term_rest] = twofold::product(factor, high[k]);
            const auto [total, rest] = twofold::sum(high_[k], term);
            const double lower = low ? low[k] : 0.0;
            high_[k] = total;
            low_[k] += (rest + term_rest) + factor * lower;
            largest = std::max(largest, std::abs(high[k]));
            largest_low = std::max(largest_low, std::abs(lower));
        }
        ++terms_;
        sizes_ += std::abs(factor) * largest;
        low_sizes_ += std::abs(factor) * largest_low;
        error_ += std::abs(factor) * error;
    }
    void add_entry(int k, double value) {
        const auto [total, rest] = twofold::sum(high_[k], value);
        high_[k] = total;
        low_[k] += rest;
        ++terms_;
        sizes_ += std::abs(value);
    }

    TwofoldForm total() {
        TwofoldForm form{std::move(high_), std::move(low_), 0};
        for (std::size_t k = 0; k < form.high.size(); ++k)
            std::tie(form.high[k], form.low[k]) = twofold::sum(form.high[k], form.low[k]);
        // The sums of sizes are themselves rounded.
        const double grown = 1 + 0x1p-20;
        form.error = (error_ + twofold::lost(terms_, sizes_ * grown, low_sizes_ * grown)) * grown;
        if (!(sizes_ < rounding::largest_factor)) form.error = rounding::unknown;
        return form;
    }

  private:
    std::vector<double> high_, low_;
    int terms_ = 0;
    double sizes_ = 0, low_sizes_ = 0, error_ = 0;
};

}  // namespace polyfold
