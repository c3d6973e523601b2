#include <doctest/doctest.h>

#include <cmath>

#include "geometry/exact/linear_bound.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// Integers that are orthogonal to a vector, exactly, and small enough for floats.
Integers orthogonal_row(Numbers& numbers, const Integers& solution) {
    const auto size = static_cast<int>(solution.size());
    Integers row(solution.size(), 0);
    for (int term = 0; term < 3; ++term) {
        const int i = numbers.below(size), j = numbers.below(size);
        if (i == j) continue;
        const std::int64_t factor = numbers.integer(7);
        row[static_cast<std::size_t>(i)] += factor * solution[static_cast<std::size_t>(j)];
        row[static_cast<std::size_t>(j)] -= factor * solution[static_cast<std::size_t>(i)];
    }
    return row;
}

}  // namespace

TEST_CASE("no solution is farther from the point than the bound") {
    Numbers numbers(1);
    int bounded = 0, useful = 0;
    for (int trial = 0; trial < 6000; ++trial) {
        const int size = 2 + numbers.below(9);  // sizes known when compiling, and larger ones
        // The solution has integer coordinates in units of 2^-20; the largest one is the first.
        Integers solution = numbers.integers(size, 1 << 19);
        solution[0] = 1 << 20;
        if (trial % 4 == 0) solution.back() = numbers.integer(3);  // far away
        LinearBound bound(size);
        const double doubt = trial % 2 ? std::ldexp(1.0, -numbers.below(40)) : 0.0;
        const int rows = size - 1 + numbers.below(3);
        for (int r = 0; r < rows; ++r) {
            const Integers row = orthogonal_row(numbers, solution);
            double* out = bound.add_row(doubt);
            for (int k = 0; k < size; ++k)
                out[k] = static_cast<double>(row[static_cast<std::size_t>(k)]) + doubt * numbers.unit() * (1 - 0x1p-30);
        }
        std::vector<double> point;
        const double off = trial % 3 ? std::ldexp(1.0, -numbers.below(50)) : 0.0;
        for (const std::int64_t x : solution)
            point.push_back(std::ldexp(static_cast<double>(x), -20) + off * numbers.unit() / 4);
        point[0] = 1.0;
        const LinearBound::Bound found = bound.error(point.data());
        double farthest = 0;
        for (int k = 0; k < size; ++k) {
            const auto index = static_cast<std::size_t>(k);
            const double distance = std::abs(std::ldexp(static_cast<double>(solution[index]), -20) - point[index]);
            CHECK_LE(distance, found.all);
            if (k == size - 1) CHECK_LE(distance, found.last);
            farthest = std::max(farthest, distance);
        }
        CHECK_LE(found.last, found.all);
        bounded += std::isfinite(found.all);
        useful += found.all < 1e3 * (farthest + doubt) + 1e-9;
    }
    // It is no proof of anything to say "unknown" every time.
    CHECK_GT(bounded, 2500);
    CHECK_GT(useful, 1500);
}

TEST_CASE("too few and dependent equations have no bound") {
    const double point[] = {1.0, 0.5, 0.25};
    LinearBound bound(3);
    CHECK(std::isinf(bound.error(point).all));
    double* row = bound.add_row(0);
    row[0] = 1, row[1] = -2;
    CHECK(std::isinf(bound.error(point).all));
    row = bound.add_row(0);
    row[0] = -3, row[1] = 6;
    CHECK(std::isinf(bound.error(point).all));
    CHECK(std::isinf(bound.error(point).last));
    row = bound.add_row(0);
    row[0] = 1, row[2] = -4;
    CHECK_LT(bound.error(point).all, 1e-14);
    bound.clear();
    CHECK(std::isinf(bound.error(point).all));
}

TEST_CASE("equations that are hardly known have no bound") {
    const double point[] = {1.0, 0.5};
    LinearBound bound(2);
    double* row = bound.add_row(3.0);
    row[0] = 1, row[1] = -2;
    CHECK(std::isinf(bound.error(point).all));
}

}  // namespace polyfold::tests
