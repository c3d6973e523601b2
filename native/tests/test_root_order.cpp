#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/exact/root_order.hpp"
#include "geometry/exact/rounding.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

using Form = std::vector<std::int64_t>;  // a, b

// The sign of the first root minus the second one.
int compare(const Form& one, const Form& other) {
    return sign_of(static_cast<Wide>(one[0]) * other[1] - static_cast<Wide>(one[1]) * other[0]) * sign_of(one[0]) *
           sign_of(other[0]);
}

// Forms whose roots nearly meet, or do: a (u - p) + b for small b, times 2^20.
std::vector<Form> nearly_meeting(Numbers& numbers, int count) {
    std::vector<Form> forms;
    const std::int64_t place = numbers.integer(std::int64_t{1} << 25);
    for (int i = 0; i < count; ++i) {
        const std::int64_t slope = (1 + numbers.below(1 << 20)) * (numbers.below(2) ? 1 : -1);
        forms.push_back({slope << 20, -slope * place + numbers.integer(2)});
    }
    return forms;
}

// How many neighbours come in the wrong order, or together or apart where they should not be. The floats that are
// looked at differ from the true forms by `error`, of which only the part `scale` is told.
int wrong_places(double error, double scale) {
    Numbers numbers(1);
    const StopSignal stop;
    int wrong = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const std::vector<Form> truth = nearly_meeting(numbers, 2 + numbers.below(40));
        std::vector<LineForm> forms;
        std::vector<ExactVector> exact_forms;
        for (const Form& form : truth) {
            const auto off = [&] { return numbers.below(2) ? error : -error; };
            forms.push_back(
                {static_cast<double>(form[0]) + off(), static_cast<double>(form[1]) + off(), scale * error});
            exact_forms.push_back(exact(form));
        }
        const auto exact_form = [&](int i) -> const ExactVector& { return exact_forms[static_cast<std::size_t>(i)]; };
        const RootOrder order = order_of_roots(forms, exact_form, stop);
        CHECK_EQ(order.forms.size(), truth.size());
        CHECK_EQ(order.start.back(), static_cast<int>(truth.size()));
        for (std::size_t at = 1; at < truth.size(); ++at) {
            const int i = order.forms[at - 1], j = order.forms[at];
            const int sign = compare(truth[static_cast<std::size_t>(i)], truth[static_cast<std::size_t>(j)]);
            const bool apart = std::binary_search(order.start.begin(), order.start.end(), static_cast<int>(at));
            wrong += apart ? sign >= 0 : (sign != 0 || i > j);
        }
    }
    return wrong;
}

}  // namespace

TEST_CASE("roots come in their order, and would not with bounds 2^20 times closer") {
    for (const double error : {0.0, 0.5, 1024.0}) {
        CAPTURE(error);
        CHECK_EQ(wrong_places(error, 1), 0);
        if (error > 0) CHECK_GT(wrong_places(error, 0x1p-20), 0);
    }
}

TEST_CASE("roots that are clearly apart need no exact forms") {
    std::vector<LineForm> forms;
    for (int i = 0; i < 100; ++i) forms.push_back({i % 2 ? 1.0 : -2.0, (i * 37 % 100) * (i % 2 ? 1.0 : -2.0), 0x1p-40});
    const RootOrder order =
        order_of_roots(forms, [](int) -> const ExactVector& { throw std::logic_error("not needed"); }, StopSignal());
    CHECK_EQ(order.roots(), 100);
    for (std::size_t at = 0; at < 100; ++at) CHECK_EQ(order.forms[at] * 37 % 100, 99 - static_cast<int>(at));
}

TEST_CASE("forms that floats cannot hold are put in order as they are") {
    // Slopes and constants whose quotients are beyond floats, or whose floats know nothing.
    const std::vector<LineForm> forms = {{0, 0, rounding::unknown}, {0x1p-1000, 0x1p100, 0}, {1, 0, 2}, {1, -3, 0}};
    const std::vector<ExactVector> exact_forms = {exact({1, -1}), exact({1, std::int64_t{1} << 60}), exact({-1, 2}),
                                                  exact({1, -3})};
    const RootOrder order = order_of_roots(
        forms, [&](int i) -> const ExactVector& { return exact_forms[static_cast<std::size_t>(i)]; }, StopSignal());
    CHECK_EQ(order.forms, std::vector<int>{1, 0, 2, 3});
    CHECK_EQ(order.start, std::vector<int>{0, 1, 2, 3, 4});
    CHECK_EQ(order_of_roots({}, {}, StopSignal()).roots(), 0);
}

}  // namespace polyfold::tests
