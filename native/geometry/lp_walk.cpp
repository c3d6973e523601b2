#include "geometry/lp_walk.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/cell_walk.hpp"
#include "geometry/rounding.hpp"

namespace polyfold {

namespace {

constexpr std::size_t most_points = 24;
constexpr int most_halvings = 4096;

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

double power_of_two_below(double value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    return std::ldexp(1.0, -exponent);
}

}  // namespace

LpWalk::LpWalk(const Problem& problem, const StopSignal& stop)
    : problem_(problem), stop_(stop), dim_(problem.dim), simplex_(stop), keys_(problem.gates) {}

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
    auto cell = std::make_unique<LpCell>();
    cell->start(problem_);
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
    cell->rows.erase(cell->rows.begin(), cell->rows.begin() + faces);
    cell->error.erase(cell->error.begin(), cell->error.begin() + faces);
    cell->forms.erase(cell->forms.begin(), cell->forms.begin() + faces * (dim_ + 1));
    for (auto& [row, wall] : cell->shared) row -= faces;
    for (int& row : cell->corner.rows) {
        row -= faces;
        if (row < 0) throw OpenDomain();  // floats lost the corner: rare enough to be left to the other walk
    }
    cell->enter_next_stage(problem_);
    return cell;
}

// Whether the cell lies strictly inside its first rows.
bool LpWalk::all_slack(LpCell& cell, int rows) {
    const std::vector<double> middle = centre(cell);
    for (int row = 0; row < rows; ++row)
        if (is_facet(cell, row, middle)) return false;
    // A face that the domain only touches is no facet, but a corner on it would be lost with it.
    return std::all_of(cell.corner.rows.begin(), cell.corner.rows.end(), [&](int row) { return row >= rows; });
}

auto LpWalk::advance(LpCell& cell) -> CellPointer {
    while (!cell.finished(problem_)) {
        if (cell.next == problem_.stages[cell.stage].width) {
            cell.enter_next_stage(problem_);
            continue;
        }
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
        const double doubt =
            (rounding::bound(dim_ + 3) * magnitude + form_error_ * size) * (1 + 0x1p-20) + rounding::tiny;
        if (std::abs(value) > doubt) return value > 0 ? 1 : -1;
    }
    return sign_of_product(cell.map->exact_row(cell.next), exact_point(point));
}

// ---- linear programs, proved

// Whether the cell has inner points on that side of the wall: floats propose, a point or a bound proves, exact
// arithmetic decides.
auto LpWalk::look_for(LpCell& cell, int side) -> Found {
    Found found;
    std::vector<double> objective(form_.begin(), form_.begin() + dim_);
    for (double& x : objective) x *= side;
    const double constant = side * form_[dim_];
    const std::vector<double> middle = centre(cell);
    if (!cell.corner.rows.empty()) {
        found.corner = cell.corner;
        const auto result =
            simplex_.maximise(polyhedron(cell), found.corner, objective.data(), constant, 16 * rounding::lp_tolerance);
        double value = constant, inner = constant;
        for (int k = 0; k < dim_; ++k) {
            value += objective[k] * found.corner.point[k];
            inner += objective[k] * middle[k];
        }
        if (result == Simplex::Result::optimal || result == Simplex::Result::stopped) {
            // From the corner a little towards the middle: inside, and still on the side that was asked for.
            const double share = value > 0 ? std::min(0.25, 0.5 * value / (value - std::min(inner, 0.0))) : 0x1p-6;
            found.point.coordinates.resize(dim_);
            for (int k = 0; k < dim_; ++k)
                found.point.coordinates[k] = found.corner.point[k] + share * (middle[k] - found.corner.point[k]);
            const bool inside = proved_inside(cell, found.point.coordinates.data());
            if (inside && sign_at(cell, found.point) == side) {
                found.side = Side::found;
                return found;
            }
            if (result == Simplex::Result::optimal &&
                upper_bound(cell, found.corner, objective.data(), form_error_, constant) < 0) {
                if (inside && cell.points.size() < most_points) cell.points.push_back(found.point);
                return found;
            }
        }
    }
    std::vector<const ExactVector*> rows;
    std::vector<int> sides;
    for (const auto& row : cell.rows) {
        rows.push_back(&row.map->exact_row(row.row));
        sides.push_back(row.side);
    }
    const ExactVector inside = exact_point(cell.points[0]), wall = exact_form(*cell.map, cell.next, side);
    const ExactMaximum best = exact_maximum(rows, sides, wall, inside, stop_);
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
    if (!proved_inside(cell, found.point.coordinates.data()) || sign_at(cell, found.point) != side)
        found.point.exact = point;
    return found;
}

// A proved bound on the maximum of the objective: with multipliers m <= 0 for the corner's rows, objective . u +
// constant is at most constant - sum m b + |objective - sum m a| . reach, since the rows are positive.
double LpWalk::upper_bound(const LpCell& cell, const Corner& corner, const double* objective, double objective_error,
                           double constant) const {
    double reach = 1;
    for (const double x : *cell.reach) reach += x;
    double bound = constant, magnitude = std::abs(constant), error = objective_error * reach;
    std::vector<double> rest(objective, objective + dim_), size(dim_);
    for (int j = 0; j < dim_; ++j) size[j] = std::abs(rest[j]);
    for (int k = 0; k < dim_; ++k) {
        const double multiplier = std::min(0.0, simplex_.multipliers()[k]);
        const int row = corner.rows[k];
        const double* a = cell.forms.data() + row * (dim_ + 1);
        bound -= multiplier * a[dim_];
        magnitude += std::abs(multiplier * a[dim_]);
        error -= multiplier * cell.error[row] * reach;
        for (int j = 0; j < dim_; ++j) {
            rest[j] -= multiplier * a[j];
            size[j] += std::abs(multiplier * a[j]);
        }
    }
    for (int j = 0; j < dim_; ++j) {
        bound += std::abs(rest[j]) * (*cell.reach)[j];
        magnitude += (std::abs(rest[j]) + size[j]) * (*cell.reach)[j];
    }
    return bound + (rounding::bound(2 * dim_ + 8) * magnitude + error) * (1 + 0x1p-20) + rounding::tiny;
}

Polyhedron LpWalk::polyhedron(const LpCell& cell) const {
    return {dim_, static_cast<int>(cell.rows.size()), cell.forms.data()};
}

// The sign of a row at a point, or 0 where floats cannot tell.
int LpWalk::row_sign(const LpCell& cell, int row, const double* point) const {
    const double* a = cell.forms.data() + row * (dim_ + 1);
    double value = a[dim_], magnitude = std::abs(value), size = 1;
    for (int k = 0; k < dim_; ++k) {
        value += a[k] * point[k];
        magnitude += std::abs(a[k] * point[k]);
        size += std::abs(point[k]);
    }
    const double doubt =
        (rounding::bound(dim_ + 3) * magnitude + cell.error[row] * size) * (1 + 0x1p-20) + rounding::tiny;
    return value > doubt ? 1 : value < -doubt ? -1 : 0;
}

bool LpWalk::proved_inside(const LpCell& cell, const double* point, int except) const {
    for (int row = 0; row < static_cast<int>(cell.rows.size()); ++row)
        if (row != except && row_sign(cell, row, point) <= 0) return false;
    return true;
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
    CellPointer on = std::make_unique<LpCell>(cell);
    const auto make_side = [&](LpCell& target, int side, Found* found, Corner corner) {
        std::vector<LpCell::Point> kept;
        for (std::size_t i = 0; i < signs.size(); ++i)
            if (signs[i] == side) kept.push_back(target.points[i]);
        if (found) kept.push_back(std::move(found->point));
        target.points = std::move(kept);
        target.corner = std::move(corner);
        add_row(target, side);
        if (is_gate) {
            target.set_gate(target.wall(problem_), side > 0);
            ++target.next;
        }
    };
    Corner high = above && !above->corner.rows.empty() ? above->corner : corner_beyond(cell, 1);
    if (!is_gate) {
        make_side(cell, 1, above, std::move(high));
        return nullptr;
    }
    Corner low = below && !below->corner.rows.empty() ? below->corner : corner_beyond(cell, -1);
    make_side(*on, 1, above, std::move(high));
    make_side(cell, -1, below, std::move(low));
    return on;
}

// A vertex of the cell on that side of the wall, where floats find one.
Corner LpWalk::corner_beyond(const LpCell& cell, int side) {
    if (cell.corner.rows.empty()) return {};
    std::vector<double> objective(form_.begin(), form_.begin() + dim_);
    for (double& x : objective) x *= side;
    Corner corner = cell.corner;
    const double enough = 16 * rounding::lp_tolerance;
    const auto result = simplex_.maximise(polyhedron(cell), corner, objective.data(), side * form_[dim_], enough);
    return result == Simplex::Result::stopped ? corner : Corner{};
}

void LpWalk::add_row(LpCell& cell, int side) const {
    add_row(cell, {cell.map.get(), cell.next, cell.wall(problem_), side});
}

void LpWalk::add_row(LpCell& cell, const LpCell::Row& row) const {
    cell.rows.push_back(row);
    for (const double entry : form_) cell.forms.push_back(row.side * entry);
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

// ---- finished cells

void LpWalk::emit(LpCell& cell, CellBlock& block) {
    std::vector<double> middle = centre(cell);
    if (!proved_inside(cell, middle.data())) middle = cell.points[0].coordinates;
    const std::vector<char> seen = facets_in_sight(cell, middle);
    std::vector<int> facets;
    for (int row = 0; row < static_cast<int>(cell.rows.size()); ++row)
        if (seen[row] || is_facet(cell, row, middle)) facets.push_back(row);
    std::sort(facets.begin(), facets.end(), [&](int a, int b) { return cell.rows[a].wall < cell.rows[b].wall; });

    // From here on nothing can be stopped: a cell is written whole or not at all.
    cell.emit_pattern(keys_, block);
    std::vector<std::int32_t> walls;
    for (const int row : facets) {
        walls.assign(1, cell.rows[row].wall);
        for (const auto& [other, wall] : cell.shared)
            if (other == row) walls.push_back(wall);
        Path::emit_facet(walls, block);
    }
    block.facet_start.push_back(static_cast<std::int64_t>(block.facet_wall.size()));
    block.bounded.push_back(1);
    block.witnesses.append(middle.data(), middle.size());
    if (!proved_inside(cell, middle.data())) {
        ExactWitness witness{block.cells, {}};
        for (const auto& n : exact_point(cell.points[0]).numerators) witness.coordinates.push_back(n.to_hex());
        block.exact_witnesses.push_back(std::move(witness));
    }
    ++block.cells;
}

// Walls that are met first on a straight way out of the middle: a point just behind only that wall proves its facet.
std::vector<char> LpWalk::facets_in_sight(const LpCell& cell, const std::vector<double>& middle) const {
    const int rows = static_cast<int>(cell.rows.size());
    std::vector<char> seen(rows, 0);
    std::vector<double> slack(rows), behind(dim_);
    const Polyhedron shape = polyhedron(cell);
    for (int row = 0; row < rows; ++row) slack[row] = shape.value(row, middle.data());
    for (int towards = 0; towards < rows; ++towards) {
        stop_.check();
        const double* normal = shape.form(towards);
        int first = -1;
        double nearest = 0, second = 0;
        for (int row = 0; row < rows; ++row) {
            double rate = 0;
            for (int k = 0; k < dim_; ++k) rate += shape.form(row)[k] * normal[k];
            if (rate <= 0) continue;
            const double distance = slack[row] / rate;
            if (first < 0 || distance < nearest) {
                second = first < 0 ? 2 * distance : nearest;
                nearest = distance;
                first = row;
            } else if (distance < second) {
                second = distance;
            }
        }
        if (first < 0 || seen[first]) continue;
        const double beyond = nearest + 0.5 * (std::min(second, 2 * nearest) - nearest);
        for (int k = 0; k < dim_; ++k) behind[k] = middle[k] - beyond * normal[k];
        seen[first] = proved_inside(cell, behind.data(), first) && row_sign(cell, first, behind.data()) < 0;
    }
    return seen;
}

// Whether leaving a row out makes the cell larger.
bool LpWalk::is_facet(LpCell& cell, int row, const std::vector<double>& middle) {
    std::vector<double> objective(cell.forms.begin() + row * (dim_ + 1), cell.forms.begin() + row * (dim_ + 1) + dim_);
    for (double& x : objective) x = -x;
    const double constant = -cell.forms[row * (dim_ + 1) + dim_];
    if (!cell.corner.rows.empty()) {
        Corner corner = cell.corner;
        const auto result =
            simplex_.maximise(polyhedron(cell), corner, objective.data(), constant, 16 * rounding::lp_tolerance, row);
        if (result == Simplex::Result::unbounded) {
            // Nothing else bounds that direction: any long way along it is behind the row.
            for (int k = 0; k < dim_; ++k) corner.point[k] += (*cell.reach)[k] * simplex_.direction()[k];
        }
        double value = constant, inner = constant;
        for (int k = 0; k < dim_; ++k) {
            value += objective[k] * corner.point[k];
            inner += objective[k] * middle[k];
        }
        if (value > 0 && result != Simplex::Result::failed) {
            const double share = std::min(0.25, 0.5 * value / (value - std::min(inner, 0.0)));
            std::vector<double> behind(dim_);
            for (int k = 0; k < dim_; ++k) behind[k] = corner.point[k] + share * (middle[k] - corner.point[k]);
            if (proved_inside(cell, behind.data(), row) && row_sign(cell, row, behind.data()) < 0) return true;
        }
        const bool leans_on_itself = std::find(corner.rows.begin(), corner.rows.end(), row) != corner.rows.end();
        if (result == Simplex::Result::optimal && !leans_on_itself &&
            upper_bound(cell, corner, objective.data(), cell.error[row], constant) < 0)
            return false;
    }
    std::vector<const ExactVector*> rows;
    std::vector<int> sides;
    for (int i = 0; i < static_cast<int>(cell.rows.size()); ++i) {
        if (i == row) continue;
        rows.push_back(&cell.rows[i].map->exact_row(cell.rows[i].row));
        sides.push_back(cell.rows[i].side);
    }
    const ExactVector beyond = exact_form(*cell.rows[row].map, cell.rows[row].row, -cell.rows[row].side);
    return exact_maximum(rows, sides, beyond, exact_point(cell.points[0]), stop_).sign > 0;
}

}  // namespace polyfold
