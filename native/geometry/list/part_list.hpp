// All parts into which the last rows of its frame cut a cell, put together from the vertices of the parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/crossing.hpp"
#include "geometry/cells/edge_search.hpp"
#include "geometry/list/part_table.hpp"
#include "geometry/list/row_values.hpp"

namespace polyfold {

// A vertex of the parts: rows that are positive there, rows that it lies on, and the cell's facets.
struct PartVertex {
    std::uint64_t code, rows, facets;
    bool infinite;
};

// A vertex on some of the rows is one of all parts around it, and it is found once for all of them: as a vertex of the
// section that these rows make of the cell, each where the rows before it have left a section. The section's vertices
// on other rows are those of its own sections, and so on down to points.
//
// Where rows meet the cell's faces and each other in general position, the parts around a vertex are all those with the
// signs that the other rows have there, and all walls through the vertex bound them: the rows are like coordinate
// planes, whatever the cell's own face looks like. Where they do not, `find` gives up.
template <int Words>
class PartList {
    using Bits = std::uint64_t;

  public:
    PartList(const Problem& problem, const StopSignal& stop, bool keep_vertices = false)
        : problem_(problem),
          stop_(stop),
          keep_vertices_(keep_vertices),
          dimensions_(problem.dim + 1),
          point_registers_(registers_for(dimensions_)),
          last_register_(static_cast<unsigned>(problem.dim) / lanes),
          last_lane_(static_cast<unsigned>(problem.dim) % lanes),
          crossing_(problem),
          levels_(problem.dim + 1),
          place_(dimensions_),
          scaled_(point_registers_) {}

    // Whether the rows that have not been inserted are few enough, and in general position as far as the cell's own
    // vertices show. The cell is in its last stage.
    bool look_at(const Cell<Words>& cell);

    // Find the parts of the cell that was looked at last; false if more rows meet in a point than can be dealt with.
    bool find(Cell<Words>& cell);

    // What was found.
    const PartTable& parts() const { return parts_; }
    const std::vector<PartVertex>& kept() const { return kept_; }  // the vertices of all parts, where these are kept
    int rows() const { return rows_; }         // rows of the frame from the cell's next one on, each a bit of the codes
    Bits cutting() const { return cutting_; }  // those of them that cut the cell
    const std::vector<int>& slots() const { return slots_; }  // the cell's facets, by their bits and by their walls

  private:
    struct Edge {
        int from, to;
        Bits rows;  // that cut it
    };
    // A section of the cell, of one dimension less at every level.
    struct Section {
        int first = 0, last = 0;  // its vertices
        std::vector<Edge> edge;
        std::size_t edges = 0;

        // Only edges that are cut; nobody can foretell which, so the others are added as well and then overwritten.
        void add(const Edge& candidate) {
            if (edges == edge.size()) edge.resize(2 * edges + 16);
            edge[edges] = candidate;
            edges += candidate.rows != 0;
        }
        void list_edges_cut_by(Bits row, std::vector<Edge>& list) const {
            list.resize(edges + 1);
            std::size_t count = 0;
            for (std::size_t e = 0; e < edges; ++e) {
                list[count] = edge[e];
                count += (edge[e].rows & row) != 0;
            }
            list.resize(count);
        }
    };
    struct Vertex {
        Bits code;    // rows that are positive there
        Bits facets;  // of the cell, that it lies on
        bool infinite;
    };

    const Problem& problem_;
    const StopSignal& stop_;
    const bool keep_vertices_;
    const int dimensions_;                      // dim + 1
    const int point_registers_;                 // that a point fills
    const unsigned last_register_, last_lane_;  // where its last coordinate is
    Crossing<Words> crossing_;
    PartTable parts_;
    int rows_ = 0;
    Bits cutting_ = 0;  // rows that cut the cell
    std::vector<int> slots_;
    std::vector<PartVertex> kept_;

    // Vertices of all sections on the way down: where they are, which is asked of only for the witnesses, and the
    // values of all rows, by which everything is decided.
    int row_registers_ = 0;
    int made_ = 0;  // so many vertices; there is room for more
    std::vector<Vertex> vertices_;
    std::vector<Lanes> points_;
    std::vector<RowValues> values_;
    std::vector<Section> levels_;

    // Scratch.
    std::vector<Lanes> norm_, doubt_;  // of the rows, as values of rows are
    std::vector<double> place_;        // of a vertex that equations know
    std::vector<Lanes> scaled_;
    EdgeSearch search_;
    std::vector<Edge> cut_;
    PartTable gathered_;
    std::vector<int> bit_of_slot_;

    Lanes* point(int v) { return points_.data() + static_cast<std::ptrdiff_t>(v) * point_registers_; }
    RowValues* values(int v) { return values_.data() + static_cast<std::ptrdiff_t>(v) * row_registers_; }

    void start(const Cell<Words>& cell);
    void find_edges(int level, Bits rows);
    void add_edge_if_any(Section& section, int a, int b, Bits rows, int facets) const;
    bool cut(Cell<Words>& cell, int level, Bits chain, Bits rows);
    bool add_crossing(Cell<Words>& cell, const Edge& edge, int row, Bits chain);
    bool add_by_equations(Cell<Words>& cell, Vertex vertex, Bits open, Bits chain);
    Mask<Words> mask_of(Cell<Words>& cell, Bits facets, Bits chain) const;
    void read_values(const Frame& frame, int first, int generator, RowValues* values) const;
    void hand_out(int v, Bits chain, PartTable& parts);
    void keep(int v, Bits chain) {
        if (keep_vertices_) kept_.push_back({vertices_[v].code, chain, vertices_[v].facets, vertices_[v].infinite});
    }
    void make_room(std::size_t vertices);
};

extern template class PartList<1>;
extern template class PartList<4>;
extern template class PartList<16>;
extern template class PartList<64>;

}  // namespace polyfold
