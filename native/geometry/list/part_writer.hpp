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
          witness_(static_cast<std::size_t>(registers_ * lanes)) {}

    // Write all parts of a cell that were found behind the others, in the order of the walk, with their neighbours
    // among each other. False, and nothing is written, if floats do not prove that a witness is inside its part.
    bool write(const Cell<Words>& cell, const PartList<Words>& list, CellBlock& block);

  private:
    // A facet of the cell, or a row.
    struct Wall {
        std::int32_t wall;
        double error;  // of every entry of its form
    };

    const Problem& problem_;
    const int dimensions_, registers_;
    const Equations<Words> equations_;
    const PatternKeys keys_;

    // Of one cell: its facets in the order of their bits, then the rows.
    std::vector<Wall> walls_;
    std::vector<FaceKey> row_keys_;
    std::vector<std::pair<std::int32_t, std::int32_t>> shared_;  // (facet, further wall that it lies on)
    int gate_facets_ = 0, facets_ = 0;                           // how many facets lie on gates; on walls at all

    // The forms of these walls side by side: facets, with the cell on their positive side, in registers of their own,
    // then rows as they are, as in `row_values.hpp`. Where there is no wall a form is one on the side that is wanted.
    int facet_registers_ = 0, row_registers_ = 0, wall_registers_ = 0;
    std::vector<Lanes> forms_;   // [k * wall_registers_ + register]
    std::vector<Lanes> doubts_;  // what a value may be off where no coordinate is larger than one

    std::vector<std::pair<std::uint64_t, int>> order_;  // codes and numbers of parts
    std::vector<std::int32_t> place_;                   // of a part in this order
    std::vector<double> witness_;                       // fills whole registers

    // Facets of all parts.
    std::vector<std::int32_t> facet_wall_, neighbour_;
    std::size_t written_ = 0;

    void list_walls(const Cell<Words>& cell, const PartList<Words>& list);
    void add_wall(const StageMap& map, int row, std::int32_t wall, int side, int place);
    bool write_witness(const PartTable& parts, int part, CellBlock& block);
    double largest_of(const Lanes* point, double weight) const;
    bool proved_inside(const Part& part) const;
    bool proved_positive(int wall, int place, int side) const;
    int place_of(int row) const {
        return facet_registers_ * lanes + static_cast<int>(place_of_row(row, row_registers_));
    }
    void make_room_for_facets(const PartTable& parts);
    void write_facets(const PartTable& parts, const Part& part, std::int32_t first, CellBlock& block);
    void add_facet(int facet, CellBlock& block);
    void add_facet(std::int32_t wall, std::int32_t neighbour) {
        facet_wall_[written_] = wall;
        neighbour_[written_++] = neighbour;
    }
};

extern template class PartWriter<1>;
extern template class PartWriter<4>;
extern template class PartWriter<16>;
extern template class PartWriter<64>;

}  // namespace polyfold
