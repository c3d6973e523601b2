// Which bounds of a cell, sides of the box and rows, hold its facets. A straight way from an inner point settles most
// sides. Every corner where just d bounds meet shows d facets at once, and more at the ends of its edges; a bound whose
// distance grows along all edges of a corner holds none. Linear programs walk to the corners where something is still
// open.
#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"
#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

void LpCell::keep_rows(const std::vector<int>& kept) {
    std::vector<std::int32_t> place(bounds(), -1);
    for (int side = 0; side < box().sides(); ++side) place[side] = side;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        place[box().sides() + kept[i]] = static_cast<std::int32_t>(box().sides() + i);
        rows[i] = rows[kept[i]];
    }
    rows.resize(kept.size());
    forms.keep(kept);
    std::erase_if(shared, [&](const auto& pair) { return place[pair.first] < 0; });
    for (auto& [bound, wall] : shared) bound = place[bound];
    if (table.stands()) table.keep_rows(kept);
}

void LpWalk::emit(LpCell& cell, CellBlock& block) {
    enter(cell);
    settle_bounds(cell, Sides::rows);
    write(cell, block);
}

// A cell whose bounds are all settled.
void LpWalk::write(LpCell& cell, CellBlock& block) {
    // Each facet's walls: rows of the domain in front, then gates.
    std::vector<std::vector<std::int32_t>> facets;
    std::vector<std::int32_t> place(cell.bounds(), -1);
    for (int bound = 0; bound < cell.bounds(); ++bound) {
        if (known_[bound] != Bound::facet) continue;
        const int row = cell.row_of(bound);
        place[bound] = static_cast<std::int32_t>(facets.size());
        facets.push_back({row >= 0 ? cell.rows[row].wall : problem_.gates + cell.around->row[bound]});
    }
    for (const auto& [bound, wall] : cell.shared)
        if (place[bound] >= 0) facets[place[bound]].push_back(wall);
    for (auto& walls : facets)
        std::sort(walls.begin(), walls.end(),
                  [&](int a, int b) { return std::pair(a < problem_.gates, a) < std::pair(b < problem_.gates, b); });
    std::sort(facets.begin(), facets.end());

    // From here on nothing can be stopped: a cell is written whole or not at all.
    cell.emit_pattern(keys_, block);
    for (const auto& walls : facets) Path::emit_facet(walls, block);
    block.facet_start.push_back(static_cast<std::int64_t>(block.facet_wall.size()));
    block.bounded.push_back(1);
    block.witnesses.append(middle_.data(), dim_);
    if (!middle_proved_) {
        ExactWitness witness{block.cells, {}};
        for (const auto& n : exact_point(cell, 0).numerators) witness.coordinates.push_back(n.to_hex());
        block.exact_witnesses.push_back(std::move(witness));
    }
    ++block.cells;
}

// Forget the bounds that hold no facet: no part of the cell will have one there either.
void LpWalk::prune(LpCell& cell) {
    settle_bounds(cell, Sides::rows);
    for (int side = 0; side < cell.box().sides(); ++side) cell.out_of_reach[side] = known_[side] == Bound::redundant;
    std::vector<int> kept;
    for (int row = 0; row < static_cast<int>(cell.rows.size()); ++row) {
        const bool is_tight = cell.table.stands() && cell.table.place[dim_ + row] < 0;
        if (known_[cell.box().sides() + row] == Bound::facet || is_tight) kept.push_back(row);
    }
    if (kept.size() < cell.rows.size()) cell.keep_rows(kept);
    cell.cuts = 0;
}

// Find out for all rows, and for sides, whether they hold a facet, and a point in the middle.
void LpWalk::settle_bounds(LpCell& cell, Sides sides) {
    settle_by_rays(cell, sides);
    settle_by_programs(cell);
    for (int bound = 0; bound < cell.bounds() && open_ > 0; ++bound)
        if (known_[bound] == Bound::open) set_known(bound, is_facet(cell, bound) ? Bound::facet : Bound::redundant);
}

// Nothing is known of the bounds that are asked for.
void LpWalk::open_bounds(const LpCell& cell, Sides sides) {
    known_.assign(cell.bounds(), Bound::open);
    for (int side = 0; side < cell.box().sides(); ++side)
        if (cell.out_of_reach[side] || (sides == Sides::rows && cell.around->row[side] < 0))
            known_[side] = Bound::redundant;
    open_ = static_cast<int>(std::count(known_.begin(), known_.end(), Bound::open));
}

// As far as is seen from inner points.
void LpWalk::settle_by_rays(LpCell& cell, Sides sides) {
    middle_ = centre(cell);
    middle_proved_ = is_inside(cell, middle_.data());
    if (!middle_proved_) {
        middle_.assign(cell.points[0], cell.points[0] + padded(dim_ + 1));
        middle_proved_ = is_inside(cell, middle_.data());
    }
    point_ = middle_;
    open_bounds(cell, sides);
    if (middle_proved_) shoot_from(cell, middle_.data());
    for (int i = 0; i < cell.points.size() && open_ > 0; ++i)
        if (!cell.points.exact(i)) shoot_from(cell, cell.points[i]);
}

// As far as linear programs tell in floats.
void LpWalk::settle_by_programs(LpCell& cell) {
    if (stand_in(cell)) {
        look_around(cell, true);
        const auto met = [&](int edge) {
            if (known_[simplex_.bound_of(edge)] == Bound::open) prove_facet(cell, edge, true);
        };
        for (int bound = 0; bound < cell.bounds() && open_ > 0; ++bound) {
            if (known_[bound] != Bound::open) continue;
            if (approach(cell, bound, met) == Simplex::Result::failed) break;
            look_around(cell, false);
        }
    }
    for (int bound = 0; bound < cell.bounds() && open_ > 0; ++bound)
        if (known_[bound] == Bound::open) look_beyond(cell, bound);
}

// Walk to where the cell is nearest to a bound.
auto LpWalk::approach(LpCell& cell, int bound, const std::function<void(int edge)>& met) -> Simplex::Result {
    if (dim_ < many_dimensions) return simplex_.approach(bound, met);
    beyond_ = cell.table;
    simplex_.stand(cell.box(), cell.forms, beyond_);
    const auto result = simplex_.descend_to(bound);
    if (result == Simplex::Result::optimal) std::swap(cell.table, beyond_);
    stand_in(cell);
    return result;
}

void LpWalk::set_known(int bound, Bound what) {
    known_[bound] = what;
    --open_;
}

// The point is behind this bound alone.
void LpWalk::set_facet(int bound, const double* beyond) {
    set_known(bound, Bound::facet);
    const int row = bound - around_->box.sides();
    if (beyond_rows_ && row >= 0)
        std::copy_n(beyond, dim_, beyond_rows_->begin() + static_cast<std::ptrdiff_t>(row) * dim_);
}

// What the corner where the simplex stands tells of open bounds; also what the far ends of its edges tell, if wanted.
void LpWalk::look_around(const LpCell& cell, bool far) {
    for (int edge = 0; edge < dim_ && open_ > 0; ++edge) {
        if (known_[simplex_.bound_of(edge)] == Bound::open) prove_facet(cell, edge, true);
        if (far) prove_facet(cell, edge, false);
    }
    if (open_ == 0) return;
    // The least rate of each line's variable inwards from its lower bound, and from its upper one.
    const Tableau& table = cell.table;
    lowest_.assign(table.stride, 0.0);
    highest_.assign(table.stride, 0.0);
    for (int edge = 0; edge < dim_; ++edge) {
        const double* rates = table.rates(edge);
        const Lanes sign = Lanes{} + (table.high[edge] ? -1.0 : 1.0);
        for (int i = 0; i < table.stride; i += lanes) {
            const Lanes inwards = sign * load(rates + i);
            store(&lowest_[i], -larger(-inwards, -load(&lowest_[i])));
            store(&highest_[i], larger(inwards, load(&highest_[i])));
        }
    }
    for (int line = 0; line < table.lines; ++line)
        for (int bound : simplex_.bounds_of(line)) {
            if (bound < 0 || known_[bound] != Bound::open || !(simplex_.distance(bound) > 0)) continue;
            const bool grows = bound < cell.box().sides() && bound % 2 ? highest_[line] <= rounding::lp_tolerance
                                                                       : lowest_[line] >= -rounding::lp_tolerance;
            if (grows && is_redundant(cell, bound)) set_known(bound, Bound::redundant);
        }
}

// How far the middle is from a bound, in units of its form.
double LpWalk::distance_from_middle(const LpCell& cell, int bound) const {
    const int row = cell.row_of(bound);
    if (row >= 0) return dot(cell.forms[row], middle_.data(), padded(dim_ + 1));
    return std::abs(middle_[bound / 2] - cell.box().outer(bound));
}

// Look for a point behind one bound only at the end of an edge, or backwards along it, where the edge's own bound comes
// first.
void LpWalk::prove_facet(const LpCell& cell, int edge, bool backwards) {
    const Simplex::Way way = simplex_.look_along(edge, backwards);
    if (way.first < 0 || known_[way.first] != Bound::open || !(way.next > way.step)) return;
    const double inside = std::max(0.0, distance_from_middle(cell, way.first));
    const double rate = std::abs(simplex_.rate(way.first, edge));
    const double outside = std::min(inside, 0.5 * (way.next - way.step) * rate);
    const double step = way.step + outside / rate;
    simplex_.point_along(edge, backwards ? -step : step, point_.data());
    // Towards the middle, away from all the other bounds.
    const double share = std::min(0.25, 0.5 * outside / (outside + inside));
    for (int k = 0; k < dim_; ++k) point_[k] += share * (middle_[k] - point_[k]);
    if (is_behind_only(cell, way.first, point_.data())) set_facet(way.first, point_.data());
}

// Whether a point is proved to be behind one bound, and inside of all others.
bool LpWalk::is_behind_only(const LpCell& cell, int bound, const double* point) const {
    const Box& box = cell.box();
    for (int side = 0; side < box.sides(); ++side)
        if (side == bound ? !box.is_beyond(side, point[side / 2]) : !box.clears(side, point[side / 2])) return false;
    const double size = InnerPoints::size_of_point(point, dim_);
    for (int row = 0; row < cell.forms.size(); ++row) {
        const double* form = cell.forms[row];
        const double value = dot(form, point, padded(dim_ + 1));
        const double clear = row == cell.row_of(bound) ? -value : value;
        if (!(clear > doubt_at(dim_, form[dim_], cell.forms.error(row), size))) return false;
    }
    return true;
}

// The same without rounding, where floats are in doubt: a point has coordinates that are floats.
bool LpWalk::is_behind_only_exactly(const LpCell& cell, int bound, const double* point) const {
    const Box& box = cell.box();
    for (int side = 0; side < box.sides(); ++side)
        if (side == bound ? !box.is_beyond(side, point[side / 2]) : !box.clears(side, point[side / 2])) return false;
    const ExactVector exact = ExactVector::from_floats(point, dim_ + 1);
    for (int row = 0; row < cell.forms.size(); ++row) {
        const int sign = sign_of_product(exact_bound(cell, box.sides() + row), exact);
        if (sign != (row == cell.row_of(bound) ? -1 : 1)) return false;
    }
    return true;
}

// Whether the corner where the simplex stands proves that a bound's form is positive on all of the cell.
bool LpWalk::is_redundant(const LpCell& cell, int bound) {
    for (int edge = 0; edge < dim_; ++edge) multipliers_[edge] = simplex_.rate(bound, edge);
    const int row = cell.row_of(bound);
    if (row >= 0) return upper_bound(cell, cell.forms[row], -1, cell.forms.error(row)) < 0;
    std::vector<double> side(padded(dim_ + 1), 0.0);
    side[bound / 2] = bound % 2 ? -1.0 : 1.0;
    side[dim_] = bound % 2 ? cell.box().inner(bound) : -cell.box().inner(bound);
    return upper_bound(cell, side.data(), -1, 0.0) < 0;
}

// The same without rounding, with the multipliers that are at hand.
bool LpWalk::is_redundant_exactly(const LpCell& cell, int bound) const {
    ExactVector form = exact_bound(cell, bound);
    for (auto& n : form.numerators) n.negate();
    const int row = cell.row_of(bound);
    return is_negative_exactly(cell, form, row >= 0 ? scale_of(cell, row) : 1.0);
}

// Leave a bound out: does the cell become larger? As far as the corner tells to which that leads.
void LpWalk::look_beyond(LpCell& cell, int bound) {
    if (!cell.table.stands()) return;
    Tableau outside = cell.table;
    simplex_.stand(cell.box(), cell.forms, outside);
    const auto result = simplex_.pass(bound, 16 * rounding::lp_tolerance);
    if (result == Simplex::Result::failed) return;
    const bool unbounded = result == Simplex::Result::unbounded;
    // Where nothing else ends an edge, any way along it is behind the bound.
    const double length = unbounded ? simplex_.endless_direction() * distance_from_middle(cell, bound) : 0.0;
    simplex_.point_along(unbounded ? simplex_.endless_edge() : 0, length, point_.data());
    const double value = simplex_.value() + std::abs(length), inside = std::max(0.0, distance_from_middle(cell, bound));
    const double share = value > 0 ? std::min(0.25, 0.5 * value / (value + inside)) : 0;
    for (int k = 0; k < dim_; ++k) point_[k] += share * (middle_[k] - point_[k]);
    const bool at_corner = result == Simplex::Result::optimal;
    if (is_behind_only(cell, bound, point_.data()))
        set_facet(bound, point_.data());
    else if (at_corner && is_redundant(cell, bound))
        set_known(bound, Bound::redundant);
    else if (is_behind_only_exactly(cell, bound, point_.data()))
        set_facet(bound, point_.data());
    else if (at_corner && is_redundant_exactly(cell, bound))
        set_known(bound, Bound::redundant);
}

// The same by an exact program.
bool LpWalk::is_facet(const LpCell& cell, int bound) const {
    ExactVector beyond = exact_bound(cell, bound);
    for (auto& n : beyond.numerators) n.negate();
    return exact_maximum_over(cell, beyond, exact_point(cell, 0), bound).sign > 0;
}

}  // namespace polyfold
