// One cell by its pattern, without the others: all its rows at once, a point inside on a way that is known to lead
// there, and its facets as in lp_facets.cpp. All of it is proved in floats, or nothing is said.
#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

// The part of a straight way on which forms are positive that have these values at its ends.
struct Stretch {
    double first = -endless, last = endless;

    void keep_positive(double at_from, double at_to) {
        const double rise = at_to - at_from, zero = -at_from / rise;
        if (rise > 0)
            first = std::max(first, zero);
        else if (rise < 0)
            last = std::min(last, zero);
        else if (!(at_from > 0))
            last = -endless;
    }
    double middle() const {
        if (last == endless) return first == -endless ? 0.0 : first + 1;
        return first == -endless ? last - 1 : first + 0.5 * (last - first);
    }
};

}  // namespace

auto LpWalk::named(const LpCell& root, const std::uint8_t* pattern, const double* from, const double* to)
    -> CellPointer {
    enter(root);
    CellPointer cell;
    if (spare_.empty()) {
        cell = std::make_unique<LpCell>(root);
    } else {
        cell = std::move(spare_.back());
        spare_.pop_back();
        *cell = root;
    }
    while (!cell->finished(problem_)) {
        for (; cell->next < problem_.stages[cell->stage].width; ++cell->next) {
            const int gate = cell->wall(problem_);
            take_named(*cell, (pattern[gate / 8] >> (gate % 8)) & 1 ? 1 : -1);
        }
        cell->enter_next_stage(problem_);
    }
    cell->points = InnerPoints(dim_);
    return find_on_way(*cell, from, to) ? std::move(cell) : nullptr;
}

// The next gate is on that side. It has no row if the box decides that: then its wall is nowhere in the cell.
void LpWalk::take_named(LpCell& cell, int side) {
    stop_.check();
    load_form(*cell.map, cell.next);
    cell.set_gate(cell.wall(problem_), side > 0);
    largest_->start(form_.entries.data(), -side, form_.error);
    if (largest_->bound() < 0) return;
    cell.rows.push_back({cell.map.get(), cell.next, cell.wall(problem_), side});
    cell.forms.add(form_, side);
}

// A point inside, in the middle of what the cell has of a straight way.
bool LpWalk::find_on_way(LpCell& cell, const double* from, const double* to) {
    const Box& box = cell.box();
    const int size = padded(dim_ + 1);
    Stretch stretch;
    for (int k = 0; k < dim_; ++k) {
        stretch.keep_positive(from[k] - box.low()[k], to[k] - box.low()[k]);
        stretch.keep_positive(box.high()[k] - from[k], box.high()[k] - to[k]);
    }
    for (int row = 0; row < cell.forms.size(); ++row)
        stretch.keep_positive(dot(cell.forms[row], from, size), dot(cell.forms[row], to, size));
    if (!(stretch.first < stretch.last)) return false;
    InnerPoint middle{{to, to + size}, nullptr};
    const double share = stretch.middle();
    for (int k = 0; k < dim_; ++k) middle.coordinates[k] = from[k] + share * (to[k] - from[k]);
    if (!is_inside(cell, middle.coordinates.data())) return false;
    cell.points.add(middle);
    return true;
}

// At the corner that is nearest to a bound, found from outside: a corner of the box.
bool LpWalk::stand_somewhere(LpCell& cell, int bound) {
    const Box& box = cell.box();
    cell.table.start(box);
    std::vector<double> corner(box.low(), box.low() + padded(dim_ + 1));
    for (int row = 0; row < cell.forms.size(); ++row)
        cell.table.add_row(cell.forms[row], dot(cell.forms[row], corner.data(), padded(dim_ + 1)), 1);
    simplex_.stand(box, cell.forms, cell.table);
    if (simplex_.descend_to(bound) == Simplex::Result::optimal) return true;
    cell.table.leave();
    return false;
}

bool LpWalk::emit_named(LpCell& cell, CellBlock& block, std::vector<double>& beyond) {
    enter(cell);
    beyond.assign(cell.rows.size() * static_cast<std::size_t>(dim_), 0.0);
    beyond_rows_ = &beyond;
    settle_by_rays(cell, Sides::rows);
    const auto open = std::find(known_.begin(), known_.end(), Bound::open);
    if (open != known_.end() && stand_somewhere(cell, static_cast<int>(open - known_.begin())))
        settle_by_programs(cell);
    beyond_rows_ = nullptr;
    if (open_ > 0) return false;
    // Of the gates alone, in the order of the facets: that of the gates, as the rows are.
    std::size_t kept = 0;
    for (int row = 0; row < static_cast<int>(cell.rows.size()); ++row)
        if (cell.rows[row].wall < problem_.gates && known_[cell.box().sides() + row] == Bound::facet)
            std::copy_n(beyond.begin() + static_cast<std::ptrdiff_t>(row) * dim_, dim_,
                        beyond.begin() + static_cast<std::ptrdiff_t>(kept++) * dim_);
    beyond.resize(kept * dim_);
    write(cell, block);
    return true;
}

}  // namespace polyfold
