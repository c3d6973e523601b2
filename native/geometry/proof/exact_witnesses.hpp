// Whether witnesses lie in their cells, proved by integers where floats cannot tell.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/problem/problem.hpp"

namespace polyfold {

// For each cell, whether its witness (dim numbers, taken as they are) lies strictly inside the domain and strictly
// inside the cell: every gate has its sign there, or vanishes on the whole cell and is off. Each cell takes as long as
// its affine forms do, so they are best looked at in the order of the tree, and only those of which prove_witnesses
// knows nothing.
std::vector<std::uint8_t> prove_witnesses_exactly(const Problem& problem, std::int64_t cells,
                                                  const std::uint8_t* patterns, const double* witnesses, int threads);

}  // namespace polyfold
