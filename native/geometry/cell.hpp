// A cell that is being cut: its generators, its facets, and which lie on which.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "geometry/mask.hpp"
#include "geometry/path.hpp"

namespace polyfold {

// A facet of the cell: the wall that first cut it out, as row `row` of `map`. Slots of dead facets are used
// again.
struct FacetSlot {
    const StageMap* map = nullptr;  // kept alive by the cell's chain of maps
    std::int32_t row = 0;
    std::int32_t wall = 0;
};

// The cone {(u, t) : all walls >= 0, t >= 0} over a cell: homogeneous coordinates treat vertices (t > 0) and
// rays (t = 0) alike. Directions along which nothing has happened yet are kept apart as lines; every line has
// a pivot coordinate, all other lines and all generators are zero there, so that each of them is the only
// solution of a system of equations.
// A short sorted list, shared by all generators that have it; nothing is the empty list.
using Walls = std::shared_ptr<const std::vector<std::int32_t>>;

template <int Words>
struct Cell : Path {
    // Generators, as parallel arrays.
    std::vector<double> coordinates;  // dim + 1 each, the largest between a half and one
    std::vector<double> error;        // bounds the error of every coordinate
    std::vector<std::uint8_t> at_infinity;
    std::vector<Mask<Words>> on;  // facets that it lies on
    std::vector<std::shared_ptr<const ExactVector>> exact;
    std::vector<Walls> touched;  // walls through it that hold none of its facets; only kept where faces are counted

    struct Line {
        std::vector<double> coordinates;
        double error = 0;
        int pivot = 0;
        std::shared_ptr<const ExactVector> exact;
    };
    std::vector<Line> lines;

    Mask<Words> facets;  // slots in use
    std::vector<FacetSlot> slots;
    std::vector<std::pair<std::int32_t, std::int32_t>> shared;  // (slot, further wall that the facet lies on)

    // The cells that are wanted below this one, as a range of the sorted selection (see CellWalk).
    std::int64_t wanted_first = 0, wanted_last = 0;

    int size() const { return static_cast<int>(error.size()); }

    // Take over everything that does not depend on the side of the cut.
    void inherit(const Cell& parent) {
        coordinates.clear();
        error.clear();
        at_infinity.clear();
        on.clear();
        exact.clear();
        touched.clear();
        lines = parent.lines;
        facets = parent.facets;
        slots = parent.slots;
        shared = parent.shared;
        static_cast<Path&>(*this) = parent;
        wanted_first = parent.wanted_first;
        wanted_last = parent.wanted_last;
    }

    void add_generator(const double* point, int dimensions, double point_error, bool infinite, const Mask<Words>& mask,
                       std::shared_ptr<const ExactVector> exact_point, Walls touched_walls = nullptr) {
        coordinates.insert(coordinates.end(), point, point + dimensions);
        error.push_back(point_error);
        at_infinity.push_back(infinite);
        on.push_back(mask);
        exact.push_back(std::move(exact_point));
        touched.push_back(std::move(touched_walls));
    }
};

}  // namespace polyfold
