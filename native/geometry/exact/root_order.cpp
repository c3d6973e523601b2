#include "geometry/exact/root_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

struct Root {
    double low, high;  // it lies between these
    int form;
};

Root around_root(const LineForm& form, int number) {
    const double size = std::abs(form.slope), root = -form.constant / form.slope;
    const Root anywhere{-rounding::unknown, rounding::unknown, number};
    if (!rounding::is_ordinary(size) || !(form.error < 0.5 * size) || !(std::abs(root) < rounding::largest))
        return anywhere;
    const double doubt = form.error * (1 + std::abs(root)) / (size - form.error) * (1 + 0x1p-20) +
                         rounding::bound(3) * std::abs(root) + rounding::tiny;
    return {root - doubt, root + doubt, number};
}

// The sign of the first form's root minus the second one's.
int compare(const ExactVector& one, const ExactVector& other) {
    const BigInteger &a = one.numerators[0], &b = one.numerators[1];
    const BigInteger &c = other.numerators[0], &d = other.numerators[1];
    return (a * d - b * c).sign() * a.sign() * c.sign();
}

}  // namespace

RootOrder order_of_roots(const std::vector<LineForm>& forms, const ExactForm& exact, const StopSignal& stop) {
    const int count = static_cast<int>(forms.size());
    std::vector<Root> roots;
    for (int i = 0; i < count; ++i) roots.push_back(around_root(forms[static_cast<std::size_t>(i)], i));
    std::sort(roots.begin(), roots.end(), [](const Root& a, const Root& b) { return a.low < b.low; });

    RootOrder order;
    for (const Root& root : roots) order.forms.push_back(root.form);
    const auto at = [&](std::size_t place) { return order.forms.begin() + static_cast<std::ptrdiff_t>(place); };
    for (std::size_t first = 0, last = 0; first < roots.size(); first = last) {
        stop.check();
        double reached = roots[first].high;
        for (last = first + 1; last < roots.size() && roots[last].low <= reached; ++last)
            reached = std::max(reached, roots[last].high);
        if (last - first > 1)
            std::sort(at(first), at(last), [&](int i, int j) {
                stop.check();
                const int sign = compare(exact(i), exact(j));
                return sign < 0 || (sign == 0 && i < j);
            });
        for (std::size_t place = first + 1; place <= last; ++place)
            if (place == last || compare(exact(*at(place - 1)), exact(*at(place))) != 0)
                order.start.push_back(static_cast<int>(place));
    }
    return order;
}

}  // namespace polyfold
