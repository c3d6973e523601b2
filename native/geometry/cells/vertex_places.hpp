// Where a cell's vertices are, as floats to be handed out.
#pragma once

#include <vector>

#include "geometry/cells/cell.hpp"
#include "geometry/cells/equations.hpp"
#include "geometry/cells/sharp_vertex.hpp"

namespace polyfold {

// dim coordinates a vertex, in the order of the cell's generators; of a generator at infinity its direction.
//
// A generator is known relatively to its largest coordinate. Where the cell is thin, or far longer in one coordinate
// than in another, that says little of the others: there exact coordinates are rounded one by one.
struct VertexPlaces {
    std::vector<double> floats;
    bool ordinary = false;  // all floats are zero or far from the ends of their range

    // The same, each a number between a half and one, or zero, times a power of two, which may lie beyond what floats
    // hold. Only where floats are not ordinary, or after `take_apart`.
    std::vector<double> mantissas;
    std::vector<int> exponents;
    void take_apart();

    // As floats; what lies beyond them is infinite.
    std::vector<double> rounded() const;
};

// A homogeneous point, each coordinate rounded by itself.
VertexPlaces place_of(const ExactVector& point);

template <int Words>
class VertexPlacer {
  public:
    explicit VertexPlacer(int dim) : dim_(dim), sharp_(dim) {}

    // Where a cell's generators are; until the next cell.
    const VertexPlaces& operator()(Cell<Words>& cell, Equations<Words>& equations) {
        find(cell, equations);
        return places_;
    }

  private:
    const int dim_;
    VertexPlaces places_;
    std::vector<bool> exact_;  // by generator: whether its place is that of its exact coordinates
    std::vector<double> lowest_, highest_;
    double shortest_ = 0;  // how far the cell reaches in the coordinate in which it reaches least

    // Scratch.
    SharpVertex sharp_;
    std::vector<double> mantissas_;
    std::vector<int> exponents_;

    void find(Cell<Words>& cell, Equations<Words>& equations);
    void start(const Cell<Words>& cell);
    bool is_known(Cell<Words>& cell, Equations<Words>& equations, int v);
    bool place_sharply(const Cell<Words>& cell, int v);
    void place_exactly(Cell<Words>& cell, Equations<Words>& equations, int v);
    void take_all_apart(Cell<Words>& cell, Equations<Words>& equations);
};

extern template class VertexPlacer<1>;
extern template class VertexPlacer<4>;
extern template class VertexPlacer<16>;
extern template class VertexPlacer<64>;

}  // namespace polyfold
