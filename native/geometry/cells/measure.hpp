// Volume, centroid and covariance of bounded cells from their vertices and the facets that these lie on.
#pragma once

#include <functional>
#include <vector>

#include "geometry/base/mask.hpp"
#include "geometry/cells/vertex_places.hpp"

namespace polyfold {

struct Measure {
    double volume = 0;
    std::vector<double> centroid;
    std::vector<double> covariance;  // dim x dim: the mean of (x - centroid)(x - centroid)^T; empty if not asked for
};

using ExactVertices = std::function<const ExactVector&(int)>;

// `vertices` holds dim coordinates each; `on` the facets of each. Splits the cell into simplices with a
// common apex, face by face. What is beyond floats is infinite, or zero. `exactly` tells what the vertices are, in the
// same order, where the cell is too thin for rounded ones.
template <int Words>
Measure measure(const VertexPlaces& vertices, const std::vector<Mask<Words>>& on, int dim, bool covariance,
                const ExactVertices& exactly);

extern template Measure measure<1>(const VertexPlaces&, const std::vector<Mask<1>>&, int, bool, const ExactVertices&);
extern template Measure measure<4>(const VertexPlaces&, const std::vector<Mask<4>>&, int, bool, const ExactVertices&);
extern template Measure measure<16>(const VertexPlaces&, const std::vector<Mask<16>>&, int, bool, const ExactVertices&);
extern template Measure measure<64>(const VertexPlaces&, const std::vector<Mask<64>>&, int, bool, const ExactVertices&);

}  // namespace polyfold
