// Bounds on every coordinate by itself, which linear programs need not treat as rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "geometry/base/lanes.hpp"

namespace polyfold {

// Affine forms and homogeneous points have their constant, or a one, behind dim coordinates, and then zeros, so that
// they fill registers.
constexpr int padded(int numbers) {
    return registers_for(numbers) * lanes;
}

// Sides are numbered 2 k where coordinate k is low and 2 k + 1 where it is high. Where the true bound is no float, it
// lies between an outer and an inner one.
class Box {
  public:
    explicit Box(int dim) : dim_(dim), low_(padded(dim + 1), 0.0), high_(low_), reach_(low_), inner_(2 * dim) {
        low_[dim] = high_[dim] = reach_[dim] = 1.0;
    }

    int dim() const { return dim_; }
    int sides() const { return 2 * dim_; }

    void set(int side, double outer, double inner) {
        const int k = side / 2;
        (side % 2 ? high_ : low_)[k] = outer;
        inner_[side] = inner;
        reach_[k] = std::max(std::abs(low_[k]), std::abs(high_[k]));
    }

    // Outer bounds, and what bounds the coordinate's size; of the one behind the coordinates all are one.
    const double* low() const { return low_.data(); }
    const double* high() const { return high_.data(); }
    const double* reach() const { return reach_.data(); }
    double outer(int side) const { return (side % 2 ? high_ : low_)[side / 2]; }
    double inner(int side) const { return inner_[side]; }
    double length(int k) const { return high_[k] - low_[k]; }

    // Bounds 1 + sum |u_k|.
    double size() const {
        double sum = 0;
        for (const double x : reach_) sum += x;
        return sum * (1 + 0x1p-20);
    }

    // Whether a coordinate is clearly inside of a side, or beyond it.
    bool clears(int side, double x) const { return side % 2 ? x < inner_[side] : x > inner_[side]; }
    bool is_beyond(int side, double x) const { return side % 2 ? x > outer(side) : x < outer(side); }
    bool clears(const double* point) const {
        for (int side = 0; side < sides(); ++side)
            if (!clears(side, point[side / 2])) return false;
        return true;
    }

  private:
    int dim_;
    std::vector<double> low_, high_, reach_, inner_;
};

}  // namespace polyfold
