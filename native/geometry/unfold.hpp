// All cells of a problem, by as many threads as are wanted; the order of cells does not depend on them.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "geometry/cell_block.hpp"
#include "geometry/cell_walk.hpp"
#include "geometry/lp_walk.hpp"
#include "geometry/measure.hpp"
#include "geometry/problem.hpp"

namespace polyfold {

enum class Method {
    generators,  // cells with all their vertices and rays: any domain
    programs,    // cells by linear programs: domains that LpWalk accepts, for high dimension
};

struct UnfoldOptions {
    Method method = Method::generators;
    int threads = 1;
    std::int64_t max_cells = -1;  // negative: no limit
    // Called now and then from the calling thread with the number of cells so far; false stops the run.
    std::function<bool(std::int64_t)> keep_going;
};

inline constexpr std::int32_t domain_boundary = -1;
inline constexpr std::int32_t not_explored = -2;

struct Unfolded {
    CellBlock cells;
    std::vector<std::int32_t> neighbour;  // one a facet: a cell, domain_boundary or not_explored
    bool complete = false;
};

Unfolded unfold(const Problem& problem, const UnfoldOptions& options);

// Generators of the selected cells, in the selection's order. Throws std::out_of_range where a pattern is no
// cell.
GeneratorBlock trace(const Problem& problem, const Selection& selection);

// Volumes and centroids of the selected cells; an unbounded one has an infinite volume and no centroid.
std::vector<Measure> measure_selected(const Problem& problem, const Selection& selection);

// Numbers of faces of dimension 0, 1, ..., dim of the whole complex; faces at infinity do not count.
std::vector<std::int64_t> count_faces(const Problem& problem);

}  // namespace polyfold
