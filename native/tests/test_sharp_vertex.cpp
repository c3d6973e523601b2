// Vertices to twice the digits of floats, and the volumes of simple cells, against exact numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "geometry/cells/sharp_vertex.hpp"
#include "geometry/cells/vertex_places.hpp"
#include "geometry/exact/twofold.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

ExactVector exact_entry(double value) {
    return ExactVector::from_floats(&value, 1);
}

// Whether |high + low - true| <= bound, exactly.
bool is_within(double high, double low, const ExactSum& exact, double bound) {
    const auto side = [&](double sign) {
        ExactSum distance(1);
        distance.add(1.0, exact_entry(bound));
        distance.add(sign, exact_entry(high));
        distance.add(sign, exact_entry(low));
        distance.add(-sign, exact.total());
        const ExactVector total = distance.total();
        return total.numerators[0].sign() >= 0;
    };
    return side(1) && side(-1);
}

// Sums of random products of which large ones cancel, and how many of them are farther off than their bound times a
// factor.
int sums_beyond_bound(double factor) {
    Numbers numbers(1);
    int beyond = 0;
    for (int trial = 0; trial < 400; ++trial) {
        TwofoldSum sum(1);
        ExactSum exact(1);
        std::vector<double> weights, values, lows;
        const int terms = 2 + numbers.below(40);
        for (int i = 0; i < terms; ++i) {
            weights.push_back(std::ldexp(numbers.unit(), numbers.below(30)));
            values.push_back(std::ldexp(numbers.unit(), numbers.below(30)));
            lows.push_back(numbers.unit() * values.back() * 0x1p-52);
        }
        for (int half = 0; half < 2; ++half)
            for (int i = 0; i < terms; ++i) {
                // The second half takes nearly all of the first off again.
                const double weight = half ? -weights[i] : weights[i];
                const double value = half ? values[i] * (1 + 0x1p-40 * numbers.unit()) : values[i];
                sum.add(weight, &value, &lows[i], 0.0);
                exact.add(weight, exact_entry(value));
                exact.add(weight, exact_entry(lows[i]));
            }
        const TwofoldForm form = sum.total();
        beyond += !is_within(form.high[0], form.low[0], exact, form.error * factor);
    }
    return beyond;
}

// Walls of integers that nearly depend on each other.
std::vector<ExactVector> walls(Numbers& numbers, int dim, int likeness, std::vector<TwofoldForm>& forms) {
    std::vector<ExactVector> rows;
    std::vector<std::vector<double>> entries;
    for (int i = 0; i < dim; ++i) {
        std::vector<double> row;
        for (int k = 0; k <= dim; ++k) {
            const double fresh = static_cast<double>(numbers.integer(1 << 20));
            row.push_back(i == 0 ? fresh : entries[0][k] + std::ldexp(fresh, -likeness));
        }
        entries.push_back(row);
        rows.push_back(ExactVector::from_floats(row.data(), dim + 1));
        TwofoldSum sum(dim + 1);
        sum.add(1.0, row.data(), nullptr, 0.0);
        forms.push_back(sum.total());
    }
    return rows;
}

}  // namespace

TEST_CASE("a twofold sum is off by no more than it says, also where it cancels") {
    CHECK_EQ(sums_beyond_bound(1), 0);
    CHECK_GT(sums_beyond_bound(0x1p-20), 0);
}

TEST_CASE("sharp vertices are those of the exact equations, rounded") {
    Numbers numbers(2);
    int found = 0, equal = 0, coordinates = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const int dim = 2 + numbers.below(5), likeness = numbers.below(30);
        std::vector<TwofoldForm> forms;
        const ExactVector exact = null_vector(walls(numbers, dim, likeness, forms), dim + 1);
        if (exact.numerators[dim].is_zero()) continue;
        const std::vector<double> truth = place_of(exact).rounded();
        SharpVertex vertex(dim);
        for (int i = 0; i < dim; ++i) vertex.set_wall(i, forms[i]);
        std::vector<double> place = truth;
        for (double& x : place) x *= 1 + 0x1p-20 * numbers.unit();
        if (!vertex.find(place.data())) continue;
        ++found;
        for (int k = 0; k < dim; ++k) {
            ++coordinates;
            equal += place[k] == truth[k];
            const double away = place[k] < truth[k] ? 1 : -1;
            CHECK((place[k] == truth[k] || std::nextafter(place[k], away * HUGE_VAL) == truth[k]));
        }
    }
    CHECK_GT(found, 400);
    CHECK_GT(equal, coordinates * 9 / 10);
}

TEST_CASE("walls whose errors are unknown, or that do not meet in a point, give no sharp vertex") {
    std::vector<TwofoldForm> forms{{{1, 0, -1}, {0, 0, 0}, 0}, {{0, 1, -1}, {0, 0, 0}, 0}};
    const auto found = [&] {
        SharpVertex vertex(2);
        vertex.set_wall(0, forms[0]);
        vertex.set_wall(1, forms[1]);
        std::vector<double> place{1 + 0x1p-30, 1 - 0x1p-30};
        return vertex.find(place.data()) && place[0] == 1 && place[1] == 1;
    };
    CHECK(found());
    forms[1].error = 0x1p-50;  // as if the vertex were known in floats only
    CHECK_FALSE(found());
    forms[1].error = rounding::unknown;
    CHECK_FALSE(found());
    forms[1] = forms[0];
    CHECK_FALSE(found());
}

}  // namespace polyfold::tests
