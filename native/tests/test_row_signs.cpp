#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/exact/rounding.hpp"
#include "geometry/exact/row_signs.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

constexpr double unit = 0x1p-30;  // of coordinates and coefficients

// A point whose last coordinate is one, and rows whose value there is the smallest that there is, positive or negative,
// though their terms are large: all that is left is one unit at the last coordinate.
struct Cancelling {
    int coordinates;
    std::vector<double> point;
    std::vector<std::vector<double>> rows;
    std::vector<int> signs;

    Cancelling(Numbers& numbers, int coordinates, int count) : coordinates(coordinates) {
        for (int k = 0; k + 1 < coordinates; ++k)
            point.push_back(static_cast<double>(numbers.integer(std::int64_t{1} << 30)) * unit);
        point.push_back(1);
        for (int i = 0; i < count; ++i) add_row(numbers);
    }

    void add_row(Numbers& numbers) {
        std::vector<double> row(point.size(), 0.0);
        for (int pair = 0; pair < 4; ++pair) {
            const auto j = static_cast<std::size_t>(numbers.below(coordinates - 1));
            const auto k = static_cast<std::size_t>(numbers.below(coordinates - 1));
            if (j == k) continue;
            const auto factor = static_cast<double>(numbers.integer(7));
            row[j] += factor * point[k];
            row[k] -= factor * point[j];
        }
        signs.push_back(numbers.below(2) ? 1 : -1);
        row.back() = signs.back() * 0x1p-70;
        rows.push_back(row);
    }
};

double norm_of(const std::vector<double>& row, double form_error) {
    double norm = 0;
    for (const double entry : row) norm += std::abs(entry) + form_error;
    return norm * (1 + 0x1p-40);
}

// How many signs are claimed and wrong if the truth is off by all that it may be: the floats that are looked at differ
// from the true ones by `form_error` and `point_error` everywhere. All bounds are multiplied by `scale`.
int wrong_signs(double form_error, double point_error, double scale, int& claimed) {
    Numbers numbers(1);
    int wrong = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const int coordinates = 3 + numbers.below(7), count = 1 + numbers.below(20);
        const Cancelling truth(numbers, coordinates, count);
        std::vector<double> forms(static_cast<std::size_t>(coordinates * count)), norm, doubt, point;
        const auto off = [&](double by) { return numbers.below(2) ? by : -by; };
        for (const double x : truth.point) point.push_back(x == 1 ? x : x + off(point_error));
        for (int i = 0; i < count; ++i) {
            const std::vector<double>& row = truth.rows[static_cast<std::size_t>(i)];
            for (int k = 0; k < coordinates; ++k)
                forms[static_cast<std::size_t>(k * count + i)] = row[static_cast<std::size_t>(k)] + off(form_error);
            norm.push_back(scale * norm_of(row, 2 * form_error));
            doubt.push_back(norm.back() * rounding::of_norm(coordinates, 0) +
                            scale * form_error * rounding::of_form(coordinates) + rounding::tiny);
        }
        std::vector<double> value(static_cast<std::size_t>(count));
        std::vector<std::int8_t> sign(static_cast<std::size_t>(count));
        RowSides sides;
        sides.clear(count);
        const bool doubtful = signs_at({forms.data(), count, coordinates}, 0, point.data(), point_error, norm.data(),
                                       doubt.data(), value.data(), sign.data(), &sides);
        CHECK_EQ(doubtful, std::count(sign.begin(), sign.end(), 0) > 0);
        // At this point and its opposite together.
        std::vector<double> points = point, values(2 * value.size());
        for (const double x : point) points.push_back(-x);
        const double errors[] = {point_error, point_error};
        RowSides all;
        RowBits in_doubt;
        all.clear(count);
        in_doubt.clear(count);
        CHECK_EQ(sides_at({forms.data(), count, coordinates}, {points.data(), errors, 2}, norm.data(), doubt.data(),
                          values.data(), all, in_doubt),
                 doubtful);
        for (std::size_t i = 0; i < value.size(); ++i) {
            CHECK_EQ(values[i], value[i]);
            CHECK_EQ(values[value.size() + i], -value[i]);
            CHECK_EQ(all.positive.has(static_cast<int>(i)), sign[i] != 0);
            CHECK_EQ(all.negative.has(static_cast<int>(i)), sign[i] != 0);
            CHECK_EQ(in_doubt.has(static_cast<int>(i)), sign[i] == 0);
        }
        for (int i = 0; i < count; ++i) {
            const auto index = static_cast<std::size_t>(i);
            CHECK_EQ(sides.positive.has(i), sign[index] > 0);
            CHECK_EQ(sides.negative.has(i), sign[index] < 0);
            claimed += sign[index] != 0;
            wrong += sign[index] * truth.signs[index] < 0;
        }
    }
    return wrong;
}

// The same for boxes around the point and one other, which lies on the far side: the point is the corner nearest to
// where the row vanishes, and on its other side.
int wrong_on_boxes(double form_error, double point_error, double width, double scale) {
    Numbers numbers(2);
    int wrong = 0;
    for (int trial = 0; trial < 8000; ++trial) {
        const int coordinates = 3 + numbers.below(7);
        const Cancelling truth(numbers, coordinates, 1);
        const int sign = truth.signs[0];
        const std::vector<double>& row = truth.rows[0];
        std::vector<double> far, near, form;
        for (int k = 0; k < coordinates; ++k) {
            const auto index = static_cast<std::size_t>(k);
            const double towards = row[index] * sign > 0 ? 1.0 : -1.0, x = truth.point[index];
            near.push_back(x == 1 ? x : x - towards * point_error);
            far.push_back(x == 1 ? x : near.back() - towards * width * static_cast<double>(numbers.below(4)));
            form.push_back(row[index] - towards * form_error * (x < 0 ? -1 : 1));
        }
        RowBox box;
        box.start(far.data(), coordinates, 0);
        box.add(near.data(), scale * point_error);
        box.finish();
        const double norm = scale * norm_of(row, 2 * form_error), error = scale * form_error;
        RowSides sides;
        sides.clear(1);
        signs_on_box({form.data(), 1, coordinates}, box, &norm, &error, sides);
        // At the point itself the sign is the other one.
        wrong += sign > 0 ? sides.negative.has(0) : sides.positive.has(0);
    }
    return wrong;
}

}  // namespace

TEST_CASE("signs at a point are right, and would not be with bounds 2^20 times closer") {
    const double errors[][2] = {{0, 0}, {0x1p-40, 0}, {0, 0x1p-40}, {0x1p-44, 0x1p-5}, {0x1p-30, 0x1p-30}};
    for (const auto& [form_error, point_error] : errors) {
        CAPTURE(form_error);
        CAPTURE(point_error);
        int claimed = 0, claimed_by_mutant = 0;
        CHECK_EQ(wrong_signs(form_error, point_error, 1, claimed), 0);
        if (point_error < 1e-3) CHECK_GT(wrong_signs(form_error, point_error, 0x1p-20, claimed_by_mutant), 0);
    }
}

TEST_CASE("signs that are clear are claimed") {
    const double point[] = {0.5, -0.25, 1.0};
    const double forms[] = {1, -1, 0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0x1p-40, -0x1p-40, -0.25};
    const double norm[] = {1, 1, 1, 1, 1}, doubt[] = {0x1p-50, 0x1p-50, 0x1p-50, 0x1p-50, 0x1p-50};
    double value[5];
    std::int8_t sign[5];
    RowSides sides;
    sides.clear(5);
    CHECK(signs_at({forms, 5, 3}, 0, point, 0, norm, doubt, value, sign, &sides));
    const std::vector<int> found(sign, sign + 5);
    CHECK_EQ(found, std::vector<int>{1, -1, 1, -1, 0});
    CHECK_EQ(value[0], 0.5);
}

TEST_CASE("signs on a box are right, and would not be with bounds 2^20 times closer") {
    const double errors[][2] = {{0, 0}, {0x1p-40, 0}, {0, 0x1p-40}};
    for (const auto& [form_error, point_error] : errors)
        for (const double width : {0.0, 0x1p-48}) {
            CAPTURE(form_error);
            CAPTURE(point_error);
            CHECK_EQ(wrong_on_boxes(form_error, point_error, width, 1), 0);
            CHECK_GT(wrong_on_boxes(form_error, point_error, width, 0x1p-20), 0);
        }
    CHECK_EQ(wrong_on_boxes(0, 0, 0x1p-4, 1), 0);  // how far the box reaches matters most
}

TEST_CASE("a box claims what is clear") {
    RowBox box;
    const double one[] = {0.25, 0.5}, other[] = {0.75, 0.5};
    box.start(one, 2, 0);
    box.add(other, 0);
    box.finish();
    CHECK_EQ(box.centre, std::vector<double>{0.5, 0.5});
    const double forms[] = {1, -1, 2, 0, 0, -1.0}, norm[] = {1, 1, 3}, error[] = {0, 0, rounding::unknown};
    RowSides sides;
    sides.clear(3);
    signs_on_box({forms, 3, 2}, box, norm, error, sides);
    CHECK_EQ(sides.positive.words()[0], 1);
    CHECK_EQ(sides.negative.words()[0], 2);
}

}  // namespace polyfold::tests
