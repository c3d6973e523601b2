// Finished cells, written out.
#pragma once

#include <vector>

#include "geometry/cells/cell.hpp"
#include "geometry/cells/cell_block.hpp"
#include "geometry/cells/equations.hpp"
#include "geometry/cells/vertex_places.hpp"

namespace polyfold {

template <int Words>
bool is_bounded(const Cell<Words>& cell);

template <int Words>
class CellWriter {
  public:
    explicit CellWriter(const Problem& problem)
        : problem_(problem),
          dimensions_(problem.dim + 1),
          equations_(problem),
          placer_(problem.dim),
          keys_(problem.gates) {}

    // Write a finished cell behind the others.
    void emit(Cell<Words>& cell, CellBlock& block);
    void emit_generators(Cell<Words>& cell, GeneratorBlock& block);

  private:
    const Problem& problem_;
    const int dimensions_;  // dim + 1
    Equations<Words> equations_;
    VertexPlacer<Words> placer_;
    const PatternKeys keys_;

    // Scratch.
    std::vector<int> order_;
    std::vector<std::int32_t> walls_, local_;
    std::vector<double> mean_, drift_;

    const std::vector<int>& facets_in_order(const Cell<Words>& cell);
    void write_witness(Cell<Words>& cell, CellBlock& block);
    bool proved_inside(const Cell<Words>& cell, const double* witness) const;
};

extern template bool is_bounded(const Cell<1>&);
extern template class CellWriter<1>;
extern template bool is_bounded(const Cell<4>&);
extern template class CellWriter<4>;
extern template bool is_bounded(const Cell<16>&);
extern template class CellWriter<16>;
extern template bool is_bounded(const Cell<64>&);
extern template class CellWriter<64>;

}  // namespace polyfold
