// The parts of a cell, written out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/cells/cell_block.hpp"
#include "geometry/list/part_list.hpp"
#include "geometry/list/part_witnesses.hpp"

namespace polyfold {

template <int Words>
class PartWriter {
  public:
    explicit PartWriter(const Problem& problem)
        : problem_(problem), equations_(problem), keys_(problem.gates), witnesses_(problem.dim) {}

    // Write all parts of a cell that were found behind the others, in the order of the walk, with their neighbours
    // among each other. False, and nothing is written, if floats do not prove that a witness is inside its part.
    bool write(const Cell<Words>& cell, const PartList<Words>& list, CellBlock& block);

  private:
    struct Row {
        std::int32_t gate;
        FaceKey key;
        int byte;  // of patterns
        std::uint8_t bit;
    };

    const Problem& problem_;
    const Equations<Words> equations_;
    const PatternKeys keys_;
    PartWitnesses witnesses_;

    // Of one cell: its facets in the order of their bits, and the rows.
    std::vector<std::int32_t> walls_;
    std::uint64_t gate_facets_ = 0, domain_facets_ = 0;          // which of them are on gates; on the domain's rows
    std::vector<std::pair<std::int32_t, std::int32_t>> shared_;  // (facet, further wall that it lies on)
    std::vector<Row> rows_;
    std::uint64_t cutting_ = 0;  // rows that cut the cell

    PartOrder order_;
    std::vector<std::int32_t> place_;  // of a part in this order

    void list_walls(const Cell<Words>& cell, const PartList<Words>& list);
    void put_in_order(const PartTable& parts);
    void write_patterns(const Cell<Words>& cell, const PartTable& parts, CellBlock& block) const;
    void write_facets(const PartTable& parts, CellBlock& block) const;
    void write_shared(std::uint64_t facets, std::int64_t number, CellBlock& block) const;
};

extern template class PartWriter<1>;
extern template class PartWriter<4>;
extern template class PartWriter<16>;
extern template class PartWriter<64>;

}  // namespace polyfold
