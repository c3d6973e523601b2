// The whole domain as a cell in a box. Rows of the domain that bound one coordinate by itself are the box's sides;
// where they leave a side open, one that is far out stands in, and it is proved that the domain does not reach it.
#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"
#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

namespace {

constexpr double farthest = 0x1p48;

// What the domain's rows say of the sides of a box, and which rows say something else.
struct SidesOfRows {
    std::vector<int> tightest, others;       // a row by side, or -1; rows
    std::vector<std::pair<int, int>> equal;  // (side, further row that says the same)
};

// A row a u_k + b >= 0 is tighter than another one of the same side where b / |a| is smaller.
int compare_sides(const StageMap& map, int coordinate, int dim, int row, int other) {
    const auto size = [&](int of) {
        BigInteger a = map.exact_row(of).numerators[coordinate];
        if (a.sign() < 0) a.negate();
        return a;
    };
    return (map.exact_row(row).numerators[dim] * size(other) - map.exact_row(other).numerators[dim] * size(row)).sign();
}

SidesOfRows sides_of(const StageMap& map, int rows, int dim) {
    std::vector<int> coefficients(rows, 0), coordinate(rows, 0);
    for (int k = 0; k < dim; ++k)
        for (int row = 0; row < rows; ++row)
            if (map.entry(row, k) != 0.0) {
                ++coefficients[row];
                coordinate[row] = k;
            }
    SidesOfRows sides;
    sides.tightest.assign(2 * dim, -1);
    for (int row = 0; row < rows; ++row) {
        const int k = coordinate[row];
        const double a = map.entry(row, k), b = map.entry(row, dim);
        if (map.error(row) > 0 || coefficients[row] != 1 || !rounding::is_ordinary(std::abs(a)) ||
            !(b == 0.0 || rounding::is_ordinary(std::abs(b)))) {
            sides.others.push_back(row);
            continue;
        }
        const int side = 2 * k + (a < 0);
        int& best = sides.tightest[side];
        const int order = best < 0 ? -1 : compare_sides(map, k, dim, row, best);
        if (order == 0) sides.equal.emplace_back(side, row);
        if (order >= 0) continue;
        std::erase_if(sides.equal, [&](const auto& pair) { return pair.first == side; });
        best = row;
    }
    return sides;
}

}  // namespace

auto LpWalk::root() -> CellPointer {
    for (const double half_width : {0x1p4, 0x1p12, 0x1p24, farthest})
        if (auto cell = root_within(half_width)) return cell;
    throw OpenDomain();
}

auto LpWalk::root_within(double half_width) -> CellPointer {
    constexpr double endless = std::numeric_limits<double>::infinity();
    auto cell = std::make_unique<LpCell>();
    cell->start(problem_);
    const SidesOfRows sides = sides_of(*cell->map, problem_.rows(), dim_);
    auto around = std::make_shared<BoxAround>(BoxAround{Box(dim_), cell->map, sides.tightest});
    Box& box = around->box;
    bool closed = true;
    for (int side = 0; side < box.sides(); ++side) {
        const double out = side % 2 ? 1.0 : -1.0;
        const int row = sides.tightest[side];
        if (row < 0) {
            closed = false;
            box.set(side, out * half_width, out * half_width);
            continue;
        }
        const double a = cell->map->entry(row, side / 2), b = cell->map->entry(row, dim_), bound = -b / a;
        const bool exact = std::fma(bound, a, b) == 0.0;
        box.set(side, exact ? bound : std::nextafter(bound, out * endless),
                exact ? bound : std::nextafter(bound, -out * endless));
    }
    InnerPoint middle{std::vector<double>(padded(dim_ + 1), 0.0), nullptr};
    for (int k = 0; k < dim_; ++k) middle.coordinates[k] = 0.5 * box.low()[k] + 0.5 * box.high()[k];
    middle.coordinates[dim_] = 1.0;
    for (int k = 0; k < dim_; ++k)
        if (!(box.reach()[k] <= farthest)) return nullptr;
    if (!box.clears(middle.coordinates.data())) return nullptr;

    for (const auto& [side, row] : sides.equal) cell->shared.emplace_back(side, problem_.gates + row);
    cell->around = around;
    enter(*cell);
    cell->out_of_reach.assign(static_cast<std::size_t>(box.sides()), 0);
    cell->forms = FormList(dim_);
    cell->points = InnerPoints(dim_);
    cell->points.add(middle);
    cell->table.start(box);
    try {
        for (const int row : sides.others) {
            cell->next = row;
            insert(*cell);
        }
    } catch (const FlatDomain&) {
        return nullptr;  // of this box nothing is left, but the domain may lie outside of it
    }
    if (!closed && !holds_all(*cell)) return nullptr;
    cell->enter_next_stage(problem_);
    return cell;
}

// Whether no side that only stands in for rows of the domain holds a facet: then the cell is the whole domain.
bool LpWalk::holds_all(LpCell& cell) {
    settle_bounds(cell, Sides::all);
    for (int side = 0; side < cell.box().sides(); ++side)
        if (cell.around->row[side] < 0 && known_[side] == Bound::facet) return false;
    return true;
}

}  // namespace polyfold
