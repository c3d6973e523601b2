#include <doctest/doctest.h>

#include <cmath>

#include "geometry/base/errors.hpp"
#include "geometry/exact/exact_vector.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

double entry(const ExactVector& vector, std::size_t k) {
    const auto [mantissa, exponent] = vector.numerators[k].to_float();
    return std::ldexp(mantissa, static_cast<int>(exponent + vector.exponent));
}

double any_float(Numbers& numbers) {
    switch (numbers.below(5)) {
        case 0:
            return 0.0;
        case 1:
            return std::ldexp(numbers.unit(), -1060);  // without all its digits
        case 2:
            return std::ldexp(numbers.unit(), 1000);
        default:
            return numbers.unit();
    }
}

}  // namespace

TEST_CASE("floats of any size survive") {
    Numbers numbers(1);
    for (int trial = 0; trial < 2000; ++trial) {
        double values[4];
        for (double& value : values) value = any_float(numbers);
        const ExactVector vector = ExactVector::from_floats(values, 4);
        for (std::size_t k = 0; k < 4; ++k) CHECK_EQ(entry(vector, k), values[k]);
        CHECK_EQ(vector.is_zero(), !values[0] && !values[1] && !values[2] && !values[3]);
    }
}

TEST_CASE("sums of products are those of 128-bit integers") {
    Numbers numbers(2);
    for (int trial = 0; trial < 2000; ++trial) {
        constexpr int size = 3;
        ExactSum sum(size);
        Wide expected[size] = {};  // in units of 2^-40
        for (int term = 0; term < 6; ++term) {
            const std::int64_t factor = numbers.integer(1 << 20);
            double values[size];
            for (int k = 0; k < size; ++k) {
                const std::int64_t value = numbers.integer(std::int64_t{1} << 45);
                values[k] = std::ldexp(static_cast<double>(value), -20);
                expected[k] += static_cast<Wide>(factor) * value;
            }
            sum.add(std::ldexp(static_cast<double>(factor), -20), ExactVector::from_floats(values, size));
        }
        const std::int64_t more = numbers.integer(1000);
        sum.add_entry(1, static_cast<double>(more));
        expected[1] += static_cast<Wide>(more) << 40;
        const ExactVector total = sum.total();
        for (std::size_t k = 0; k < size; ++k) {
            CHECK_EQ(total.numerators[k].sign(), sign_of(expected[k]));
            CHECK_EQ(entry(total, k), std::ldexp(static_cast<double>(expected[k]), -40));
        }
    }
}

TEST_CASE("signs of products that all but cancel") {
    Numbers numbers(3);
    for (int trial = 0; trial < 5000; ++trial) {
        const Integers a = numbers.integers(4, std::int64_t{1} << 50);
        Integers b = numbers.integers(4, std::int64_t{1} << 50);
        // Orthogonal, and then one off or not.
        b = {a[1], -a[0], a[3], -a[2]};
        b[static_cast<std::size_t>(numbers.below(4))] += numbers.integer(1);
        CHECK_EQ(sign_of_product(exact(a), exact(b)), sign_of(dot(a, b)));
    }
}

TEST_CASE("determinants are sums over permutations") {
    Numbers numbers(4);
    for (int trial = 0; trial < 600; ++trial) {
        const int size = 1 + numbers.below(5);
        std::vector<Integers> rows;
        std::vector<ExactVector> vectors;
        for (int i = 0; i < size; ++i) {
            // A third of them have dependent rows.
            rows.push_back(i > 0 && trial % 3 == 0 ? rows[0] : numbers.integers(size, 1 << 16));
            vectors.push_back(exact(rows.back()));
        }
        const Wide expected = determinant(rows);
        const auto [mantissa, exponent] = size_of_determinant(vectors);
        CHECK_EQ(std::ldexp(mantissa, static_cast<int>(exponent)), std::abs(static_cast<double>(expected)));
    }
}

TEST_CASE("a null vector is a multiple of the cross product") {
    Numbers numbers(5);
    for (int trial = 0; trial < 1000; ++trial) {
        const int size = 2 + numbers.below(4);
        std::vector<Integers> rows;
        for (int i = 0; i + 1 < size; ++i) rows.push_back(numbers.integers(size, trial % 2 ? 2 : 1 << 16));
        const std::vector<Wide> expected = cross_product(rows);
        std::vector<ExactVector> vectors;
        for (const Integers& row : rows) vectors.push_back(exact(row));
        // One row more that depends on the others changes nothing.
        if (trial % 3 == 0) vectors.push_back(exact(rows[0]));
        bool dependent = true;
        for (const Wide value : expected) dependent = dependent && value == 0;
        if (dependent) {
            CHECK_THROWS_AS(null_vector(vectors, size), Contradiction);
            continue;
        }
        const ExactVector found = null_vector(vectors, size);
        CHECK_FALSE(found.is_zero());
        for (const Integers& row : rows) CHECK_EQ(sign_of_product(found, exact(row)), 0);
        int side = 0;
        for (std::size_t k = 0; k < expected.size(); ++k) {
            const int one = found.numerators[k].sign(), other = sign_of(expected[k]);
            CHECK_EQ(one == 0, other == 0);
            if (side == 0) side = one * other;
            if (one != 0) CHECK_EQ(one * other, side);
        }
    }
}

}  // namespace polyfold::tests
