// A cell that is being cut: its generators, its facets, and which lie on which.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "geometry/base/mask.hpp"
#include "geometry/cells/frame.hpp"
#include "geometry/cells/line_order.hpp"
#include "geometry/cells/path.hpp"

namespace polyfold {

// A cell has more facets than the mask has room for: start again with a larger one.
struct TooManyFacets : std::exception {};

// A facet of the cell: the wall that first cut it out, as row `row` of `map`. Slots of dead facets are used again.
struct FacetSlot {
    const StageMap* map = nullptr;  // kept alive by the cell's chain of maps
    std::int32_t row = 0;
    std::int32_t wall = 0;
};

// The cone {(u, t) : all walls >= 0, t >= 0} over a cell: homogeneous coordinates treat vertices (t > 0) and rays (t =
// 0) alike. Directions along which nothing has happened yet are kept apart as lines; every line has a pivot coordinate,
// all other lines and all generators are zero there, so that each of them is the only solution of a system of
// equations.
template <int Words>
struct Cell : Path {
    std::shared_ptr<Frame> frame;
    int row = 0;                           // the frame's row to be inserted next
    int made = 0;                          // the frame's generators when this cell was made: later ones are not its own
    std::vector<std::int32_t> generators;  // numbers in the frame
    std::vector<Mask<Words>> facets_of;    // the facets that each of them lies on

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
    Walls vanishing;  // gates that vanish on the whole cell; only kept where faces are listed

    // In one dimension, where many rows cut the cell that entered the stage: in which order. Until few are left of them
    // a cell has a frame of its own for the row that cuts it next, once it is looked at, and its pattern is behind the
    // times.
    std::shared_ptr<const LineOrder> order;
    LineOrder::Part part;
    enum class Rows { all, none_yet, next, last_few } rows = Rows::all;
    bool is_in_order() const { return rows == Rows::none_yet || rows == Rows::next; }

    // The cells that are wanted below this one, as a range of the sorted selection (see CellWalk).
    std::int64_t wanted_first = 0, wanted_last = 0;

    int size() const { return static_cast<int>(generators.size()); }
    const double* point(int i) const { return frame->generators.point(generators[i]); }
    bool at_infinity(int i) const { return frame->generators.at_infinity[generators[i]]; }
    void add(int generator, const Mask<Words>& mask) {
        generators.push_back(generator);
        facets_of.push_back(mask);
    }

    // Take over everything that does not depend on the side of the cut.
    void inherit(const Cell& parent) {
        static_cast<Path&>(*this) = parent;
        frame = parent.frame;
        row = parent.row;
        generators.clear();
        facets_of.clear();
        lines = parent.lines;
        facets = parent.facets;
        slots = parent.slots;
        shared = parent.shared;
        vanishing = parent.vanishing;
        order = parent.order;
        part = parent.part;
        rows = parent.rows;
        wanted_first = parent.wanted_first;
        wanted_last = parent.wanted_last;
    }

    // Make the frame this cell's own: another thread will go on with it.
    void detach() {
        auto own = std::make_shared<Frame>(*frame);
        own->truncate(made);
        frame = std::move(own);
    }
};

}  // namespace polyfold
