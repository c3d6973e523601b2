// The same walk for high dimension, where a cell has too many vertices to keep: cells as inequalities and a few inner
// points.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/cell_block.hpp"
#include "geometry/lp/exact_simplex.hpp"
#include "geometry/lp/room.hpp"
#include "geometry/lp/simplex.hpp"
#include "geometry/walk/lp_cell.hpp"
#include "geometry/walk/unfit_domain.hpp"

namespace polyfold {

class LpWalk {
  public:
    using CellPointer = std::unique_ptr<LpCell>;
    using Block = CellBlock;

    LpWalk(const Problem& problem, const StopSignal& stop, bool with_facets = true);

    // The whole domain as a cell with no gate inserted; throws OpenDomain.
    CellPointer root();
    CellPointer advance(LpCell& cell);
    void emit(LpCell& cell, CellBlock& block);
    void recycle(CellPointer cell) { spare_.push_back(std::move(cell)); }

    // One finished cell by its pattern, without the others, in lp_named.cpp: all rows that the box does not decide, and
    // a point on the straight way through two points (homogeneous, padded). Nothing if floats prove no such point, or
    // that there is no such cell.
    CellPointer named(const LpCell& root, const std::uint8_t* pattern, const double* from, const double* to);
    // Write it behind the others, if floats prove all that is said of it; and a point beyond each of its facets that
    // gates hold, in their order.
    bool emit_named(LpCell& cell, CellBlock& block, std::vector<double>& beyond);

  private:
    static constexpr int many_dimensions = 64;  // where corners are too far from each other to walk edge by edge

    const Problem& problem_;
    const StopSignal& stop_;
    const int dim_;
    const bool with_facets_;
    Simplex simplex_;
    const PatternKeys keys_;
    std::vector<CellPointer> spare_;

    // In the domain's box, which the root brings with it.
    std::shared_ptr<const BoxAround> around_;
    std::optional<LargestInBox> largest_;

    Form form_;  // the wall that is being inserted, scaled by a power of two
    double form_scale_ = 1;
    std::vector<int> signs_;
    std::vector<double> middle_, point_;  // room to work

    enum class Side { none, touching, found };
    struct Found {
        Side side = Side::none;
        InnerPoint point;
    };
    Found above_, below_;

    // The domain as a cell, in lp_root.cpp.
    void enter(const LpCell& cell);
    CellPointer root_within(double half_width);
    bool holds_all(LpCell& cell);

    void look_ahead(LpCell& cell);
    CellPointer insert(LpCell& cell);
    bool look(LpCell& cell);
    bool has_positive_ = false, has_negative_ = false;  // the cell, where the wall is that was looked at last
    void decide(LpCell& cell) const;
    void load_form(const StageMap& map, int row);
    int sign_at(const LpCell& cell, const double* point, double size, const ExactVector* exact) const;
    void look_for(LpCell& cell, int side, Found& found);
    bool settle_by_program(LpCell& cell, int side, double enough, Found& found);
    bool find_middle(LpCell& cell);
    Simplex::Result largest_over(LpCell& cell, const double* form, double sign, double enough);
    bool is_below(const LpCell& cell, int side);
    bool is_below_exactly(const LpCell& cell, int side) const;
    Tableau beyond_;  // room to work: a cell's table on its way to another corner
    void look_exactly(LpCell& cell, int side, Found& found);
    bool counts_by_halves(const LpCell& cell) const;
    CellPointer cut(LpCell& cell);
    CellPointer copy_of(const LpCell& cell);
    void take_side(LpCell& cell, int side, const Found& found) const;
    void record_touching(LpCell& cell) const;

    bool stand_in(LpCell& cell);
    void reach(LpCell& cell, int row);
    double upper_bound(const LpCell& cell, const double* form, double sign, double error);
    bool is_negative_exactly(const LpCell& cell, const ExactVector& form, double scale) const;
    double scale_of(const LpCell& cell, int row) const;
    std::vector<double> multipliers_;  // by edge, for upper_bound
    int rows_in_doubt(const LpCell& cell, const double* point) const;
    bool is_inside(const LpCell& cell, const double* point) const {
        return cell.box().clears(point) && rows_in_doubt(cell, point) == 0;
    }
    ExactVector exact_point(const LpCell& cell, int i) const;
    ExactVector exact_bound(const LpCell& cell, int bound) const;
    ExactMaximum exact_maximum_over(const LpCell& cell, const ExactVector& form, const ExactVector& inside,
                                    int except) const;
    std::vector<double> centre(const LpCell& cell) const;

    // Facets, in lp_facets.cpp.
    enum class Bound : char { open, facet, redundant };
    std::vector<Bound> known_;  // what is known of the bounds of the cell whose facets are looked for
    int open_ = 0;              // so many of them are open
    bool middle_proved_ = false;
    std::vector<double> lowest_, highest_;  // room to work
    std::vector<double> values_, to_side_, ray_, rooms_, scales_, directions_;
    std::vector<BesideDoubt> doubts_;

    enum class Sides { rows, all };  // which ones are asked for: of the domain, or those that stand in as well
    void settle_bounds(LpCell& cell, Sides sides);
    void open_bounds(const LpCell& cell, Sides sides);
    void settle_by_rays(LpCell& cell, Sides sides);
    void settle_by_programs(LpCell& cell);
    void write(LpCell& cell, CellBlock& block);
    void prune(LpCell& cell);
    void look_around(const LpCell& cell, bool far);
    void prove_facet(const LpCell& cell, int edge, bool backwards);
    bool is_behind_only(const LpCell& cell, int bound, const double* point) const;
    bool is_behind_only_exactly(const LpCell& cell, int bound, const double* point) const;
    bool is_redundant(const LpCell& cell, int bound);
    bool is_redundant_exactly(const LpCell& cell, int bound) const;
    Simplex::Result approach(LpCell& cell, int bound, const std::function<void(int edge)>& met);
    void set_known(int bound, Bound what);
    void set_facet(int bound, const double* beyond);
    std::vector<double>* beyond_rows_ = nullptr;  // where points beyond rows that hold facets are kept, if anywhere

    // In lp_named.cpp.
    void take_named(LpCell& cell, int side);
    bool find_on_way(LpCell& cell, const double* from, const double* to);
    void go_to_middle(const LpCell& cell);
    void settle_from_middle(const LpCell& cell);
    void shoot_along_others(const LpCell& cell);
    void settle_in_few_rows(const LpCell& cell);
    void ask_few_rows(const LpCell& cell, int bound);
    void load_bound(const LpCell& cell, int bound);
    bool meets_first(const LpCell& cell, int bound);
    FormList few_;
    std::vector<double> corner_;
    std::vector<std::pair<double, int>> met_;  // (share of the way, row)

    // In lp_rays.cpp.
    void shoot_from(const LpCell& cell, const double* point);
    void measure_rows(const LpCell& cell, const double* point);
    void shoot_along_axes(const LpCell& cell, const double* point, int direction);
    bool is_met_alone(const LpCell& cell, const double* point, int row, int axis, double step) const;
    void shoot_along_rows(const LpCell& cell, const double* point);
    void span_rows(const LpCell& cell);
    void shoot_along_ray(const LpCell& cell, const double* point, int direction);
    void shoot_towards(const LpCell& cell, const double* point, int row);
    void look_beyond(LpCell& cell, int bound);
    bool is_facet(const LpCell& cell, int bound) const;
    double distance_from_middle(const LpCell& cell, int bound) const;
};

}  // namespace polyfold
