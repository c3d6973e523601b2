#include "geometry/walk/lp_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_points = 24;
constexpr int cuts_until_pruned = 6;
constexpr int most_halvings = 4096;
constexpr double everything = std::numeric_limits<double>::infinity();
// A point where a wall has this share of the most that it may have in the box is far enough on its side.
constexpr double far_enough = 0x1p-5;

double power_of_two_below(double value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    return std::ldexp(1.0, -exponent);
}

}  // namespace

LpWalk::LpWalk(const Problem& problem, const StopSignal& stop, bool with_facets)
    : problem_(problem),
      stop_(stop),
      dim_(problem.dim),
      with_facets_(with_facets),
      simplex_(stop),
      keys_(problem.gates),
      multipliers_(problem.dim),
      corner_(padded(problem.dim + 1), 0.0) {}

// Cells of one domain may come from other threads; their box is the same.
void LpWalk::enter(const LpCell& cell) {
    if (around_ == cell.around) return;
    around_ = cell.around;
    largest_.emplace(around_->box);
}

auto LpWalk::advance(LpCell& cell) -> CellPointer {
    enter(cell);
    while (!cell.finished(problem_)) {
        if (cell.next == problem_.stages[cell.stage].width) {
            cell.enter_next_stage(problem_);
            if (!cell.finished(problem_)) look_ahead(cell);
            continue;
        }
        if (cell.decided[cell.next]) {
            ++cell.next;
            continue;
        }
        if (with_facets_ && cell.cuts >= cuts_until_pruned) prune(cell);
        if (auto on = insert(cell)) return on;
        if (cell.parts > 1) break;
    }
    return nullptr;
}

// Decide all gates of the stage that do not cut the cell, so that its parts need not ask. Points on both sides of the
// others are kept: parts share them.
void LpWalk::look_ahead(LpCell& cell) {
    const int next = cell.next, width = problem_.stages[cell.stage].width;
    cell.decided.resize(width);
    for (cell.next = next; cell.next < width; ++cell.next) {
        if (cell.decided[cell.next]) continue;
        if (look(cell)) {
            for (Found* found : {&above_, &below_})
                if (found->side == Side::found && cell.points.size() < most_points) cell.points.add(found->point);
        } else {
            decide(cell);
        }
    }
    cell.next = next;
}

// Insert the next wall; see CellWalk::insert.
auto LpWalk::insert(LpCell& cell) -> CellPointer {
    if (look(cell)) {
        if (!counts_by_halves(cell)) return cut(cell);
        cell.parts = 2;
        return nullptr;
    }
    decide(cell);
    if (cell.stage > 0) ++cell.next;
    return nullptr;
}

// Whether the cell is only counted, and no gate comes behind the one that cuts it: its halves need not be made.
bool LpWalk::counts_by_halves(const LpCell& cell) const {
    if (with_facets_ || cell.stage + 1 != static_cast<int>(problem_.stages.size())) return false;
    return std::all_of(cell.decided.begin() + cell.next + 1, cell.decided.end(), [](char decided) { return decided; });
}

// Whether the next wall cuts the cell.
bool LpWalk::look(LpCell& cell) {
    stop_.check();
    load_form(*cell.map, cell.next);
    signs_.clear();
    bool positive = false, negative = false;
    for (int i = 0; i < cell.points.size(); ++i) {
        signs_.push_back(sign_at(cell, cell.points[i], cell.points.size_of_point(i), cell.points.exact(i).get()));
        positive = positive || signs_.back() > 0;
        negative = negative || signs_.back() < 0;
    }
    above_.side = below_.side = Side::none;
    if (!positive) look_for(cell, 1, above_);
    if (!negative) look_for(cell, -1, below_);
    has_positive_ = positive || above_.side == Side::found;
    has_negative_ = negative || below_.side == Side::found;
    return has_positive_ && has_negative_;
}

// The wall does not cut the cell: which side of it the cell is on, or that the gate vanishes there.
void LpWalk::decide(LpCell& cell) const {
    const bool is_gate = cell.stage > 0;
    if (!is_gate && has_negative_) throw FlatDomain(above_.side == Side::none);
    const bool vanishes = !has_positive_ && !has_negative_;
    if (vanishes && is_gate) cell.vanishing_key ^= key_of_gate_vanishing(cell.wall(problem_));
    if (!vanishes && (above_.side == Side::touching || below_.side == Side::touching)) record_touching(cell);
    if (!is_gate) return;
    cell.set_gate(cell.wall(problem_), has_positive_);
    cell.decided[cell.next] = 1;
}

void LpWalk::load_form(const StageMap& map, int row) {
    form_.entries.assign(padded(dim_ + 1), 0.0);
    double* entries = form_.entries.data();
    double largest = 0;
    for (int k = 0; k <= dim_; ++k) entries[k] = map.entry(row, k);
    for (int k = 0; k < dim_; ++k) largest = std::max(largest, std::abs(entries[k]));
    const double scale = rounding::is_ordinary(largest) ? power_of_two_below(largest) : 1.0;
    for (int k = 0; k <= dim_; ++k) entries[k] *= scale;
    form_.error = map.error(row) * scale + rounding::least;
    form_scale_ = scale;
    if (largest <= 1 || scale < 1) return;
    // Too large for floats: zeros of which nothing is known say so to all who ask.
    form_.entries.assign(padded(dim_ + 1), 0.0);
    form_.error = rounding::unknown;
}

int LpWalk::sign_at(const LpCell& cell, const double* point, double size, const ExactVector* exact) const {
    const double* form = form_.entries.data();
    if (!exact) {
        const double value = dot(form, point, padded(dim_ + 1));
        if (std::abs(value) > doubt_at(dim_, form[dim_], form_.error, size)) return value > 0 ? 1 : -1;
    }
    return sign_of_product(cell.map->exact_row(cell.next), exact ? *exact : ExactVector::from_floats(point, dim_ + 1));
}

// ---- linear programs, proved

// Stand at a corner of the cell, where floats know one.
bool LpWalk::stand_in(LpCell& cell) {
    if (const int row = std::exchange(cell.missed, -1); row >= 0) reach(cell, row);
    if (!cell.table.stands()) return false;
    simplex_.stand(cell.box(), cell.forms, cell.table);
    return true;
}

// Walk to a corner on the right side of a row; the table then stands there, or nowhere.
void LpWalk::reach(LpCell& cell, int row) {
    const double enough = 16 * rounding::lp_tolerance;
    largest_over(cell, cell.forms[row], 1, enough);
    if (!(simplex_.value() > enough)) cell.table.leave();
}

// Whether the cell has inner points on that side of the wall: floats propose, a point or a bound proves, exact
// arithmetic decides.
void LpWalk::look_for(LpCell& cell, int side, Found& found) {
    const double* form = form_.entries.data();
    largest_->start(form, side, form_.error);
    const double most = largest_->bound();
    if (most < 0) return;
    // Not just to the first corner on that side: inner points that keep away from all walls save exact arithmetic.
    const double enough = far_enough * most;
    if (settle_by_program(cell, side, enough, found)) return;
    if (find_middle(cell) && settle_by_program(cell, side, enough, found)) return;
    look_exactly(cell, side, found);
}

// Whether a linear program in floats tells, and its answer is proved.
bool LpWalk::settle_by_program(LpCell& cell, int side, double enough, Found& found) {
    const double* form = form_.entries.data();
    const Simplex::Result result = largest_over(cell, form, side, enough);
    if (result != Simplex::Result::stopped && result != Simplex::Result::optimal) return false;
    const double value = simplex_.value();
    if (value < 0) return is_below(cell, side);
    const std::vector<double> middle = centre(cell);
    std::vector<double>& point = found.point.coordinates;
    point.assign(padded(dim_ + 1), 0.0);
    simplex_.point(point.data());
    const double inner = side * dot(form, middle.data(), padded(dim_ + 1));
    // From the corner a little towards the middle: inside, and still on the side that was asked for.
    const double share = value > 0 ? std::min(0.25, 0.5 * value / (value - std::min(inner, 0.0))) : 0x1p-6;
    for (int k = 0; k < dim_; ++k) point[k] += share * (middle[k] - point[k]);
    const double size = InnerPoints::size_of_point(point.data(), dim_);
    const bool inside = is_inside(cell, point.data());
    if (inside && sign_at(cell, point.data(), size, nullptr) == side) {
        found.side = Side::found;
        found.point.exact = nullptr;
        return true;
    }
    if (!is_below(cell, side) && !is_below_exactly(cell, side)) return false;
    if (inside && cell.points.size() < most_points) {
        found.point.exact = nullptr;
        cell.points.add(found.point);
    }
    return true;
}

// Walk to the corner of the cell where a form, times +-1, is largest; stopped where it is more than enough, or known
// not to become positive.
auto LpWalk::largest_over(LpCell& cell, const double* form, double sign, double enough) -> Simplex::Result {
    if (!stand_in(cell)) return Simplex::Result::failed;
    if (dim_ < many_dimensions) return simplex_.maximise(form, sign, enough);
    beyond_ = cell.table;
    simplex_.stand(cell.box(), cell.forms, beyond_);
    const auto result = simplex_.descend(form, sign, -16 * rounding::lp_tolerance);
    if (result == Simplex::Result::stopped) return result;
    if (result == Simplex::Result::optimal) std::swap(cell.table, beyond_);
    simplex_.stand(cell.box(), cell.forms, cell.table);
    return result == Simplex::Result::optimal ? result : simplex_.maximise(form, sign, enough);
}

// Whether the rows where the simplex stands prove that the cell has nothing on that side of the wall.
bool LpWalk::is_below(const LpCell& cell, int side) {
    for (int edge = 0; edge < dim_; ++edge) multipliers_[edge] = -simplex_.objective()[edge];
    return upper_bound(cell, form_.entries.data(), side, form_.error) < 0;
}

// The same without rounding, with the multipliers that are at hand.
bool LpWalk::is_below_exactly(const LpCell& cell, int side) const {
    ExactVector wall = cell.map->exact_row(cell.next);
    if (side < 0)
        for (auto& n : wall.numerators) n.negate();
    return is_negative_exactly(cell, wall, form_scale_);
}

// Points that were found cut after cut lie ever nearer to early rows, and at last floats cannot tell them from these.
// One that keeps away from all rows: the mean of the corners where each is largest.
bool LpWalk::find_middle(LpCell& cell) {
    if (!stand_in(cell) || cell.points.size() >= most_points) return false;
    InnerPoint middle{centre(cell), nullptr};
    point_.assign(padded(dim_ + 1), 0.0);
    for (int row = 0; row < cell.forms.size(); ++row) {
        if (simplex_.maximise(cell.forms[row], 1, everything) != Simplex::Result::optimal) return false;
        simplex_.point(point_.data());
        for (int k = 0; k < dim_; ++k) middle.coordinates[k] += (point_[k] - middle.coordinates[k]) / (row + 2);
    }
    if (!is_inside(cell, middle.coordinates.data())) return false;
    const double size = InnerPoints::size_of_point(middle.coordinates.data(), dim_);
    signs_.push_back(sign_at(cell, middle.coordinates.data(), size, nullptr));
    cell.points.add(middle);
    return true;
}

void LpWalk::look_exactly(LpCell& cell, int side, Found& found) {
    ExactVector wall = cell.map->exact_row(cell.next);
    if (side < 0)
        for (auto& n : wall.numerators) n.negate();
    const ExactVector inside = exact_point(cell, 0);
    const ExactMaximum best = exact_maximum_over(cell, wall, inside, -1);
    if (best.sign <= 0) {
        found.side = best.sign == 0 ? Side::touching : Side::none;
        return;
    }
    // Step from the best corner towards an inner point, and halve the step until the wall is not crossed.
    auto point = std::make_shared<ExactVector>();
    for (int halvings = 1; halvings < most_halvings; ++halvings) {
        point->numerators.assign(dim_ + 1, BigInteger());
        for (int k = 0; k <= dim_; ++k) {
            // (2^h - 1) / 2^h of the corner, times the other point's last coordinate: homogeneous points add like that.
            BigInteger corner = best.point.numerators[k] * inside.numerators[dim_];
            BigInteger most = corner;
            most.shift_left(halvings);
            point->numerators[k] = most - corner + inside.numerators[k] * best.point.numerators[dim_];
        }
        if (sign_of_product(wall, *point) > 0) break;
    }
    found.side = Side::found;
    std::vector<double>& rounded = found.point.coordinates;
    rounded.assign(padded(dim_ + 1), 0.0);
    const auto [weight, weight_exponent] = point->numerators[dim_].to_float();
    for (int k = 0; k < dim_; ++k) {
        const auto [mantissa, exponent] = point->numerators[k].to_float();
        rounded[k] = std::ldexp(mantissa / weight, static_cast<int>(exponent - weight_exponent));
    }
    rounded[dim_] = 1.0;
    found.point.exact = nullptr;
    if (!is_inside(cell, rounded.data()) ||
        sign_at(cell, rounded.data(), InnerPoints::size_of_point(rounded.data(), dim_), nullptr) != side)
        found.point.exact = point;
}

// The sign of the maximum of a form within all bounds but one (or none, -1), and a point where it is positive.
ExactMaximum LpWalk::exact_maximum_over(const LpCell& cell, const ExactVector& form, const ExactVector& inside,
                                        int except) const {
    std::vector<ExactVector> bounds;
    for (int bound = 0; bound < cell.bounds(); ++bound)
        if (bound != except) bounds.push_back(exact_bound(cell, bound));
    std::vector<const ExactVector*> pointers;
    for (const ExactVector& bound : bounds) pointers.push_back(&bound);
    return exact_maximum(pointers, std::vector<int>(pointers.size(), 1), form, inside, stop_);
}

// A form that is positive inside of a bound.
ExactVector LpWalk::exact_bound(const LpCell& cell, int bound) const {
    const int row = cell.row_of(bound);
    if (row >= 0) {
        ExactVector form = cell.rows[row].map->exact_row(cell.rows[row].row);
        if (cell.rows[row].side < 0)
            for (auto& n : form.numerators) n.negate();
        return form;
    }
    if (cell.around->row[bound] >= 0) return cell.around->domain->exact_row(cell.around->row[bound]);
    std::vector<double> side(dim_ + 1, 0.0);
    side[bound / 2] = bound % 2 ? -1.0 : 1.0;
    side[dim_] = bound % 2 ? cell.box().outer(bound) : -cell.box().outer(bound);
    return ExactVector::from_floats(side.data(), dim_ + 1);
}

// A proved bound on what a form, times +-1, can be in the cell: with a multiplier for each edge of the corner where the
// simplex stands, of which those of rows are used.
double LpWalk::upper_bound(const LpCell& cell, const double* form, double sign, double error) {
    largest_->start(form, sign, error);
    for (int edge = 0; edge < dim_; ++edge) {
        const int row = cell.row_of(simplex_.bound_of(edge));
        if (row >= 0) largest_->add(cell.forms[row], multipliers_[edge], cell.forms.error(row));
    }
    return largest_->bound();
}

// Whether multiples of the cell's rows prove without rounding that a form, times its scale, is negative in all of the
// cell: the multipliers are those of `upper_bound`.
bool LpWalk::is_negative_exactly(const LpCell& cell, const ExactVector& form, double scale) const {
    ExactSum sum(dim_ + 1);
    sum.add(scale, form);
    for (int edge = 0; edge < dim_; ++edge) {
        const int row = cell.row_of(simplex_.bound_of(edge));
        if (row < 0 || !(multipliers_[edge] > 0)) continue;
        const double factor = multipliers_[edge] * scale_of(cell, row);
        if (!(factor < rounding::largest)) return false;
        sum.add(factor, exact_bound(cell, simplex_.bound_of(edge)));
    }
    const ExactVector most = sum.total();
    std::vector<double> corner(dim_ + 1, 1.0);
    for (int k = 0; k < dim_; ++k) corner[k] = cell.box().outer(2 * k + (most.numerators[k].sign() > 0));
    return sign_of_product(most, ExactVector::from_floats(corner.data(), dim_ + 1)) < 0;
}

// The power of two by which a row's form is scaled.
double LpWalk::scale_of(const LpCell& cell, int row) const {
    const LpCell::Row& of = cell.rows[row];
    int largest = 0;
    for (int k = 1; k < dim_; ++k)
        if (std::abs(cell.forms[row][k]) > std::abs(cell.forms[row][largest])) largest = k;
    const double entry = of.map->entry(of.row, largest);
    return entry == 0.0 ? 1.0 : std::abs(cell.forms[row][largest] / entry);
}

// How many rows are not proved to be positive at a point.
int LpWalk::rows_in_doubt(const LpCell& cell, const double* point) const {
    const double size = InnerPoints::size_of_point(point, dim_);
    int doubtful = 0;
    for (int row = 0; row < cell.forms.size(); ++row) {
        const double* form = cell.forms[row];
        const double value = dot(form, point, padded(dim_ + 1));
        doubtful += value > doubt_at(dim_, form[dim_], cell.forms.error(row), size) ? 0 : 1;
    }
    return doubtful;
}

ExactVector LpWalk::exact_point(const LpCell& cell, int i) const {
    if (cell.points.exact(i)) return *cell.points.exact(i);
    return ExactVector::from_floats(cell.points[i], dim_ + 1);
}

std::vector<double> LpWalk::centre(const LpCell& cell) const {
    const int count = cell.points.size();
    std::vector<double> middle(padded(dim_ + 1), 0.0);
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < dim_; ++k) middle[k] += cell.points[i][k];
    for (int k = 0; k < dim_; ++k) middle[k] /= count;
    middle[dim_] = 1.0;
    return middle;
}

// ---- cutting

// Both parts take over where the cell's table stands, which is a corner of one of them. The other one walks to its side
// of the wall once it is asked for.
auto LpWalk::cut(LpCell& cell) -> CellPointer {
    if (stand_in(cell)) simplex_.measure(form_.entries.data());
    if (cell.stage == 0) {
        take_side(cell, 1, above_);
        return nullptr;
    }
    CellPointer on = copy_of(cell);
    take_side(*on, 1, above_);
    take_side(cell, -1, below_);
    return on;
}

auto LpWalk::copy_of(const LpCell& cell) -> CellPointer {
    if (spare_.empty()) return std::make_unique<LpCell>(cell);
    CellPointer copy = std::move(spare_.back());
    spare_.pop_back();
    *copy = cell;
    return copy;
}

void LpWalk::take_side(LpCell& cell, int side, const Found& found) const {
    cell.points.keep(signs_, side);
    if (found.side == Side::found) cell.points.add(found.point);
    if (cell.table.stands()) {
        cell.table.add_row(simplex_.objective(), simplex_.value(), side);
        if (side * simplex_.value() < 0) cell.missed = cell.forms.size();
    }
    cell.rows.push_back({cell.map.get(), cell.next, cell.wall(problem_), side});
    cell.forms.add(form_, side);
    ++cell.cuts;
    if (cell.stage == 0) return;
    cell.set_gate(cell.wall(problem_), side > 0);
    ++cell.next;
}

// The wall touches the cell without cutting it. It holds a facet exactly if it is a multiple of that facet's row.
void LpWalk::record_touching(LpCell& cell) const {
    const ExactVector& wall = cell.map->exact_row(cell.next);
    const auto is_multiple = [&](const ExactVector& row) {
        int pivot = 0;
        while (pivot < dim_ && row.numerators[pivot].is_zero()) ++pivot;
        bool multiple = !wall.numerators[pivot].is_zero();
        for (int k = 0; k <= dim_ && multiple; ++k)
            multiple = row.numerators[k] * wall.numerators[pivot] == wall.numerators[k] * row.numerators[pivot];
        return multiple;
    };
    for (int row = 0; row < static_cast<int>(cell.rows.size()); ++row)
        if (is_multiple(cell.rows[row].map->exact_row(cell.rows[row].row)))
            cell.shared.emplace_back(cell.box().sides() + row, cell.wall(problem_));
    // A side has one coefficient, so that only those of the wall's one coordinate can be meant.
    int coordinate = 0, coefficients = 0;
    for (int k = 0; k < dim_; ++k)
        if (!wall.numerators[k].is_zero()) {
            coordinate = k;
            ++coefficients;
        }
    if (coefficients != 1) return;
    for (const int side : {2 * coordinate, 2 * coordinate + 1})
        if (cell.around->row[side] >= 0 && is_multiple(exact_bound(cell, side)))
            cell.shared.emplace_back(side, cell.wall(problem_));
}

}  // namespace polyfold
