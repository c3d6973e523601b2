#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/lp/forms.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// Coefficients are integers in units of 2^-50, points in units of 2^-40, so that values are integers in units of 2^-90.
constexpr int coefficient_bits = 50, point_bits = 40, value_bits = coefficient_bits + point_bits;

double coefficient(std::int64_t a) {
    return std::ldexp(static_cast<double>(a), -coefficient_bits);
}
double coordinate(std::int64_t x) {
    return std::ldexp(static_cast<double>(x), -point_bits);
}

// The integer that a float is in units of 2^-90.
Wide in_units(double value) {
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    const auto integer = static_cast<Wide>(std::ldexp(mantissa, 53));
    const int shift = exponent - 53 + value_bits;
    return shift >= 0 ? integer << shift : integer >> -shift;
}
double as_float(Wide value) {
    return std::ldexp(static_cast<double>(value), -value_bits);
}

struct Case {
    int dim;
    Integers form, point;
    Wide constant;  // true, in units of 2^-90
    std::vector<double> entries, coordinates;
    double error;

    Wide value_at(const Integers& where) const { return dot(form, where) + constant; }
};

// A form that nearly vanishes at a point, and what floats know of it.
Case nearly_zero(Numbers& numbers, bool known_exactly) {
    Case made;
    made.dim = 1 + numbers.below(40);
    made.form = numbers.integers(made.dim, std::int64_t{1} << coefficient_bits);
    made.point = numbers.integers(made.dim, std::int64_t{1} << (point_bits + numbers.below(8)));
    made.entries.assign(padded(made.dim + 1), 0.0);
    made.coordinates = made.entries;
    const std::int64_t off = known_exactly ? 0 : std::int64_t{1} << numbers.below(20);
    made.error = coefficient(off);
    for (int k = 0; k < made.dim; ++k) {
        made.entries[k] = coefficient(made.form[k]);
        made.coordinates[k] = coordinate(made.point[k]);
        made.form[k] += off ? numbers.integer(off) : 0;
    }
    double constant = 0;
    for (int k = 0; k < made.dim; ++k) constant -= made.entries[k] * made.coordinates[k];
    made.entries[made.dim] = constant;
    made.coordinates[made.dim] = 1.0;
    made.constant = in_units(constant);
    return made;
}

double size_of(const Case& made, const std::vector<double>& point) {
    double size = 1;
    for (int k = 0; k < made.dim; ++k) size += std::abs(point[k]);
    return size;
}

}  // namespace

TEST_CASE("the value of a form at a point, and where one coordinate is changed") {
    Numbers numbers(50);
    int useful = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const Case made = nearly_zero(numbers, trial % 2);
        const int size = padded(made.dim + 1);
        const double value = polyfold::dot(made.entries.data(), made.coordinates.data(), size);
        const double doubt = doubt_at(made.dim, made.entries[made.dim], made.error, size_of(made, made.coordinates));
        const double off = std::abs(as_float(in_units(value) - made.value_at(made.point)));
        CHECK_LE(off, doubt);
        useful += doubt < 1e3 * (off + made.error * made.dim);

        const int k = numbers.below(made.dim);
        Integers changed = made.point;
        changed[k] = numbers.integer(std::int64_t{1} << point_bits);
        const double step = coordinate(changed[k]) - made.coordinates[k];
        const auto [beside, of_step] = doubt_beside(value, doubt, made.error);
        const double there = value + made.entries[k] * step;
        CHECK_LE(std::abs(as_float(in_units(there) - made.value_at(changed))), beside + of_step * std::abs(step));
    }
    CHECK_GT(useful, 10000);
}

TEST_CASE("one step from a value that is known") {
    // The value, the coefficient and the step are off or round as far as they may, each in turn. The unit is 2^-120.
    Numbers numbers(51);
    for (int trial = 0; trial < 20000; ++trial) {
        const int what = trial % 3;
        const std::int64_t a = (std::int64_t{1} << (coefficient_bits - 1)) + numbers.below(1 << 30);
        // From a large coordinate to a small one the step itself is off.
        const std::int64_t from = (std::int64_t{1} << 51) + numbers.integer(std::int64_t{1} << 50);
        const std::int64_t to = numbers.integer(std::int64_t{1} << 30);
        const double x = std::ldexp(static_cast<double>(from), -52), y = std::ldexp(static_cast<double>(to), -70);
        const double step = y - x, coefficient_there = coefficient(a);
        const std::int64_t off = what == 2 ? std::int64_t{1} << numbers.below(20) : 0;
        // Nothing, much more than what the step adds, or cancelled by it.
        const double value = what == 0 ? 0.0 : what == 1 ? std::ldexp(coefficient_there, 4) : -coefficient_there * step;
        const double there = value + coefficient_there * step;
        const Wide walked = static_cast<Wide>(to) - (static_cast<Wide>(from) << 18);
        const Wide truth = (in_units(value) << (120 - value_bits)) + (a + off) * walked;
        const auto [doubt, of_step] = doubt_beside(value, 0, coefficient(off));
        const Wide wrong = (in_units(there) << (120 - value_bits)) - truth;
        CHECK_LE(std::abs(std::ldexp(static_cast<double>(wrong), -120)), doubt + of_step * std::abs(step));
    }
}

TEST_CASE("nothing in a box, between rows, is more than the bound") {
    Numbers numbers(52);
    int tight = 0;
    for (int trial = 0; trial < 5000; ++trial) {
        const int dim = 1 + numbers.below(30), rows = trial % 3 ? numbers.below(std::min(dim, 6) + 1) : 0;
        // The corner where the most is reached: in some coordinates inside of the box, in the others at a side.
        Box box(dim);
        const Integers corner = numbers.integers(dim, std::int64_t{1} << point_bits);
        std::vector<int> at(dim);
        for (int k = 0; k < dim; ++k) {
            at[k] = k < rows ? 0 : 1 - 2 * numbers.below(2);
            const double x = coordinate(corner[k]), gap = coordinate(1 + numbers.below(1 << 30));
            box.set(2 * k, at[k] < 0 ? x : x - gap, at[k] < 0 ? x : x - gap);
            box.set(2 * k + 1, at[k] > 0 ? x : x + gap, at[k] > 0 ? x : x + gap);
        }
        // What the form leaves when multiples of rows that vanish there are added pulls towards the sides.
        Integers form(dim);
        for (int k = 0; k < dim; ++k) form[k] = at[k] * (numbers.integer(std::int64_t{1} << 45) / 2);
        for (int k = 0; k < dim; ++k) form[k] = at[k] * std::abs(form[k]);
        std::vector<std::vector<double>> entries;
        std::vector<double> errors, multipliers;
        for (int row = 0; row < rows; ++row) {
            const Integers a = numbers.integers(dim, std::int64_t{1} << 45);
            const std::int64_t multiplier = 1 + numbers.below(7);
            entries.emplace_back(padded(dim + 1), 0.0);
            for (int k = 0; k < dim; ++k) {
                entries.back()[k] = coefficient(a[k]);
                form[k] -= multiplier * a[k];
            }
            // Its true constant makes it vanish at the corner; floats know it up to a rounding, and all entries up to
            // an error that makes them smaller there.
            const std::int64_t off = trial % 4 ? 0 : std::int64_t{1} << numbers.below(20);
            for (int k = 0; k < dim; ++k) entries.back()[k] -= coefficient(corner[k] > 0 ? off : -off);
            entries.back()[dim] = as_float(-dot(a, corner));
            errors.push_back(coefficient(off) + rounding::unit * std::abs(entries.back()[dim]));
            multipliers.push_back(static_cast<double>(multiplier));
        }
        std::vector<double> objective(padded(dim + 1), 0.0);
        for (int k = 0; k < dim; ++k) objective[k] = coefficient(form[k]);
        objective[dim] = as_float(-dot(form, corner));
        const Wide most = dot(form, corner) + in_units(objective[dim]);

        // The form, too, may be known badly.
        const double off = trial % 5 ? 0 : coefficient(1 << numbers.below(20));
        for (int k = 0; k < dim; ++k) objective[k] -= corner[k] > 0 ? off : -off;
        for (const double sign : {1.0, -1.0}) {
            std::vector<double> signed_objective = objective;
            for (double& entry : signed_objective) entry *= sign;
            LargestInBox largest(box);
            largest.start(signed_objective.data(), sign, off);
            for (int row = 0; row < rows; ++row) largest.add(entries[row].data(), multipliers[row], errors[row]);
            CHECK_GE(largest.bound(), as_float(most));
            tight += largest.bound() - as_float(most) < 1e-6 * dim;
        }
    }
    CHECK_GT(tight, 9000);
}

TEST_CASE("rows with multipliers that prove nothing are left out") {
    Box box(1);
    box.set(0, -1, -1);
    box.set(1, 1, 1);
    const std::vector<double> form{1, -3, 0, 0}, row{-1, 0, 0, 0};
    LargestInBox largest(box);
    largest.start(form.data(), 1, 0);
    CHECK_LT(largest.bound(), -1.9);
    largest.add(row.data(), -1, rounding::unknown);
    largest.add(row.data(), 0, rounding::unknown);
    CHECK_LT(largest.bound(), -1.9);
    largest.add(row.data(), 1, 0);
    CHECK_LT(largest.bound(), -2.9);
    CHECK_GT(largest.bound(), -3.1);
    largest.add(row.data(), 1, rounding::unknown);
    CHECK_FALSE(largest.bound() < 0);
}

}  // namespace polyfold::tests
