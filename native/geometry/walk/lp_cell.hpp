// A cell as inequalities, with some points inside that show that it is not empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "geometry/cells/path.hpp"
#include "geometry/lp/box.hpp"
#include "geometry/lp/forms.hpp"
#include "geometry/lp/tableau.hpp"

namespace polyfold {

// What all cells of a domain share: a box around it. Sides that are rows of the domain know which; the others are
// farther out than the domain reaches.
struct BoxAround {
    Box box;
    std::shared_ptr<const StageMap> domain;
    std::vector<std::int32_t> row;  // of the domain, by side, or -1
};

// A point that is proved to lie inside. One that is exact has float coordinates only for show.
struct InnerPoint {
    std::vector<double> coordinates;  // homogeneous, padded
    std::shared_ptr<const ExactVector> exact;
};

// Many of them, side by side.
class InnerPoints {
  public:
    explicit InnerPoints(int dim = 0) : dim_(dim), stride_(padded(dim + 1)) {}

    int size() const { return static_cast<int>(sizes_.size()); }
    const double* operator[](int i) const { return coordinates_.data() + static_cast<std::size_t>(i) * stride_; }
    // Bounds 1 + sum |u_k|.
    double size_of_point(int i) const { return sizes_[i]; }
    const std::shared_ptr<const ExactVector>& exact(int i) const { return exact_[i]; }

    void add(const InnerPoint& point) {
        coordinates_.insert(coordinates_.end(), point.coordinates.begin(), point.coordinates.end());
        sizes_.push_back(size_of_point(point.coordinates.data(), dim_));
        exact_.push_back(point.exact);
    }

    // Keep those with a sign, of one for each.
    void keep(const std::vector<int>& signs, int sign) {
        int kept = 0;
        for (int i = 0; i < size(); ++i) {
            if (signs[i] != sign) continue;
            if (kept < i) {
                std::copy_n((*this)[i], stride_, coordinates_.begin() + static_cast<std::ptrdiff_t>(kept) * stride_);
                sizes_[kept] = sizes_[i];
                exact_[kept] = std::move(exact_[i]);
            }
            ++kept;
        }
        coordinates_.resize(static_cast<std::size_t>(kept) * stride_);
        sizes_.resize(kept);
        exact_.resize(kept);
    }

    static double size_of_point(const double* point, int dim) {
        double size = 1;
        for (int k = 0; k < dim; ++k) size += std::abs(point[k]);
        return size * (1 + 0x1p-20);
    }

  private:
    int dim_, stride_;
    std::vector<double> coordinates_, sizes_;
    std::vector<std::shared_ptr<const ExactVector>> exact_;
};

// The cell lies in the box, where side * form > 0 for all rows. Bounds are the box's sides, and then the rows.
struct LpCell : Path {
    struct Row {
        const StageMap* map;  // kept alive by the path
        std::int32_t row;
        std::int32_t wall;
        std::int32_t side;
    };
    std::shared_ptr<const BoxAround> around;
    std::vector<Row> rows;
    FormList forms;                                             // the rows', times side and a power of two
    std::vector<std::pair<std::int32_t, std::int32_t>> shared;  // (bound, further wall on the same hyperplane)
    std::vector<char> decided;                                  // by gate of the stage, those that do not cut the cell
    std::vector<char> out_of_reach;                             // by side, those known to hold no facet
    InnerPoints points;                                         // all rows are positive there
    Tableau table;    // stands at a corner from where linear programs go on, or nowhere if floats could not find one
    int missed = -1;  // a row that this corner is not on the right side of, or -1
    int cuts = 0;     // since rows without a facet were last forgotten
    int parts = 1;    // that are counted for it

    const Box& box() const { return around->box; }
    int bounds() const { return box().sides() + static_cast<int>(rows.size()); }
    // The row behind a bound, or a negative number if it is a side.
    int row_of(int bound) const { return bound - box().sides(); }

    void enter_next_stage(const Problem& problem) {
        Path::enter_next_stage(problem);
        decided.assign(finished(problem) ? 0 : static_cast<std::size_t>(problem.stages[stage].width), 0);
    }

    // Keep only these rows (ascending), among them those that are tight in the table.
    void keep_rows(const std::vector<int>& kept);

    void detach() {}  // cells share nothing that changes
};

}  // namespace polyfold
