// Which of the cells listed holds a point, proved by a forward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/problem/problem.hpp"

namespace polyfold {

// What is said of a point in place of a cell: that its pattern is proved and not listed, or that floats cannot tell.
inline constexpr std::int64_t not_listed = -1;
inline constexpr std::int64_t unsure = -2;

// The cell of every point (dim numbers each), by the patterns of so many cells. A cell that is named is proved: the
// point lies strictly inside the domain, and no gate is zero there. Of equal patterns the first one is meant.
std::vector<std::int64_t> place_points(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                       std::int64_t points, const double* coordinates, int threads);

}  // namespace polyfold
