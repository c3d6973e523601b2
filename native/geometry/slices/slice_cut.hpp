// Cells of a line or a plane, kept by their corners, cut where gates change sign. Gates are affine functions of the
// parameters on a cell, known in floats up to a bound; a corner is the place where two walls meet, known up to a bound
// as well. What these leave open is asked for, one sign at a time, and answered exactly: so every sign is true, and
// cells that share a corner agree on it without having to share anything else.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace polyfold {

// What a gate does at a corner; over the corners of a cell these are or-ed. A sign that is open has no bit.
inline constexpr std::uint8_t sign_open = 0, sign_negative = 1, sign_positive = 2, sign_zero = 4;

// An affine function of at most two parameters, which lie between -1 and 1: the constant, then the slopes. Each
// coefficient is right up to `error`.
struct SliceForm {
    std::array<double, 3> coefficient{};
    double error = 0;
};

// Cells as lists of corners: both ends of a segment, or the corners of a polygon in order. Facet k of a cell is its
// k-th end, or the side from its k-th corner to the next; `wall` is the gate or row of the domain that it lies on, and
// `form` a function that vanishes there.
struct SliceCells {
    int dim = 0;
    std::int64_t count = 0;
    const std::int64_t* start = nullptr;   // count + 1
    const std::int64_t* vertex = nullptr;  // start[count]
    const std::int32_t* wall = nullptr;    // start[count]
    const double* form = nullptr;          // start[count] x (1 + dim)
    const double* form_error = nullptr;    // start[count]
    const double* point = nullptr;         // vertices x dim
    const double* off = nullptr;           // vertices: how far off the true vertex may lie, in every parameter
    const std::uint64_t* name = nullptr;   // vertices
    std::int64_t vertices = 0;
};

// A pool that is one switch of k ways. Its gates are the differences x_j - x_i of any two members i < j; that one is
// gate first + j (j - 1) / 2 + i.
struct SlicePool {
    int first = 0, members = 0;

    int pair(int i, int j) const { return first + j * (j - 1) / 2 + i; }
    int end() const { return pair(0, members); }
};

// The gates of one stage on the cells: cell i has row[i] of the forms. Those from `plain` on are of pools, one pool
// after another: a cell is cut between members that are the largest somewhere on it, and not between others.
struct SliceGates {
    int gates = 0;
    int plain = 0;
    int first_wall = 0;                 // gate 0 is this one of the whole program
    const std::int64_t* row = nullptr;  // cells
    const double* value = nullptr;      // rows x (1 + dim) x gates
    const double* error = nullptr;      // rows: coefficients of gate g are right up to error * scale[g]
    const double* scale = nullptr;      // gates; where it is zero the gate vanishes
    std::vector<SlicePool> pools;
};

// Signs of the gates from `first_gate` on at the corners (corners x (gates - first_gate)), and those left open.
struct CornerSigns {
    std::vector<std::uint8_t> sign;
    std::vector<std::int64_t> corner;
    std::vector<std::int32_t> gate;
};

CornerSigns corner_signs(const SliceCells& cells, const SliceGates& gates, int first_gate);

// Exact answers about the place on a cell where two walls (gates or rows, numbered as in the whole program) meet. On a
// line the first wall is -1.
struct Oracle {
    std::function<std::uint8_t(std::int64_t cell, int wall, int other, int gate)> sign;
    // The place, rounded to the nearest floats; false if it could not be found.
    std::function<bool(std::int64_t cell, int wall, int other, double* point)> place;
};

struct SliceCut {
    // Vertices that were made; their numbers go on where those of the old ones end. A name depends on the names of the
    // two vertices between which it lies, and on the gate that is zero there.
    std::vector<double> point, off;
    std::vector<std::uint64_t> name;
    std::vector<std::int64_t> parent;              // of every cell, the one it is part of
    std::vector<std::int64_t> start{0}, vertex;    // the cells, as above
    std::vector<std::int64_t> facet;               // the parent's facet that this one is part of, or -1: a new one ...
    std::vector<std::int32_t> wall;                // ... that this gate of the stage made
    int next_gate = 0;                             // gates from here on have not been looked at
    std::vector<std::uint8_t> pattern, vanishing;  // of the plain gates looked at: cells x bytes
    std::vector<std::int32_t> winner;              // of the pools looked at: cells x pools
    std::vector<std::int64_t> extra_facet;         // facets on which further gates vanish, but not on the cell ...
    std::vector<std::int32_t> extra_wall;          // ... and the gate of the stage
    std::int64_t asked = 0;                        // signs at new vertices that floats left open
    std::vector<std::int32_t> open;                // gates whose signs stayed open: they counted as zero
    std::int64_t inconsistent = 0;                 // cells that were not cut, since the signs fit no straight cut
};

// Cut by the gates from `first_gate` on, one after another: as many as make about `most_new` vertices, but at least
// one, and pools as a whole. `sign` is what `corner_signs` gave, with what was left open filled in.
SliceCut cut_slice(const SliceCells& cells, const SliceGates& gates, const std::uint8_t* sign, int first_gate,
                   std::int64_t most_new, const Oracle& oracle);

}  // namespace polyfold
