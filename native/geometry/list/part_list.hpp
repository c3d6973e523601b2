// All parts into which the last rows of its frame cut a cell, put together from the vertices of the parts.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/crossing.hpp"
#include "geometry/list/edges_cut.hpp"
#include "geometry/list/part_table.hpp"
#include "geometry/list/row_values.hpp"

namespace polyfold {

// A vertex on some of the rows is one of all parts around it, and it is found once for all of them: as a vertex of the
// section that these rows make of the cell, each where the rows before it have left a section. The section's vertices
// on other rows are those of its own sections, and so on down to points.
//
// Where rows meet the cell's faces and each other in general position, the parts around a vertex are all those with the
// signs that the other rows have there, and all walls through the vertex bound them: the rows are like coordinate
// planes, whatever the cell's own face looks like. Where they do not, `find` gives up.
//
// A vertex of the cell where all rows vanish, as on the rays along which a layer before is off, is one of all sections
// and of all parts. Nothing is cut there; see decision 64.
template <int Words>
class PartList {
    using Bits = std::uint64_t;

  public:
    PartList(const Problem& problem, const StopSignal& stop)
        : problem_(problem),
          stop_(stop),
          dimensions_(problem.dim + 1),
          point_registers_(registers_for(dimensions_)),
          crossing_(problem),
          levels_(problem.dim + 1),
          place_(dimensions_),
          sum_(point_registers_) {}

    // Whether the rows that have not been inserted are few enough, and in general position as far as the cell's own
    // vertices show. The cell is in its last stage.
    bool look_at(const Cell<Words>& cell);

    // Find the parts of the cell that was looked at last; false if more rows meet in a point than can be dealt with.
    bool find(Cell<Words>& cell);

    // What was found.
    const PartTable& parts() const { return parts_; }
    int rows() const { return rows_; }         // rows of the frame from the cell's next one on, each a bit of the codes
    Bits cutting() const { return cutting_; }  // those of them that cut the cell
    const std::vector<int>& slots() const { return slots_; }  // the cell's facets, by their bits and by their walls

  private:
    using Edge = EdgesCut::Edge;
    using Vertex = SectionVertex;
    // A section of the cell, of one dimension less at every level.
    struct Section {
        int first = 0, last = 0;  // its vertices
        EdgesCut edges;
    };
    // What vertices have in common, and what only some have.
    struct Codes {
        Bits some = 0, all = ~Bits{0};

        void see(Bits code) {
            some |= code;
            all &= code;
        }
        Bits differing() const { return some & ~all; }
    };

    const Problem& problem_;
    const StopSignal& stop_;
    const int dimensions_;       // dim + 1
    const int point_registers_;  // that a point fills
    Crossing<Words> crossing_;
    PartTable parts_;
    int rows_ = 0;
    Bits cutting_ = 0;    // rows that cut the cell
    int most_parts_ = 1;  // that these make
    std::vector<int> slots_;

    std::vector<int> moving_, still_;  // the cell's vertices, and those where all rows vanish, by their places in it
    std::vector<Bits> still_facets_;

    // Vertices of all sections on the way down. Behind each other where they are, which is asked of only for the
    // witnesses, and the values of all rows, by which everything is decided.
    int row_registers_ = 0;
    int made_ = 0;  // so many vertices; there is room for more
    std::vector<Vertex> vertices_;
    std::vector<Lanes> numbers_;
    std::vector<Section> levels_;

    // Scratch.
    std::vector<Lanes> norm_, doubt_;  // of the rows, as values of rows are
    std::vector<double> place_;        // of a vertex that equations know
    std::vector<Lanes> sum_;           // of points
    std::vector<int> bit_of_slot_;

    // Where the numbers of vertices are, and those of a row among them.
    struct Numbers {
        Lanes* first;
        std::ptrdiff_t stride;
        int value, doubt;

        Lanes* of(int v) const { return first + v * stride; }
    };
    Numbers numbers_with(int row) {
        const auto place = static_cast<int>(place_of_row(row, row_registers_)), at = place / lanes,
                   lane = place % lanes;
        const int value = (point_registers_ + 2 * at) * lanes + lane;
        return {numbers_.data(), stride(), value, value + lanes};
    }
    std::ptrdiff_t stride() const { return point_registers_ + 2 * row_registers_; }
    Lanes* point(int v) { return numbers_.data() + v * stride(); }
    RowValues* values(int v) { return reinterpret_cast<RowValues*>(point(v) + point_registers_); }

    // Loops over the registers of a point are worth being made for those that are most common.
    template <class Visit>
    auto with_registers(Visit visit) {
        if (point_registers_ == 1) return visit.template operator()<1>();
        if (point_registers_ == 2) return visit.template operator()<2>();
        return visit.template operator()<PartTable::any_number>();
    }
    void start(const Cell<Words>& cell);
    Bits facets_at(const Cell<Words>& cell, int place) const;
    void hand_out_still(const Cell<Words>& cell);
    bool cut(Cell<Words>& cell, int level, Bits chain, Bits rows);
    template <int Registers>
    bool make_section(Cell<Words>& cell, int level, int row, Bits chain, Bits& rows);
    unsigned registers_to_know(std::span<const Edge> edges, Bits row, Bits rows) const;
    template <int Registers>
    bool add_crossing(Cell<Words>& cell, const Numbers& numbers, const Edge& edge, int row, Bits chain, unsigned used);
    bool add_by_equations(Cell<Words>& cell, Vertex vertex, Bits open, Bits chain);
    Mask<Words> mask_of(Cell<Words>& cell, Bits facets, Bits chain) const;
    void read_values(const Frame& frame, int first, int generator, RowValues* values) const;
    template <int Registers>
    void hand_out(int first, int last, Bits chain);
    void make_room(std::size_t vertices);
};

extern template class PartList<1>;
extern template class PartList<4>;
extern template class PartList<16>;
extern template class PartList<64>;

}  // namespace polyfold
