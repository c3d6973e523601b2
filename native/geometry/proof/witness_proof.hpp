// Whether witnesses lie in their cells, proved by a forward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/problem/problem.hpp"

namespace polyfold {

// For each cell, whether floats prove that its witness (dim numbers) lies strictly inside the domain and strictly
// inside the cell: a plain forward pass with error bounds, gate by gate.
std::vector<std::uint8_t> prove_witnesses(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                          const double* witnesses, int threads);

}  // namespace polyfold
