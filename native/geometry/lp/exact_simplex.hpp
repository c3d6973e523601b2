// Linear programs in exact arithmetic: what decides when floats cannot.
#pragma once

#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/exact/exact_vector.hpp"

namespace polyfold {

struct ExactMaximum {
    int sign = 0;       // of the largest value of the objective over the polyhedron
    ExactVector point;  // where it is positive, a homogeneous point at which it is; otherwise empty
};

// The sign of the maximum of objective . (u, 1) over {u : row . (u, 1) >= 0 for all rows}, for which `inside` is a
// homogeneous point with positive last coordinate where all rows are positive.
ExactMaximum exact_maximum(const std::vector<const ExactVector*>& rows, const std::vector<int>& sides,
                           const ExactVector& objective, const ExactVector& inside, const StopSignal& stop);

}  // namespace polyfold
