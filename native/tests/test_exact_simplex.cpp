#include <doctest/doctest.h>

#include "geometry/lp/exact_simplex.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

ExactMaximum maximum(const std::vector<Integers>& rows, const Integers& objective, const Integers& inside,
                     const StopSignal& stop) {
    std::vector<ExactVector> forms;
    for (const Integers& row : rows) forms.push_back(exact(row));
    std::vector<const ExactVector*> pointers;
    std::vector<int> sides;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        // Half of them are given with the other sign, and the side that undoes it.
        sides.push_back(i % 2 ? -1 : 1);
        if (i % 2)
            for (auto& entry : forms[i].numerators) entry.negate();
        pointers.push_back(&forms[i]);
    }
    return exact_maximum(pointers, sides, exact(objective), exact(inside), stop);
}

}  // namespace

TEST_CASE("the sign of the maximum is that over all vertices and rays") {
    Numbers numbers(1);
    const StopSignal stop;
    int signs[3] = {};
    for (int trial = 0; trial < 1500; ++trial) {
        const int dim = 1 + numbers.below(3);
        std::vector<Integers> rows;
        // A quadrant, or a box; there is no line in it.
        for (int k = 0; k < dim; ++k)
            for (const int side : {1, -1}) {
                if (side < 0 && trial % 2) continue;
                Integers row(static_cast<std::size_t>(dim) + 1, 0);
                row[static_cast<std::size_t>(k)] = side;
                row.back() = 4;
                rows.push_back(row);
            }
        // Further rows that keep the origin inside, many of them through one point.
        const Integers corner = numbers.integers(dim, 4);
        for (int more = numbers.below(4); more > 0; --more) {
            Integers row = numbers.integers(dim, 5);
            std::int64_t there = 0;
            for (std::size_t k = 0; k < corner.size(); ++k) there += row[k] * corner[k];
            row.push_back(there < 0 ? -there : 1 + numbers.below(9));
            rows.push_back(row);
        }
        Integers inside(static_cast<std::size_t>(dim), 0);
        inside.push_back(1 + numbers.below(3));
        Integers objective = numbers.integers(dim, 6);
        objective.push_back(-numbers.below(25));
        // A third of the objectives just touch: minus a row, or a row turned round at a vertex.
        if (trial % 3 == 0) {
            objective = rows[static_cast<std::size_t>(numbers.below(static_cast<int>(rows.size())))];
            for (auto& entry : objective) entry = -entry;
        }

        std::vector<Integers> cone = rows;
        cone.emplace_back(static_cast<std::size_t>(dim), 0);
        cone.back().push_back(1);
        int expected = -1;
        for (const Integers& ray : extreme_rays(cone, dim + 1)) {
            const int sign = sign_of(dot(objective, ray));
            if (sign > 0) expected = 1;
            if (sign == 0 && ray.back() > 0) expected = std::max(expected, 0);
        }

        const ExactMaximum found = maximum(rows, objective, inside, stop);
        CHECK_EQ(found.sign, expected);
        ++signs[expected + 1];
        if (found.sign <= 0) {
            CHECK(found.point.numerators.empty());
            continue;
        }
        CHECK_GT(found.point.numerators.back().sign(), 0);
        CHECK_GT(sign_of_product(exact(objective), found.point), 0);
        for (const Integers& row : rows) CHECK_GE(sign_of_product(exact(row), found.point), 0);
    }
    for (const int count : signs) CHECK_GT(count, 100);
}

TEST_CASE("a maximum that is positive by one part in 2^100") {
    // 2^50 u <= 1 and u >= -1: the largest u is 2^-50, and 2^50 (2^50 u) - 2^50 + 1 is positive there by one.
    const std::int64_t large = std::int64_t{1} << 50;
    const StopSignal stop;
    const std::vector<Integers> rows = {{-large, 1}, {1, 1}};
    CHECK_EQ(maximum(rows, {large, -1}, {0, 1}, stop).sign, 0);
    ExactVector objective = exact({large, -1});
    for (auto& entry : objective.numerators) entry.shift_left(50);
    objective.numerators[1] += BigInteger(1);
    const ExactVector forms[] = {exact(rows[0]), exact(rows[1])};
    CHECK_EQ(exact_maximum({&forms[0], &forms[1]}, {1, 1}, objective, exact({0, 1}), stop).sign, 1);
    objective.numerators[1] -= BigInteger(2);
    CHECK_EQ(exact_maximum({&forms[0], &forms[1]}, {1, 1}, objective, exact({0, 1}), stop).sign, -1);
}

TEST_CASE("a signal ends it") {
    StopSignal stop;
    stop.raise();
    CHECK_THROWS_AS(maximum({{1, 1}, {-1, 1}}, {1, -2}, {0, 1}, stop), Stopped);
}

}  // namespace polyfold::tests
