// Cells of a line or a plane, kept by their vertices only, cut where gates change sign. The vertices are shared: a
// gate's value and sign at a vertex are the same for all cells around it, so neighbours are cut at the same places.
#pragma once

#include <cstdint>
#include <vector>

namespace polyfold {

// What a gate does at a vertex; over the vertices of a cell these are or-ed.
inline constexpr std::uint8_t sign_negative = 1, sign_positive = 2, sign_zero = 4;

// Cells as lists of vertices: both ends of a segment, or the corners of a polygon in order. Facet k of a cell is its
// k-th end, or the side from its k-th corner to the next.
struct SliceCells {
    int dim = 0;
    std::int64_t count = 0;
    const std::int64_t* start = nullptr;   // count + 1
    const std::int64_t* vertex = nullptr;  // start[count]
};

// The gates of one stage at the vertices. The true value of gate g at vertex v lies within doubt[v] * scale[g] of the
// one given, and signs that are not zero are proved.
struct SliceGates {
    std::int64_t vertices = 0;
    int gates = 0;
    int first_wall = 0;                   // gate 0 is this one of the whole program
    const double* value = nullptr;        // vertices x gates
    const std::uint8_t* sign = nullptr;   // vertices x gates
    const double* doubt = nullptr;        // vertices
    const double* scale = nullptr;        // gates
    const std::uint64_t* name = nullptr;  // vertices
};

// Vertices that were made: each lies on the segment between two others, (1 - share) low + share high. Numbers go on
// where those of the old ones end.
struct NewVertices {
    std::vector<std::int64_t> low, high;
    std::vector<double> share;
    std::vector<std::uint64_t> name;  // depends on the names of low and high, and on the gate that is zero here
    std::vector<double> value;
    std::vector<std::uint8_t> sign;
    std::vector<double> doubt;
};

struct SliceCut {
    NewVertices made;
    std::vector<std::int64_t> parent;            // of every cell, the one it is part of
    std::vector<std::int64_t> start{0}, vertex;  // the cells, as above
    std::vector<std::int64_t> facet;             // the parent's facet that this one is part of, or -1: a new one ...
    std::vector<std::int32_t> wall;              // ... that this gate of the stage made
    int next_gate = 0;                           // gates from here on have not been looked at
    std::vector<std::int32_t> undecided;         // gates whose signs at new vertices were taken for zero, one a sign
    std::int64_t inconsistent = 0;               // cells that were not cut, since the signs fit no straight cut
};

// Cut by the gates from `first_gate` on, one after another: as many as make about `most_new` vertices, but at least
// one.
SliceCut cut_slice(const SliceCells& cells, const SliceGates& gates, int first_gate, std::int64_t most_new);

struct SliceSigns {
    std::vector<std::uint8_t> patterns;  // cells x bytes
    std::vector<std::int64_t> facet;     // facets on which a gate vanishes that does not vanish on the cell ...
    std::vector<std::int32_t> wall;      // ... and the gate
};

// The pattern of every cell, and what its facets lie on.
SliceSigns read_slice(const SliceCells& cells, int gates, const std::uint8_t* sign);

// Rows of other values that are affine along the segments, at the new vertices; and bounds on their errors, which are
// known up to a scale for every column.
std::vector<double> blend_rows(const double* values, std::int64_t rows, int columns, const NewVertices& made);
std::vector<double> blend_errors(const double* errors, std::int64_t rows, const NewVertices& made);

}  // namespace polyfold
