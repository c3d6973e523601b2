#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

TEST_CASE("the unit is what one operation loses") {
    CHECK_EQ(rounding::unit, std::numeric_limits<double>::epsilon() / 2);
    CHECK_EQ(1 + rounding::unit, 1);
    CHECK_GT(1 + rounding::unit * (1 + 0x1p-30), 1);
}

TEST_CASE("a scalar product is off by less than its bound") {
    // Exactly, in units of 2^-60: factors have 30 binary digits behind the point.
    Numbers numbers(1);
    double worst = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const int terms = 1 + numbers.below(60);
        Wide exact_sum = 0;
        double sum = 0, size = 0;
        for (int k = 0; k < terms; ++k) {
            // The later terms nearly cancel the first ones.
            const std::int64_t a = numbers.integer(std::int64_t{1} << 31), b = numbers.integer(std::int64_t{1} << 29);
            exact_sum += static_cast<Wide>(a) * b;
            const double product = std::ldexp(static_cast<double>(a), -30) * std::ldexp(static_cast<double>(b), -30);
            sum += product;
            size += std::abs(product);
        }
        // What is left of the exact sum is far below 2^64 units times the bound.
        const Wide computed = static_cast<Wide>(std::ldexp(sum, 60));
        const double off = std::ldexp(std::abs(static_cast<double>(exact_sum - computed)), -60);
        CHECK_LE(off, rounding::bound(terms) * size);
        if (size > 0) worst = std::max(worst, off / (rounding::bound(terms) * size));
    }
    CHECK_GT(worst, 0.01);  // rounding did happen
}

TEST_CASE("the bound of n roundings covers their product") {
    for (int n = 1; n < 4000; n = n * 3 / 2 + 1) {
        const long double relative = std::expm1(n * std::log1p(static_cast<long double>(rounding::unit)));
        CHECK_GE(static_cast<long double>(rounding::bound(n)), relative);
        CHECK_GE(rounding::bound(n + 1), rounding::bound(n));
    }
}

TEST_CASE("the constants are in order") {
    CHECK_GT(rounding::least, 0);
    CHECK_GT(rounding::underflow, rounding::least);
    CHECK_GT(rounding::tiny, rounding::underflow);
    CHECK_GT(rounding::tiny, std::numeric_limits<double>::min() * 0x1p53);
    CHECK(std::isfinite(rounding::largest * 0x1p20));
    CHECK(std::isfinite(rounding::largest_factor * rounding::largest_factor));
    CHECK(std::isinf(rounding::unknown));
    for (const double size : {0x1p-899, 1.0, 0x1p899}) {
        CHECK(rounding::is_ordinary(size));
        CHECK(std::isnormal(1 / size));
    }
    for (const double size : {0.0, 0x1p-1000, 0x1p1000, rounding::unknown, std::nan("")})
        CHECK_FALSE(rounding::is_ordinary(size));
}

}  // namespace polyfold::tests
