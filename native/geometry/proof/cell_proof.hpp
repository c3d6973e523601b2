// The proof, in floats, that one cell of an atlas is right. See docs/adr/0008-what-certify-proves.md.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/problem/facet_arrays.hpp"
#include "geometry/proof/cell_maps.hpp"
#include "geometry/proof/cone_bound.hpp"
#include "geometry/proof/narrow_view.hpp"

namespace polyfold {

// What floats prove of a cell: nothing, or that all is as listed and whether the cell has an end, if they can tell
// that.
enum class Proved : std::uint8_t { nothing = 0, bounded = 1, unbounded = 2, with_or_without_end = 3 };

class CellProof {
  public:
    CellProof(const Problem& problem, const FacetArrays& atlas, const double* witnesses, const StopSignal& stop);

    // What floats prove of the cell. Quick if the cell's pattern begins like that of the cell before.
    Proved operator()(std::int64_t cell);

  private:
    struct Place {
        int stage = 0, row = 0;
        bool is_constantly_zero = false;  // no weight and no bias: zero on every cell
    };

    const Problem& problem_;
    const FacetArrays& atlas_;
    const double* witnesses_;
    const int dim_;
    std::vector<Place> places_;  // by wall
    CellMaps maps_;
    std::vector<std::int64_t> listed_by_;  // by wall: the last cell that listed it, plus one
    ConeBound cone_;
    ConeBound apex_;  // without biases all gates meet at the origin: their forms on directions u alone
    NarrowView narrow_;
    std::vector<int> left_;    // walls that are not proved yet
    std::vector<char> known_;  // by wall: listed, or proved
    int facets_ = 0;           // rows of the cone that are facets; a further one may be infinity
    std::vector<double> inside_, centre_, form_, height_, height_at_apex_, point_, value_, spread_, size_;
    double form_error_ = 0;
    bool has_end_ = false;  // the cell was enclosed where t = 1, so it is bounded

    bool has_shared_walls(std::int64_t cell) const;
    bool leads_on(std::int64_t cell, std::int64_t facet) const;
    bool load_facets(std::int64_t cell);
    bool load_form(int stage, int row);
    double side(int stage, int row) const;
    int proved_sign(int row, const double* point) const;
    bool enclose();
    bool goes_on_for_ever();
    bool enclose_directions(std::int64_t cell);
    bool others_stay_away(std::int64_t cell);
    void rows_stay_away(std::int64_t cell, int stage, ConeBound& cone);
    bool stays_away(int stage, int row, ConeBound& cone);
    bool others_stay_away_behind();
    void find_centre();
    bool is_facet(int row, const std::vector<double>& from);
};

}  // namespace polyfold
