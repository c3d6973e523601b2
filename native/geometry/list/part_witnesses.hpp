// A point inside of every part of a cell, with a proof.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/cells/frame.hpp"
#include "geometry/list/part_table.hpp"
#include "geometry/problem/stage_map.hpp"

namespace polyfold {

// The walls of all parts are looked at side by side: the cell's facets in registers of their own, then the rows, as in
// `row_values.hpp`. Inside a part is on the right side of those as well that are none of its own.
class PartWitnesses {
  public:
    explicit PartWitnesses(int dim)
        : dim_(dim),
          dimensions_(dim + 1),
          point_registers_(registers_for(dimensions_)),
          witness_(static_cast<std::size_t>(point_registers_ * lanes)) {}

    // A cell with so many facets and these rows of its frame, from `first` on.
    void start(int facets, const Frame& frame, int first, const StageMap& map);
    // A facet of the cell: a row of a map, on this side of which the cell lies.
    void set_facet(int facet, const StageMap& map, int row, int side);

    // The mean of the vertices of each part, moved along the sum of the rays. False if floats do not prove that they
    // are all inside.
    bool write(const PartTable& parts, const PartOrder& order, double* witnesses);

  private:
    const int dim_, dimensions_, point_registers_;
    int facet_registers_ = 0, row_registers_ = 0, rows_ = 0;

    // [register * dimensions + coordinate]. Where there is no wall a form is one on the side that is wanted.
    std::vector<Lanes> forms_;
    std::vector<Lanes> doubts_;   // what a value may be off where no coordinate is larger than one
    std::vector<double> errors_;  // of every entry of a form
    std::vector<double> witness_;

    static constexpr int any_dim = 0;
    template <int Dim>
    bool write_all(const PartTable& parts, const PartOrder& order, double* witnesses);
    template <int Dim>
    bool proved_inside(const Part& part) const;
    bool proved_by_own_walls(const Part& part) const;
    bool proved_positive(int place, int side) const;
    double largest_of(const Lanes* point, double weight) const;
    int place_of_row(int row) const { return (facet_registers_ + row_registers_) * lanes - 1 - row; }
};

}  // namespace polyfold
