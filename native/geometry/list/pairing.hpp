// Which two cells share a facet.
#pragma once

#include "geometry/cells/cell_block.hpp"
#include "geometry/walk/run.hpp"

namespace polyfold {

// Every inner face of dimension d - 1 bounds exactly two cells, and both know it under the same key. Fills in the
// neighbours that are not known yet and gives both sides of a facet the same walls. If cells are missing, faces may
// bound one only.
void pair_facets(CellBlock& cells, int gates, bool complete, const RunOptions& options);

}  // namespace polyfold
