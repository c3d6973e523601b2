// Which two cells share a facet.
#pragma once

#include <vector>

#include "geometry/unfold.hpp"

namespace polyfold {

// Every inner face of dimension d - 1 bounds exactly two cells, and both know it under the same key. Fills in
// the neighbours and gives both sides of a facet the same walls.
void pair_facets(Unfolded& result, int gates, const RunOptions& options);

}  // namespace polyfold
