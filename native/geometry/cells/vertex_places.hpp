// Where a cell's vertices are, as floats to be handed out.
#pragma once

#include <vector>

#include "geometry/cells/cell.hpp"
#include "geometry/cells/equations.hpp"

namespace polyfold {

// dim coordinates a vertex, in the order of the cell's generators; of a generator at infinity its direction. Each is a
// number between a half and one, or zero, times a power of two, which may lie beyond what floats hold.
//
// A generator is known relatively to its largest coordinate. Where the cell is thin, or far longer in one coordinate
// than in another, that says little of the others: there exact coordinates are rounded one by one.
struct VertexPlaces {
    std::vector<double> mantissas;
    std::vector<int> exponents;

    // As floats; what lies beyond them is infinite.
    std::vector<double> rounded() const;
};

template <int Words>
VertexPlaces vertex_places(Cell<Words>& cell, Equations<Words>& equations, int dim);

// A homogeneous point, each coordinate rounded by itself.
VertexPlaces place_of(const ExactVector& point);

extern template VertexPlaces vertex_places(Cell<1>&, Equations<1>&, int);
extern template VertexPlaces vertex_places(Cell<4>&, Equations<4>&, int);
extern template VertexPlaces vertex_places(Cell<16>&, Equations<16>&, int);
extern template VertexPlaces vertex_places(Cell<64>&, Equations<64>&, int);

}  // namespace polyfold
