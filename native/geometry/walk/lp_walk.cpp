#include "geometry/walk/lp_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr std::size_t most_points = 24;
constexpr int cuts_until_pruned = 6;
constexpr int most_halvings = 4096;
constexpr double everything = std::numeric_limits<double>::infinity();

// A box of its own, as a problem without gates: rows u_k + w >= 0, then w - u_k >= 0.
Problem box_problem(int dim, double half_width) {
    Problem box;
    box.dim = dim;
    box.input_dim = dim;
    Stage rows;
    rows.width = 2 * dim;
    rows.bias.assign(rows.width, 0.0);
    rows.parameter_rows.assign(rows.width * (dim + 1), 0.0);
    for (int r = 0; r < rows.width; ++r) {
        rows.parameter_rows[r * (dim + 1) + r % dim] = r < dim ? 1.0 : -1.0;
        rows.parameter_rows[r * (dim + 1) + dim] = half_width;
    }
    box.stages.push_back(std::move(rows));
    return box;
}

// Bounds the error of a form's value: from the sum of its terms' sizes, the error of its entries and 1 + sum |u_k|.
double doubt_of(int dim, double magnitude, double error, double size) {
    return (rounding::bound(dim + 3) * magnitude + error * size) * (1 + 0x1p-20) + rounding::tiny;
}

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
      multipliers_(problem.dim) {}

// The domain's rows cut a box around the origin; if nothing of the box's own faces is left, it held the whole domain.
auto LpWalk::root() -> CellPointer {
    for (const double half_width : {0x1p4, 0x1p12, 0x1p24, 0x1p48}) {
        const Problem box = box_problem(dim_, half_width);
        const StageMap map(box, 0, nullptr, {});
        if (auto cell = root_within(map, half_width)) return cell;
    }
    throw OpenDomain();
}

auto LpWalk::root_within(const StageMap& box, double half_width) -> CellPointer {
    simplex_.leave();
    auto cell = std::make_unique<LpCell>();
    cell->start(problem_);
    cell->shape = Polyhedron(dim_);
    cell->reach = std::make_shared<const std::vector<double>>(dim_, 4 * half_width);
    const int faces = 2 * dim_;
    for (int r = 0; r < faces; ++r) {
        load_form(box, r);
        add_row(*cell, {&box, r, problem_.infinity_wall(), 1});
    }
    for (int k = 0; k < dim_; ++k) cell->corner.rows.push_back(k);
    cell->corner.point.assign(dim_, -half_width);
    cell->points.push_back({std::vector<double>(dim_, 0.0), nullptr});
    try {
        for (; cell->next < problem_.rows(); ++cell->next) insert(*cell);
    } catch (const FlatDomain&) {
        return nullptr;  // of this box nothing is left, but the domain may lie outside of it
    }
    if (!all_slack(*cell, faces)) return nullptr;
    std::vector<int> kept(cell->rows.size() - faces);
    std::iota(kept.begin(), kept.end(), faces);
    cell->keep_rows(kept);
    cell->enter_next_stage(problem_);
    return cell;
}

// Whether the cell lies strictly inside its first rows.
bool LpWalk::all_slack(LpCell& cell, int rows) {
    settle_rows(cell);
    for (int row = 0; row < rows; ++row)
        if (known_[row] == Row::facet) return false;
    // A face that the domain only touches is no facet, but a corner on it would be lost with it.
    return std::all_of(cell.corner.rows.begin(), cell.corner.rows.end(), [&](int row) { return row >= rows; });
}

auto LpWalk::advance(LpCell& cell) -> CellPointer {
    simplex_.leave();  // it stood in another cell
    while (!cell.finished(problem_)) {
        if (cell.next == problem_.stages[cell.stage].width) {
            cell.enter_next_stage(problem_);
            continue;
        }
        if (with_facets_ && cell.cuts >= cuts_until_pruned) prune(cell);
        if (auto on = insert(cell)) return on;
    }
    return nullptr;
}

// Insert the next wall; see CellWalk::insert.
auto LpWalk::insert(LpCell& cell) -> CellPointer {
    load_form(*cell.map, cell.next);
    std::vector<int> signs;
    bool positive = false, negative = false;
    for (const auto& point : cell.points) {
        signs.push_back(sign_at(cell, point));
        positive = positive || signs.back() > 0;
        negative = negative || signs.back() < 0;
    }
    Found above, below;
    if (!positive) above = look_for(cell, 1);
    if (!negative) below = look_for(cell, -1);
    const bool has_positive = positive || above.side == Side::found,
               has_negative = negative || below.side == Side::found;
    if (has_positive && has_negative) return cut(cell, signs, positive ? nullptr : &above, negative ? nullptr : &below);

    const bool is_gate = cell.stage > 0;
    if (!is_gate && has_negative) throw FlatDomain(above.side == Side::none);
    const bool vanishes = !has_positive && !has_negative;
    if (vanishes && is_gate) cell.vanishing_key ^= key_of_gate_vanishing(cell.wall(problem_));
    if (!vanishes && (above.side == Side::touching || below.side == Side::touching)) record_touching(cell);
    if (is_gate) {
        cell.set_gate(cell.wall(problem_), has_positive);
        ++cell.next;
    }
    return nullptr;
}

void LpWalk::load_form(const StageMap& map, int row) {
    form_.resize(dim_ + 1);
    double largest = 0;
    for (int k = 0; k <= dim_; ++k) form_[k] = map.entry(row, k);
    for (int k = 0; k < dim_; ++k) largest = std::max(largest, std::abs(form_[k]));
    const double scale = rounding::is_ordinary(largest) ? power_of_two_below(largest) : 1.0;
    for (double& entry : form_) entry *= scale;
    form_error_ = map.error(row) * scale;
}

int LpWalk::sign_at(const LpCell& cell, const LpCell::Point& point) const {
    if (!point.exact) {
        double value = form_[dim_], magnitude = std::abs(value), size = 1;
        for (int k = 0; k < dim_; ++k) {
            value += form_[k] * point.coordinates[k];
            magnitude += std::abs(form_[k] * point.coordinates[k]);
            size += std::abs(point.coordinates[k]);
        }
        const double doubt = doubt_of(dim_, magnitude, form_error_, size);
        if (std::abs(value) > doubt) return value > 0 ? 1 : -1;
    }
    return sign_of_product(cell.map->exact_row(cell.next), exact_point(point));
}

// ---- linear programs, proved

// Stand at a corner of the cell, where floats know one.
bool LpWalk::stand_in(const LpCell& cell) {
    return simplex_.stands() || (!cell.corner.rows.empty() && simplex_.start(cell.shape, cell.corner.rows));
}

// Whether the cell has inner points on that side of the wall: floats propose, a point or a bound proves, exact
// arithmetic decides.
auto LpWalk::look_for(LpCell& cell, int side) -> Found {
    Found found;
    std::vector<double> objective(form_.begin(), form_.begin() + dim_);
    for (double& x : objective) x *= side;
    const double constant = side * form_[dim_];
    const std::vector<double> middle = centre(cell);
    if (stand_in(cell)) {
        // Not just to the first corner on that side: inner points that keep away from all walls save exact arithmetic.
        const auto result = simplex_.maximise(objective.data(), constant, everything);
        if (result == Simplex::Result::optimal) {
            found.corner = simplex_.corner();
            double value = constant, inner = constant;
            for (int k = 0; k < dim_; ++k) {
                value += objective[k] * found.corner.point[k];
                inner += objective[k] * middle[k];
            }
            // From the corner a little towards the middle: inside, and still on the side that was asked for.
            const double share = value > 0 ? std::min(0.25, 0.5 * value / (value - std::min(inner, 0.0))) : 0x1p-6;
            found.point.coordinates.resize(dim_);
            for (int k = 0; k < dim_; ++k)
                found.point.coordinates[k] = found.corner.point[k] + share * (middle[k] - found.corner.point[k]);
            const bool inside = rows_in_doubt(cell, found.point.coordinates.data()) == 0;
            if (inside && sign_at(cell, found.point) == side) {
                found.side = Side::found;
                return found;
            }
            for (int k = 0; k < dim_; ++k) multipliers_[k] = simplex_.objective_rate(k);
            if (upper_bound(cell, objective.data(), form_error_, constant) < 0) {
                if (inside && cell.points.size() < most_points) cell.points.push_back(found.point);
                return found;
            }
        }
    }
    const ExactVector inside = exact_point(cell.points[0]), wall = exact_form(*cell.map, cell.next, side);
    const ExactMaximum best = exact_maximum_over(cell, wall, inside, -1);
    found.corner = {};
    if (best.sign <= 0) {
        found.side = best.sign == 0 ? Side::touching : Side::none;
        return found;
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
    found.point.coordinates.resize(dim_);
    const auto [weight, weight_exponent] = point->numerators[dim_].to_float();
    for (int k = 0; k < dim_; ++k) {
        const auto [mantissa, exponent] = point->numerators[k].to_float();
        found.point.coordinates[k] = std::ldexp(mantissa / weight, static_cast<int>(exponent - weight_exponent));
    }
    if (rows_in_doubt(cell, found.point.coordinates.data()) > 0 || sign_at(cell, found.point) != side)
        found.point.exact = point;
    return found;
}

// The sign of the maximum of a form over all rows but one (or none, -1), and a point where it is positive.
ExactMaximum LpWalk::exact_maximum_over(const LpCell& cell, const ExactVector& form, const ExactVector& inside,
                                        int except) const {
    std::vector<const ExactVector*> rows;
    std::vector<int> sides;
    for (int i = 0; i < static_cast<int>(cell.rows.size()); ++i) {
        if (i == except) continue;
        rows.push_back(&cell.rows[i].map->exact_row(cell.rows[i].row));
        sides.push_back(cell.rows[i].side);
    }
    return exact_maximum(rows, sides, form, inside, stop_);
}

// A proved bound on the maximum of the objective: with multipliers m <= 0 for the rows of the corner where the simplex
// stands, objective . u + constant is at most constant - sum m b + |objective - sum m a| . reach, since the rows are
// positive.
double LpWalk::upper_bound(const LpCell& cell, const double* objective, double objective_error, double constant) {
    double reach = 1;
    for (const double x : *cell.reach) reach += x;
    double bound = constant, magnitude = std::abs(constant), error = objective_error * reach;
    for (int k = 0; k < dim_; ++k) {
        multipliers_[k] = std::min(0.0, multipliers_[k]);
        const int row = simplex_.rows()[k];
        const double term = multipliers_[k] * cell.shape.entry(row, dim_);
        bound -= term;
        magnitude += std::abs(term);
        error -= multipliers_[k] * cell.error[row] * reach;
    }
    for (int j = 0; j < dim_; ++j) {
        double rest = objective[j], size = std::abs(rest);
        for (int k = 0; k < dim_; ++k) {
            const double term = multipliers_[k] * cell.shape.entry(simplex_.rows()[k], j);
            rest -= term;
            size += std::abs(term);
        }
        bound += std::abs(rest) * (*cell.reach)[j];
        magnitude += (std::abs(rest) + size) * (*cell.reach)[j];
    }
    return bound + (rounding::bound(2 * dim_ + 8) * magnitude + error) * (1 + 0x1p-20) + rounding::tiny;
}

// The sign of a row at a point, or 0 where floats cannot tell.
int LpWalk::row_sign(const LpCell& cell, int row, const double* point) const {
    double value = cell.shape.entry(row, dim_), magnitude = std::abs(value), size = 1;
    for (int k = 0; k < dim_; ++k) {
        const double term = cell.shape.entry(row, k) * point[k];
        value += term;
        magnitude += std::abs(term);
        size += std::abs(point[k]);
    }
    const double doubt = doubt_of(dim_, magnitude, cell.error[row], size);
    return value > doubt ? 1 : value < -doubt ? -1 : 0;
}

// How many rows are not proved to be positive at a point.
int LpWalk::rows_in_doubt(const LpCell& cell, const double* point) {
    const int rows = cell.shape.padded_rows();
    values_.assign(cell.shape.column(dim_), cell.shape.column(dim_) + rows);
    magnitudes_.resize(rows);
    double *values = values_.data(), *magnitudes = magnitudes_.data();
    for (int i = 0; i < rows; ++i) magnitudes[i] = std::abs(values[i]);
    double size = 1;
    for (int k = 0; k < dim_; ++k) {
        const double x = point[k];
        const double* column = cell.shape.column(k);
        for (int i = 0; i < rows; ++i) {
            const double term = column[i] * x;
            values[i] += term;
            magnitudes[i] += std::abs(term);
        }
        size += std::abs(x);
    }
    std::int64_t doubtful = 0;
    const double* errors = cell.error.data();
    for (int i = 0; i < cell.shape.rows(); ++i)
        doubtful += values[i] > doubt_of(dim_, magnitudes[i], errors[i], size) ? 0 : 1;
    return static_cast<int>(doubtful);
}

ExactVector LpWalk::exact_point(const LpCell::Point& point) const {
    if (point.exact) return *point.exact;
    std::vector<double> homogeneous = point.coordinates;
    homogeneous.push_back(1.0);
    return ExactVector::from_floats(homogeneous.data(), dim_ + 1);
}

ExactVector LpWalk::exact_form(const StageMap& map, int row, int side) const {
    ExactVector form = map.exact_row(row);
    if (side < 0)
        for (auto& n : form.numerators) n.negate();
    return form;
}

std::vector<double> LpWalk::centre(const LpCell& cell) const {
    std::vector<double> middle(dim_, 0.0);
    for (const auto& point : cell.points)
        for (int k = 0; k < dim_; ++k) middle[k] += point.coordinates[k] / static_cast<double>(cell.points.size());
    return middle;
}

// ---- cutting

auto LpWalk::cut(LpCell& cell, const std::vector<int>& signs, Found* above, Found* below) -> CellPointer {
    const bool is_gate = cell.stage > 0;
    const auto make_side = [&](LpCell& target, int side, Found* found, Corner corner) {
        std::vector<LpCell::Point> kept;
        for (std::size_t i = 0; i < signs.size(); ++i)
            if (signs[i] == side) kept.push_back(target.points[i]);
        if (found) kept.push_back(std::move(found->point));
        target.points = std::move(kept);
        target.corner = std::move(corner);
        add_row(target, side);
        ++target.cuts;
        if (is_gate) {
            target.set_gate(target.wall(problem_), side > 0);
            ++target.next;
        }
    };
    Corner high = above && !above->corner.rows.empty() ? above->corner : corner_beyond(cell, 1);
    if (!is_gate) {
        simplex_.leave();
        make_side(cell, 1, above, std::move(high));
        return nullptr;
    }
    Corner low = below && !below->corner.rows.empty() ? below->corner : corner_beyond(cell, -1);
    simplex_.leave();
    CellPointer on = std::make_unique<LpCell>(cell);
    make_side(*on, 1, above, std::move(high));
    make_side(cell, -1, below, std::move(low));
    return on;
}

// A vertex of the cell on that side of the wall, where floats find one.
Corner LpWalk::corner_beyond(const LpCell& cell, int side) {
    std::vector<double> objective(form_.begin(), form_.begin() + dim_);
    for (double& x : objective) x *= side;
    if (!stand_in(cell)) return {};
    const auto result = simplex_.maximise(objective.data(), side * form_[dim_], 16 * rounding::lp_tolerance);
    return result == Simplex::Result::stopped ? simplex_.corner() : Corner{};
}

void LpWalk::add_row(LpCell& cell, int side) const {
    add_row(cell, {cell.map.get(), cell.next, cell.wall(problem_), side});
}

void LpWalk::add_row(LpCell& cell, const LpCell::Row& row) const {
    cell.rows.push_back(row);
    cell.shape.add(form_, row.side);
    cell.error.push_back(form_error_);
}

// The wall touches the cell without cutting it. It holds a facet exactly if it is a multiple of that facet's row.
void LpWalk::record_touching(LpCell& cell) const {
    const ExactVector& wall = cell.map->exact_row(cell.next);
    for (int i = 0; i < static_cast<int>(cell.rows.size()); ++i) {
        const ExactVector& row = cell.rows[i].map->exact_row(cell.rows[i].row);
        int pivot = 0;
        while (pivot < dim_ && row.numerators[pivot].is_zero()) ++pivot;
        bool multiple = !wall.numerators[pivot].is_zero();
        for (int k = 0; k <= dim_ && multiple; ++k)
            multiple = row.numerators[k] * wall.numerators[pivot] == wall.numerators[k] * row.numerators[pivot];
        if (multiple) cell.shared.emplace_back(i, cell.wall(problem_));
    }
}

}  // namespace polyfold
