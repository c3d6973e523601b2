// All cells of a problem, by as many threads as are wanted; the order of cells does not depend on them.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/cell_block.hpp"
#include "geometry/cell_walk.hpp"
#include "geometry/lp_walk.hpp"
#include "geometry/measure.hpp"
#include "geometry/problem.hpp"
#include "geometry/run.hpp"

namespace polyfold {

enum class Method {
    generators,  // cells with all their vertices and rays: any domain
    programs,    // cells by linear programs: domains that LpWalk accepts, for high dimension
};

struct Unfolded {
    CellBlock cells;
    bool complete = false;
};

Unfolded unfold(const Problem& problem, Method method, const RunOptions& options);

struct Counted {
    std::int64_t cells = 0;
    bool complete = false;
};

// Only how many cells there are. Limits on their number are not looked at.
Counted count_cells(const Problem& problem, Method method, const RunOptions& options);

// Generators of the selected cells, in the selection's order. Throws std::out_of_range where a pattern is no
// cell.
GeneratorBlock trace(const Problem& problem, const Selection& selection);

// Volumes and centroids of the selected cells; an unbounded one has an infinite volume and no centroid.
std::vector<Measure> measure_selected(const Problem& problem, const Selection& selection, bool covariance);

// Numbers of faces of dimension 0, 1, ..., dim of the whole complex; faces at infinity do not count. Empty if the run
// was stopped.
std::vector<std::int64_t> count_faces(const Problem& problem, const RunOptions& options);

}  // namespace polyfold
