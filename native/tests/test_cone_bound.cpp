#include <doctest/doctest.h>

#include <cmath>

#include "geometry/proof/cone_bound.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// A random cone that contains no line: rows with integer entries, the first ones of the positive orthant, turned.
std::vector<Integers> random_cone(Numbers& numbers, int coordinates) {
    std::vector<Integers> rows;
    for (int i = 0; i < coordinates; ++i) {
        rows.push_back(numbers.integers(coordinates, 2));
        rows.back()[static_cast<std::size_t>(i)] += 9;
    }
    for (int more = numbers.below(5); more > 0; --more) rows.push_back(numbers.integers(coordinates, 9));
    return rows;
}

std::vector<double> floats(const Integers& values) {
    return {values.begin(), values.end()};
}

Integers sum_of(const std::vector<Integers>& vectors) {
    Integers sum(vectors[0].size(), 0);
    for (const Integers& vector : vectors)
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += vector[k];
    return sum;
}

bool is_inside(const std::vector<Integers>& rows, const Integers& point) {
    return std::all_of(rows.begin(), rows.end(), [&](const Integers& row) { return dot(row, point) > 0; });
}

void load(ConeBound& cone, const std::vector<Integers>& rows, int coordinates, double error) {
    cone.clear(coordinates);
    for (const Integers& row : rows) std::copy(row.begin(), row.end(), cone.add_row(error));
}

}  // namespace

TEST_CASE("bounds hold at all extreme rays, and what is proved is true there") {
    Numbers numbers(1);
    const StopSignal stop;
    int enclosed = 0, proved = 0, clearly_positive = 0, missed = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const int coordinates = 2 + numbers.below(3);
        const std::vector<Integers> rows = random_cone(numbers, coordinates);
        const std::vector<Integers> rays = extreme_rays(rows, coordinates);
        if (rays.empty()) continue;
        const Integers inside = sum_of(rays), height = sum_of(rows);
        if (!is_inside(rows, inside)) continue;  // flat
        ConeBound cone(stop);
        const double error = trial % 2 ? 0x1p-40 : 0.0;
        load(cone, rows, coordinates, error);
        // A point of height about one.
        std::vector<double> middle = floats(inside);
        const double scale = 1 / static_cast<double>(dot(height, inside));
        for (double& x : middle) x *= scale;
        if (!cone.enclose(floats(height).data(), middle.data(), false)) continue;
        ++enclosed;
        for (const Integers& ray : rays) {
            const auto size = static_cast<double>(dot(height, ray));
            for (int k = 0; k < coordinates; ++k) {
                const auto index = static_cast<std::size_t>(k);
                const double here = static_cast<double>(ray[index]) / size;
                CHECK_GE(here, cone.lowest()[index] - 0x1p-50);
                CHECK_LE(here, cone.highest()[index] + 0x1p-50);
                CHECK_LE(std::abs(here), cone.reach()[index] + 0x1p-50);
            }
        }
        for (int f = 0; f < 20; ++f) {
            Integers form = numbers.integers(coordinates, 12);
            // Some vanish at a ray, where nothing can be proved.
            if (f % 4 == 0) form = rows[static_cast<std::size_t>(numbers.below(static_cast<int>(rows.size())))];
            bool positive = true, clearly = true;
            for (const Integers& ray : rays) {
                positive = positive && dot(form, ray) > 0;
                clearly = clearly && static_cast<double>(dot(form, ray)) > 1e-3 * static_cast<double>(dot(height, ray));
            }
            const bool claimed = cone.proves_positive(floats(form).data(), error);
            CHECK((positive || !claimed));
            proved += claimed;
            clearly_positive += clearly;
            missed += clearly && !claimed;
        }
    }
    CHECK_GT(enclosed, 200);
    CHECK_GT(proved, 200);
    CHECK_GT(clearly_positive, 200);
    CHECK_EQ(missed, 0);
}

TEST_CASE("a height that is not positive on the cone is refused") {
    const StopSignal stop;
    ConeBound cone(stop);
    load(cone, {{1, 0}, {0, 1}}, 2, 0.0);
    const double inside[] = {0.5, 0.5}, good[] = {1, 1}, flat[] = {1, 0}, bad[] = {2, -1};
    CHECK(cone.enclose(good, inside, false));
    CHECK_FALSE(cone.enclose(flat, inside, false));
    CHECK_FALSE(cone.enclose(bad, inside, false));
}

TEST_CASE("rows that may be turned prove less") {
    const StopSignal stop;
    ConeBound cone(stop);
    const double inside[] = {0.5, 0.5}, height[] = {1, 1}, form[] = {1, 0x1p-10};
    load(cone, {{1, 0}, {0, 1}}, 2, 0.0);
    REQUIRE(cone.enclose(height, inside, false));
    CHECK(cone.proves_positive(form, 0.0));
    CHECK_FALSE(cone.proves_positive(form, 0x1p-9));
    load(cone, {{1, 0}, {0, 1}}, 2, 0x1p-9);
    REQUIRE(cone.enclose(height, inside, false));
    CHECK_FALSE(cone.proves_positive(form, 0.0));
}

}  // namespace polyfold::tests
