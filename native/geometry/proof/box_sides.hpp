// A domain whose rows each bound one coordinate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/exact/rounding.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

// Whether floats lie beyond the sides of a box is compared, which rounds nothing.
class BoxSides {
  public:
    explicit BoxSides(const Problem& problem)
        : dim_(problem.dim),
          registers_(registers_for(dim_)),
          low_(static_cast<std::size_t>(registers_), Lanes{} - rounding::unknown),
          high_(static_cast<std::size_t>(registers_), Lanes{} + rounding::unknown) {
        for (int row = 0; row < problem.stages[0].width; ++row) are_all_ = are_all_ && add(problem, row);
    }

    // Whether all rows of the domain are sides of a box.
    bool are_all() const { return are_all_; }

    // Whether a point, which must be finite, lies strictly between all sides.
    bool around(const double* point) const {
        unsigned inside = (1 << lanes) - 1;
        for (int r = 0, left = dim_; r < registers_; ++r, left -= lanes) {
            const Lanes x = load(point + r * lanes, left);
            inside &= bits_of((low_[static_cast<std::size_t>(r)] < x) & (x < high_[static_cast<std::size_t>(r)]));
        }
        return inside == (1 << lanes) - 1;
    }

  private:
    int dim_, registers_;
    std::vector<Lanes> low_, high_;
    bool are_all_ = true;

    // Takes a row u_k + c > 0, c - u_k > 0 or c > 0; false if it is another one.
    bool add(const Problem& problem, int row) {
        const Stage& domain = problem.stages[0];
        const auto at = static_cast<std::size_t>(row), width = static_cast<std::size_t>(domain.width);
        const auto size = static_cast<std::size_t>(dim_) + 1;
        int coordinate = -1, terms = 0;
        double side = 0;
        const auto add_term = [&](int k, double factor) {
            if (factor == 0) return;
            coordinate = k;
            side = factor;
            ++terms;
        };
        for (int k = 0; k < dim_; ++k) add_term(k, domain.parameter_rows[at * size + static_cast<std::size_t>(k)]);
        for (const Block& block : domain.blocks)
            for (int k = 0; k < block.columns; ++k)
                add_term(problem.frame_is_identity ? k : -1, block.by_column[static_cast<std::size_t>(k) * width + at]);
        const double constant = domain.parameter_rows[at * size + size - 1], bias = domain.bias[at];
        if (constant != 0 && bias != 0) return false;
        const double offset = constant + bias;
        if (terms == 0) return offset > 0;
        if (terms > 1 || coordinate < 0 || (side != 1 && side != -1)) return false;
        const auto r = static_cast<std::size_t>(coordinate / lanes);
        const int lane = coordinate % lanes;
        if (side > 0)
            low_[r][lane] = std::max(low_[r][lane], -offset);
        else
            high_[r][lane] = std::min(high_[r][lane], offset);
        return true;
    }
};

}  // namespace polyfold
