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
        const Stage& domain = problem.stages[0];
        const std::vector<Row> rows = rows_of(problem);
        for (std::size_t i = 0; i < rows.size() && are_all_; ++i) are_all_ = add(rows[i], domain.bias[i]);
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

    // What a row of the domain has: the last coordinate with a factor, and how many there are.
    struct Row {
        int coordinate = -1, terms = 0;
        double factor = 0, constant = 0;

        void add(int k, double next) {
            if (next == 0) return;
            coordinate = k;
            factor = next;
            ++terms;
        }
    };

    // Looked at as they lie in memory: a box of thousands of inputs has twice as many rows.
    static std::vector<Row> rows_of(const Problem& problem) {
        const Stage& domain = problem.stages[0];
        std::vector<Row> rows(static_cast<std::size_t>(domain.width));
        const double* own = domain.parameter_rows.data();
        for (std::size_t i = 0; i < rows.size() && !domain.parameter_rows.empty(); ++i) {
            for (int k = 0; k < problem.dim; ++k) rows[i].add(k, *own++);
            rows[i].constant = *own++;
        }
        for (const Block& block : domain.blocks) {
            const double* entry = block.by_column.data();
            for (int k = 0; k < block.columns; ++k)
                for (Row& row : rows) row.add(problem.frame_is_identity ? k : -1, *entry++);
        }
        return rows;
    }

    // Takes a row u_k + c > 0, c - u_k > 0 or c > 0; false if it is another one.
    bool add(const Row& row, double bias) {
        const auto [coordinate, terms, side, constant] = row;
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
