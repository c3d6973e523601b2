// All cells of a problem, by as many threads as are wanted; the order of cells does not depend on them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "geometry/cells/cell_block.hpp"
#include "geometry/list/measure_walk.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/walk/cell_walk.hpp"
#include "geometry/walk/lp_walk.hpp"
#include "geometry/walk/run.hpp"

namespace polyfold {

enum class Method {
    generators,  // cells with all their vertices and rays: any domain
    programs,    // cells by linear programs: domains that LpWalk accepts, for high dimension
};

// What a search has found. It is an atlas only once it has been put together.
struct Found {
    std::vector<CellBlock> blocks;  // in the tree's order, as the threads left them
    CellBlock cells;                // all of them in one, and with their neighbours once they are put together
    bool in_one_block = false;
    bool complete = false;  // before that: whether the search came to its end
};

Found find_cells(const Problem& problem, Method method, const RunOptions& options);

// Join the blocks with the cells that were known, keep no more than are wanted, and pair their facets: a good part of a
// second for a million cells. Throws Stopped where that is not wanted any more; it can then be called again.
void put_together(Found& found, const Problem& problem, const RunOptions& options);

struct Counted {
    std::int64_t cells = 0;
    bool complete = false;
};

// Only how many cells there are. Limits on their number are not looked at.
Counted count_cells(const Problem& problem, Method method, const RunOptions& options);

// How cells that are named are looked at: by how many threads, and whether anybody still waits (Stopped if not).
struct LookOptions {
    int threads = 1;
    std::function<bool()> still_wanted;
};

// Generators of the selected cells, in the selection's order. Throws Contradiction where a pattern is no
// cell. What is found does not depend on the number of threads.
GeneratorBlock trace(const Problem& problem, const Selection& selection, const LookOptions& options);

// What the selected cells measure, in the same way.
MeasureBlock measure_selected(const Problem& problem, const Selection& selection, bool covariance,
                              const LookOptions& options);

// Numbers of faces of dimension 0, 1, ..., dim of the whole complex; faces at infinity do not count. Empty if the run
// was stopped.
std::vector<std::int64_t> count_faces(const Problem& problem, const RunOptions& options);

}  // namespace polyfold
