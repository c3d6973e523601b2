// The same walk for high dimension, where a cell has too many vertices to keep: cells as inequalities and a few inner
// points.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "geometry/cell_block.hpp"
#include "geometry/exact_program.hpp"
#include "geometry/path.hpp"
#include "geometry/simplex.hpp"

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
    std::vector<double> forms;                                  // dim + 1 a row, times side and a power of two
    std::vector<double> error;                                  // bounds the error of every entry of a form
    std::vector<std::pair<std::int32_t, std::int32_t>> shared;  // (row, further wall on the same hyperplane)

    // Inner points, proved: all rows are positive there. A point that is exact has float coordinates only for show.
    struct Point {
        std::vector<double> coordinates;
        std::shared_ptr<const ExactVector> exact;
    };
    std::vector<Point> points;

    Corner corner;  // a vertex to start linear programs from; without rows where floats could not find one

    void detach() {}  // cells share nothing that changes

    // |u_k| is less than reach[k] in the domain, even a little beyond any one of its rows.
    std::shared_ptr<const std::vector<double>> reach;
};

// The domain is unbounded or without interior, or reaches farther than any box that was tried: not for this walk.
struct OpenDomain : std::exception {};

class LpWalk {
  public:
    using CellPointer = std::unique_ptr<LpCell>;
    using Block = CellBlock;

    LpWalk(const Problem& problem, const StopSignal& stop);

    // The whole domain as a cell with no gate inserted; throws OpenDomain.
    CellPointer root();
    CellPointer advance(LpCell& cell);
    void emit(LpCell& cell, CellBlock& block);
    void recycle(CellPointer) {}

  private:
    const Problem& problem_;
    const StopSignal& stop_;
    const int dim_;
    Simplex simplex_;
    const PatternKeys keys_;

    // The wall that is being inserted, scaled by a power of two.
    std::vector<double> form_;
    double form_error_ = 0;

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

    Polyhedron polyhedron(const LpCell& cell) const;
    double upper_bound(const LpCell& cell, const Corner& corner, const double* objective, double objective_error,
                       double constant) const;
    int row_sign(const LpCell& cell, int row, const double* point) const;
    bool proved_inside(const LpCell& cell, const double* point, int except = -1) const;
    ExactVector exact_point(const LpCell::Point& point) const;
    ExactVector exact_form(const StageMap& map, int row, int side) const;
    std::vector<double> centre(const LpCell& cell) const;
    bool is_facet(LpCell& cell, int row, const std::vector<double>& middle);
    std::vector<char> facets_in_sight(const LpCell& cell, const std::vector<double>& middle) const;
};

}  // namespace polyfold
