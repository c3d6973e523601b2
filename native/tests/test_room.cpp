#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "geometry/lp/room.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

TEST_CASE("ways in the room around a point lead to the middle, and to one row alone") {
    Numbers numbers(65);
    constexpr int dim = 70, count = 9;
    for (int trial = 0; trial < 50; ++trial) {
        Box box(dim);
        for (int side = 0; side < box.sides(); ++side) box.set(side, side % 2 ? 8 : -8, side % 2 ? 8 : -8);
        FormList rows(dim);
        for (int row = 0; row < count; ++row) {
            const Integers integers = numbers.integers(dim + 1, 9);
            Form form{std::vector<double>(padded(dim + 1), 0.0), 0};
            for (int k = 0; k < dim; ++k) form.entries[k] = static_cast<double>(integers[k]) / 16;
            form.entries[dim] = 1 + numbers.below(5);
            rows.add(form, 1);
        }
        std::vector<double> point(padded(dim + 1), 0.0);
        point[dim] = 1;
        std::vector<double> values;
        const auto measure = [&] {
            values.clear();
            for (int row = 0; row < count; ++row)
                values.push_back(polyfold::dot(rows[row], point.data(), padded(dim + 1)));
        };
        Room room(box, rows);
        measure();
        double length = 0;
        for (int step = 0; step < 20; ++step) {
            REQUIRE(room.look_from(point.data(), values, 1));
            const std::vector<double> way = room.way_to_middle();
            const auto [share, whole] = room.best_share();
            for (int k = 0; k < dim; ++k) point[k] += share * way[k];
            measure();
            for (const double value : values) REQUIRE(value > 0);
            length = whole;
        }
        CHECK_LT(length, 1e-3);

        REQUIRE(room.look_from(point.data(), values, 0x1p-20));
        for (int row = 0; row < count; ++row) {
            const std::vector<double> way = room.way_to_row(row);
            for (int other = 0; other < count; ++other) {
                const double rise = polyfold::dot(rows[other], way.data(), padded(dim + 1));
                CHECK_LT(std::abs(rise - room.rise(other)), 1e-9);
                CHECK_LT(std::abs(rise + (other == row)), 1e-3);
            }
        }
    }
}

}  // namespace polyfold::tests
