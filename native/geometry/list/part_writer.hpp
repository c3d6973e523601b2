// The parts of a cell, written out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/cells/cell_block.hpp"
#include "geometry/list/part_list.hpp"

namespace polyfold {

template <int Words>
class PartWriter {
  public:
    explicit PartWriter(const Problem& problem)
        : problem_(problem),
          dimensions_(problem.dim + 1),
          registers_(registers_for(dimensions_)),
          equations_(problem),
          keys_(problem.gates),
          witness_(registers_) {}

    // Write all parts of a cell that were found behind the others, in the order of the walk, with their neighbours
    // among each other. False, and nothing is written, if floats do not prove that a witness is inside its part.
    bool write(const Cell<Words>& cell, const PartList<Words>& list, CellBlock& block);

  private:
    // A facet of the cell, or a row.
    struct Wall {
        std::int32_t wall;
        double error;  // of every entry of its form
        double doubt;  // what its value may be off where no coordinate is larger than one
    };

    const Problem& problem_;
    const int dimensions_, registers_;
    const Equations<Words> equations_;
    const PatternKeys keys_;

    // Of one cell: its facets in the order of their bits, then the rows.
    std::vector<Wall> walls_;
    std::vector<Lanes> forms_;  // the cell is on the positive side of its facets; rows as they are
    std::vector<FaceKey> row_keys_;
    std::vector<std::pair<std::int32_t, std::int32_t>> shared_;  // (facet, further wall that it lies on)
    int gate_facets_ = 0, facets_ = 0;                           // how many facets lie on gates; on walls at all

    std::vector<std::pair<std::uint64_t, int>> order_;  // codes and numbers of parts
    std::vector<std::int32_t> place_;                   // of a part in this order
    std::vector<Lanes> witness_;

    void list_walls(const Cell<Words>& cell, const PartList<Words>& list);
    void add_wall(const StageMap& map, int row, std::int32_t wall, int side);
    bool write_witness(const PartTable& parts, int part, CellBlock& block);
    bool proved_inside(const Part& part) const;
    bool proved_positive(int wall, int side, double scale) const;
    void write_facets(const PartTable& parts, const Part& part, std::int32_t first, CellBlock& block) const;
    void add_facet(int facet, CellBlock& block) const;
};

extern template class PartWriter<1>;
extern template class PartWriter<4>;
extern template class PartWriter<16>;
extern template class PartWriter<64>;

}  // namespace polyfold
