// Looking a finished result over by other means than those that made it.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/problem/problem.hpp"

namespace polyfold {

// The arrays of an atlas, as far as facets are concerned.
struct FacetArrays {
    std::int64_t cells = 0;
    int gates = 0, rows = 0, stride = 0;
    const std::uint8_t* patterns = nullptr;  // stride bytes a cell
    const std::int64_t* facet_start = nullptr;
    const std::int32_t* facet_wall = nullptr;
    const std::int32_t* neighbour = nullptr;
    std::int64_t shared = 0;
    const std::int64_t* shared_facet = nullptr;  // ascending
    const std::int32_t* shared_wall = nullptr;
};

struct PairingCount {
    std::int64_t inner = 0;    // facets that lead to a cell
    std::int64_t open = 0;     // facets behind which nobody has looked
    std::int64_t one_way = 0;  // facets whose neighbour does not lead back over the same wall
    std::int64_t wrong = 0;    // no such cell or wall, or patterns that are equal or differ in another gate
};

PairingCount count_pairing(const FacetArrays& atlas, int threads);

// For each cell, whether floats prove that its witness (dim numbers) lies strictly inside the domain and strictly
// inside the cell: a plain forward pass with error bounds, gate by gate.
std::vector<std::uint8_t> prove_witnesses(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                          const double* witnesses, int threads);

// How many cells do not come behind the one before them in the order of their gates, off before on: if none, no pattern
// is there twice.
std::int64_t count_disorder(std::int64_t cells, int stride, const std::uint8_t* patterns);

}  // namespace polyfold
