// Whether the facets of an atlas belong together in pairs, by looking at its arrays alone.
#pragma once

#include <cstdint>

#include "geometry/problem/facet_arrays.hpp"

namespace polyfold {

struct PairingCount {
    std::int64_t inner = 0;    // facets that lead to a cell
    std::int64_t open = 0;     // facets behind which nobody has looked
    std::int64_t one_way = 0;  // facets whose neighbour does not lead back over the same wall
    std::int64_t wrong = 0;    // no such cell or wall, or patterns that are equal or differ in another gate
};

PairingCount count_pairing(const FacetArrays& atlas, int threads);

// How many cells do not come behind the one before them in the order of their gates, off before on: if none, no pattern
// is there twice.
std::int64_t count_disorder(std::int64_t cells, int stride, const std::uint8_t* patterns);

}  // namespace polyfold
