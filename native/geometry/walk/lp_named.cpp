// One cell by its pattern, without the others: all its rows at once, a point inside on a way that is known to lead
// there, and its facets as in lp_facets.cpp. All of it is proved in floats, or nothing is said.
#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

// Newton's steps towards the middle: the last one is this short, in units of the room around it.
constexpr int most_steps_to_middle = 30;
constexpr double short_step = 2;
// How far other rows may change on the way to one: the less, the more room that takes.
constexpr double share_of_others = 0x1p-10;

// Rows that come into a linear program: at a time, and how often.
constexpr std::size_t most_at_once = 6;
constexpr int most_rounds = 60;

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

// From the inner point to about where the cell has most room.
void LpWalk::go_to_middle(const LpCell& cell) {
    const Box& box = cell.box();
    Room room(box, cell.forms);
    middle_.assign(cell.points[0], cell.points[0] + padded(dim_ + 1));
    for (int step = 0; step < most_steps_to_middle; ++step) {
        measure_rows(cell, middle_.data());
        if (!room.look_from(middle_.data(), values_, 1)) return;
        const std::vector<double>& way = room.way_to_middle();
        const auto [share, length] = room.best_share();
        point_ = middle_;
        for (int k = 0; k < dim_; ++k) point_[k] += share * way[k];
        if (!is_inside(cell, point_.data())) return;
        std::swap(middle_, point_);
        if (length < short_step) return;
    }
}

// Sides along the axes first; then rows and sides along what could be in the way.
void LpWalk::settle_from_middle(const LpCell& cell) {
    point_ = middle_;
    open_bounds(cell, Sides::rows);
    measure_rows(cell, middle_.data());
    shoot_along_axes(cell, middle_.data(), -1);
    shoot_along_axes(cell, middle_.data(), 1);
    shoot_along_others(cell);
    shoot_along_rows(cell, middle_.data());
}

// Towards every row that is open, on a way on which the others hardly change.
void LpWalk::shoot_along_others(const LpCell& cell) {
    const Box& box = cell.box();
    Room room(box, cell.forms);
    if (open_ == 0 || !room.look_from(middle_.data(), values_, share_of_others)) return;
    for (int row = 0; row < cell.forms.size(); ++row) {
        const int bound = box.sides() + row;
        if (known_[bound] != Bound::open) continue;
        stop_.check();
        const std::vector<double>& way = room.way_to_row(row);
        double first = values_[row] / -room.rise(row), second = endless;
        if (!(first > 0)) continue;
        const auto meet = [&](double distance, double rise) {
            if (rise < 0) second = std::min(second, distance / -rise);
        };
        for (int k = 0; k < dim_; ++k)
            way[k] > 0 ? meet(box.high()[k] - middle_[k], -way[k]) : meet(middle_[k] - box.low()[k], way[k]);
        for (int other = 0; other < cell.forms.size(); ++other)
            if (other != row) meet(values_[other], room.rise(other));
        if (!(first < second)) continue;
        const double step = first + 0.5 * std::min(first, second - first);
        for (int k = 0; k < dim_; ++k) point_[k] = middle_[k] + step * way[k];
        if (is_behind_only(cell, bound, point_.data())) set_facet(bound, point_.data());
    }
}

// Linear programs for the bounds that are open, each in as few rows as it needs: how far down may the bound's form be
// in the box, between these? Where the straight way there from the middle meets the bound before all other rows, that
// is a facet. The rows that it meets before come in, until the form cannot fall below zero.
void LpWalk::settle_in_few_rows(const LpCell& cell) {
    measure_rows(cell, middle_.data());
    for (int bound = 0; bound < cell.bounds() && open_ > 0; ++bound)
        if (known_[bound] == Bound::open) ask_few_rows(cell, bound);
}

void LpWalk::ask_few_rows(const LpCell& cell, int bound) {
    load_bound(cell, bound);
    Box box = cell.box();
    if (bound < box.sides()) {  // which does not hold here
        const double length = box.length(bound / 2), out = box.outer(bound) + (bound % 2 ? length : -length);
        box.set(bound, out, out);
    }
    few_ = FormList(dim_);
    beyond_.start(box);
    for (int round = 0; round < most_rounds; ++round) {
        simplex_.stand(box, few_, beyond_);
        const auto result = simplex_.descend(form_.entries.data(), -1, -16 * rounding::lp_tolerance);
        if (result == Simplex::Result::failed) return;
        if (result == Simplex::Result::stopped || simplex_.value() < 0) {
            largest_->start(form_.entries.data(), -1, form_.error);
            for (int edge = 0; edge < dim_; ++edge)
                if (const int row = cell.row_of(simplex_.bound_of(edge)); row >= 0)
                    largest_->add(few_[row], -simplex_.objective()[edge], few_.error(row));
            if (largest_->bound() < 0) set_known(bound, Bound::redundant);
            return;
        }
        simplex_.point(corner_.data());
        if (meets_first(cell, bound)) {
            if (is_behind_only(cell, bound, point_.data())) set_facet(bound, point_.data());
            return;
        }
        if (met_.empty()) return;
        for (const auto& [share, row] : met_) {
            simplex_.stand(box, few_, beyond_);
            simplex_.maximise(cell.forms[row], 1, -endless);  // not a step: what the row is worth here
            beyond_.add_row(simplex_.objective(), simplex_.value(), 1);
            few_.add({{cell.forms[row], cell.forms[row] + padded(dim_ + 1)}, cell.forms.error(row)}, 1);
        }
    }
}

// The form of a row, or of a side, as the one that is looked at.
void LpWalk::load_bound(const LpCell& cell, int bound) {
    const int row = cell.row_of(bound), size = padded(dim_ + 1);
    if (row >= 0) {
        form_.entries.assign(cell.forms[row], cell.forms[row] + size);
        form_.error = cell.forms.error(row);
        return;
    }
    form_.entries.assign(size, 0.0);
    form_.entries[bound / 2] = bound % 2 ? -1.0 : 1.0;
    form_.entries[dim_] = bound % 2 ? cell.box().inner(bound) : -cell.box().inner(bound);
    form_.error = 0;
}

// Whether the straight way from the middle to the corner meets the bound before all rows; a point between is then in
// `point_`. If not, `met_` has those that come before.
bool LpWalk::meets_first(const LpCell& cell, int bound) {
    const int own = cell.row_of(bound), size = padded(dim_ + 1);
    const auto place = [](double here, double there) { return there < 0 ? here / (here - there) : endless; };
    const double first =
        place(dot(form_.entries.data(), middle_.data(), size), dot(form_.entries.data(), corner_.data(), size));
    double next = 1;
    met_.clear();
    for (int row = 0; row < cell.forms.size(); ++row) {
        if (row == own) continue;
        const double at = place(values_[row], dot(cell.forms[row], corner_.data(), size));
        next = std::min(next, at);
        if (at <= first) met_.emplace_back(at, row);
    }
    if (!(first < next)) {
        std::sort(met_.begin(), met_.end());
        if (met_.size() > most_at_once) met_.resize(most_at_once);
        return false;
    }
    const double share = first + 0.5 * (next - first);
    point_ = middle_;
    for (int k = 0; k < dim_; ++k) point_[k] += share * (corner_[k] - middle_[k]);
    return true;
}

bool LpWalk::emit_named(LpCell& cell, CellBlock& block, std::vector<double>& beyond) {
    enter(cell);
    beyond.assign(cell.rows.size() * static_cast<std::size_t>(dim_), 0.0);
    beyond_rows_ = &beyond;
    go_to_middle(cell);
    middle_proved_ = true;
    settle_from_middle(cell);
    settle_in_few_rows(cell);
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
