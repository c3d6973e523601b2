// The same walk for high dimension, where a cell has too many vertices to keep: cells as inequalities and a few inner
// points.
#pragma once

#include <memory>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/cell_block.hpp"
#include "geometry/cells/path.hpp"
#include "geometry/lp/exact_simplex.hpp"
#include "geometry/lp/simplex.hpp"
#include "geometry/walk/unfit_domain.hpp"

namespace polyfold {

// A cell as rows that must be positive, with points inside that show that it is not empty.
struct LpCell : Path {
    struct Row {
        const StageMap* map;  // kept alive by the path
        std::int32_t row;
        std::int32_t wall;
        std::int32_t side;  // the cell lies where side * form > 0
    };
    std::vector<Row> rows;
    Polyhedron shape;                                           // the rows' forms, times side and a power of two
    std::vector<double> error;                                  // bounds the error of every entry of a form
    std::vector<std::pair<std::int32_t, std::int32_t>> shared;  // (row, further wall on the same hyperplane)

    // Inner points, proved: all rows are positive there. A point that is exact has float coordinates only for show.
    struct Point {
        std::vector<double> coordinates;
        std::shared_ptr<const ExactVector> exact;
    };
    std::vector<Point> points;

    int cuts = 0;   // since rows without a facet were last forgotten
    Corner corner;  // a vertex to start linear programs from; without rows where floats could not find one

    // Keep only these rows (ascending), among them the corner's.
    void keep_rows(const std::vector<int>& kept);

    void detach() {}  // cells share nothing that changes

    // |u_k| is less than reach[k] in the domain, even a little beyond any one of its rows.
    std::shared_ptr<const std::vector<double>> reach;
};

class LpWalk {
  public:
    using CellPointer = std::unique_ptr<LpCell>;
    using Block = CellBlock;

    LpWalk(const Problem& problem, const StopSignal& stop, bool with_facets = true);

    // The whole domain as a cell with no gate inserted; throws OpenDomain.
    CellPointer root();
    CellPointer advance(LpCell& cell);
    void emit(LpCell& cell, CellBlock& block);
    void recycle(CellPointer) {}

  private:
    const Problem& problem_;
    const StopSignal& stop_;
    const int dim_;
    const bool with_facets_;
    Simplex simplex_;  // while a cell does not change it goes on from where it stands
    const PatternKeys keys_;

    // The wall that is being inserted, scaled by a power of two.
    std::vector<double> form_;
    double form_error_ = 0;

    std::vector<double> multipliers_, values_, magnitudes_;  // room to work

    enum class Side { none, touching, found };
    struct Found {
        Side side = Side::none;
        LpCell::Point point;
        Corner corner;
    };

    CellPointer root_within(const StageMap& box, double half_width);
    bool all_slack(LpCell& cell, int rows);
    CellPointer insert(LpCell& cell);
    void load_form(const StageMap& map, int row);
    int sign_at(const LpCell& cell, const LpCell::Point& point) const;
    Found look_for(LpCell& cell, int side);
    CellPointer cut(LpCell& cell, const std::vector<int>& signs, Found* above, Found* below);
    Corner corner_beyond(const LpCell& cell, int side);
    void add_row(LpCell& cell, int side) const;
    void add_row(LpCell& cell, const LpCell::Row& row) const;
    void record_touching(LpCell& cell) const;

    bool stand_in(const LpCell& cell);
    double upper_bound(const LpCell& cell, const double* objective, double objective_error, double constant);
    int row_sign(const LpCell& cell, int row, const double* point) const;
    int rows_in_doubt(const LpCell& cell, const double* point);
    ExactVector exact_point(const LpCell::Point& point) const;
    ExactVector exact_form(const StageMap& map, int row, int side) const;
    ExactMaximum exact_maximum_over(const LpCell& cell, const ExactVector& form, const ExactVector& inside,
                                    int except) const;
    std::vector<double> centre(const LpCell& cell) const;

    // Facets, in lp_facets.cpp.
    enum class Row : char { open, facet, redundant };
    std::vector<Row> known_;                    // what is known of the rows of the cell whose facets are looked for
    int open_ = 0;                              // so many of them are open
    std::vector<double> middle_, from_middle_;  // a point inside, and the rows' values there
    bool middle_proved_ = false;                // in floats
    std::vector<double> point_;                 // room to work

    void settle_rows(LpCell& cell);
    void prune(LpCell& cell);
    void look_around(const LpCell& cell, bool far);
    void prove_facet(const LpCell& cell, int edge, bool backwards);
    bool is_redundant(const LpCell& cell, int row);
    void set_known(int row, Row what);
    bool is_facet(const LpCell& cell, int row);
};

}  // namespace polyfold
