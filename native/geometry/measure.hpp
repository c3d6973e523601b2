// Volume, centroid and covariance of a bounded cell from its vertices and the facets that they lie on.
#pragma once

#include <vector>

#include "geometry/mask.hpp"

namespace polyfold {

struct Measure {
    double volume = 0;
    std::vector<double> centroid;
    std::vector<double> covariance;  // dim x dim: the mean of (x - centroid)(x - centroid)^T; empty if not asked for
};

// `vertices` holds dim coordinates each; `on` the facets of each. Splits the cell into simplices with a
// common apex, face by face.
template <int Words>
Measure measure(const std::vector<double>& vertices, const std::vector<Mask<Words>>& on, int dim, bool covariance);

extern template Measure measure<1>(const std::vector<double>&, const std::vector<Mask<1>>&, int, bool);
extern template Measure measure<4>(const std::vector<double>&, const std::vector<Mask<4>>&, int, bool);
extern template Measure measure<16>(const std::vector<double>&, const std::vector<Mask<16>>&, int, bool);
extern template Measure measure<64>(const std::vector<double>&, const std::vector<Mask<64>>&, int, bool);

}  // namespace polyfold
