// The roots of many affine forms in one variable, in their order.
#pragma once

#include <functional>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/exact/exact_vector.hpp"

namespace polyfold {

// A form a u + b whose slope a is not zero; both are known up to `error`.
struct LineForm {
    double slope, constant, error;
};

// The numbers of the forms by their roots, those with the same root by their numbers; `start` says where each root's
// forms begin, and has their count behind the last.
struct RootOrder {
    std::vector<int> forms, start{0};

    int roots() const { return static_cast<int>(start.size()) - 1; }
};

// The form with this number as it is, as the vector (a, b).
using ExactForm = std::function<const ExactVector&(int form)>;

// By intervals around the roots where these do not overlap, and by the forms as they are where they do. See
// decision 49.
RootOrder order_of_roots(const std::vector<LineForm>& forms, const ExactForm& exact, const StopSignal& stop);

}  // namespace polyfold
