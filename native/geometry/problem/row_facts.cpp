#include "geometry/problem/row_facts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "geometry/exact/float_products.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// What zeros, and only these, are multiples of.
constexpr double any = rounding::unknown;

// The largest power of two that divides a number; 0 where that is no normal number.
double divisor(double value) {
    if (value == 0.0) return any;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto exponent = static_cast<int>(bits >> 52 & 0x7FF);  // of the first of 53 digits, plus 1023
    const int last = exponent - 52 + std::countr_zero(bits | std::uint64_t{1} << 52);
    return exponent == 0 || last <= 0 ? 0.0 : std::bit_cast<double>(static_cast<std::uint64_t>(last) << 52);
}

// A product of grids, or 0 where that is no ordinary number.
double product(double a, double b) {
    if (a == any || b == any) return any;
    const double grid = a * b;
    return rounding::is_ordinary(grid) ? grid : 0.0;
}

void find_grids(const Problem& problem, Stage& stage) {
    const auto width = static_cast<std::size_t>(stage.width), size = static_cast<std::size_t>(problem.dim) + 1;
    stage.grid.assign(width, any);
    for (const Block& block : stage.blocks)
        for (std::size_t j = 0; j < static_cast<std::size_t>(block.columns); ++j) {
            double source = any;
            if (block.source > 0) {
                source = problem.stages[static_cast<std::size_t>(block.source)].grid_out[j];
            } else {
                for (std::size_t k = 0; k < size; ++k) source = std::min(source, divisor(problem.frame[j * size + k]));
            }
            const double* column = block.by_column.data() + j * width;
            for (std::size_t i = 0; i < width; ++i)
                stage.grid[i] = std::min(stage.grid[i], product(divisor(column[i]), source));
        }
    for (std::size_t i = 0; i < width; ++i) stage.grid[i] = std::min(stage.grid[i], divisor(stage.bias[i]));
    for (std::size_t entry = 0; entry < stage.parameter_rows.size(); ++entry)
        stage.grid[entry / size] = std::min(stage.grid[entry / size], divisor(stage.parameter_rows[entry]));
    stage.grid_out = stage.grid;
    if (stage.slope_on.empty()) return;
    for (std::size_t i = 0; i < width; ++i)
        stage.grid_out[i] = product(stage.grid[i], std::min(divisor(stage.slope_on[i]), divisor(stage.slope_off[i])));
}

// A number for each gate that is the same for gates with the same coefficients up to a factor, and hardly ever for
// others: a sum of quotients, which do not depend on the factor; zero where there is none.
std::vector<double> wall_keys(const Stage& stage) {
    const auto width = static_cast<std::size_t>(stage.width);
    std::vector<double> first(width, 0.0), key(width, 0.0);
    const auto for_each_column = [&](auto visit) {
        double place = 0;
        for (const Block& block : stage.blocks)
            for (std::size_t j = 0; j < static_cast<std::size_t>(block.columns); ++j) {
                place = place + 0.6180339887498949 < 1 ? place + 0.6180339887498949 : place - 0.3819660112501051;
                visit(block.by_column.data() + j * width, place);
            }
    };
    for_each_column([&](const double* column, double) {
        for (std::size_t i = 0; i < width; ++i) first[i] = first[i] == 0.0 ? column[i] : first[i];
    });
    for_each_column([&](const double* column, double factor) {
        for (std::size_t i = 0; i < width; ++i) key[i] += column[i] / first[i] * factor;
    });
    for (std::size_t i = 0; i < width; ++i) {
        key[i] += stage.bias[i] / first[i];
        if (!(std::abs(key[i]) < rounding::largest)) key[i] = 0;
    }
    return key;
}

std::vector<double> coefficients(const Stage& stage, int row) {
    std::vector<double> found;
    for (const Block& block : stage.blocks)
        for (int j = 0; j < block.columns; ++j)
            found.push_back(block.by_column[static_cast<std::size_t>(j * stage.width + row)]);
    found.push_back(stage.bias[static_cast<std::size_t>(row)]);
    return found;
}

// Gates with the same coefficients up to a factor have the same wall on every cell.
void find_twins(Stage& stage) {
    const std::vector<double> key = wall_keys(stage);
    const auto key_of = [&](int row) { return key[static_cast<std::size_t>(row)]; };
    stage.twin.resize(static_cast<std::size_t>(stage.width));
    std::iota(stage.twin.begin(), stage.twin.end(), 0);
    std::vector<int> order = stage.twin;
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return key_of(a) < key_of(b) || (key_of(a) == key_of(b) && a < b); });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const int row = order[i];
        const double wanted = key_of(row);
        if (wanted == 0.0 || key_of(order[i - 1]) != wanted) continue;
        const std::vector<double> one = coefficients(stage, order[i - 1]), other = coefficients(stage, row);
        const auto entry = [](const std::vector<double>& of) {
            return [&of](int k) { return of[static_cast<std::size_t>(k)]; };
        };
        if (are_parallel(entry(one), entry(other), static_cast<int>(one.size())))
            stage.twin[static_cast<std::size_t>(row)] = stage.twin[static_cast<std::size_t>(order[i - 1])];
    }
}

// Below this share of entries that are not zero it is quicker to go from one to the next.
constexpr std::size_t sparse = 16;

void list_entries(Block& block, std::size_t width) {
    const auto is_entry = [](double value) { return value != 0.0; };
    const auto entries =
        static_cast<std::size_t>(std::count_if(block.by_column.begin(), block.by_column.end(), is_entry));
    if (sparse * entries > block.by_column.size()) return;
    block.start.assign(1, 0);
    for (std::size_t j = 0; j < static_cast<std::size_t>(block.columns); ++j) {
        for (std::size_t i = 0; i < width; ++i)
            if (is_entry(block.by_column[j * width + i])) block.rows.push_back(static_cast<int>(i));
        block.start.push_back(static_cast<int>(block.rows.size()));
    }
}

}  // namespace

void find_row_facts(Problem& problem) {
    Stage& stage = problem.stages.back();
    for (Block& block : stage.blocks) list_entries(block, static_cast<std::size_t>(stage.width));
    find_grids(problem, stage);
    if (!stage.slope_on.empty()) find_twins(stage);
}

}  // namespace polyfold
