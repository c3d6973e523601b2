// What the parts of a cell measure, all found together: a face that parts share is measured once for all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/cells/measure.hpp"
#include "geometry/list/part_list.hpp"

namespace polyfold {

// Where as many walls meet in every vertex as there are dimensions, a face of dimension k is a meet of d - k walls
// a_i . x + b_i = 0. Measure it by its volume over that of the parallelepiped which these a_i span, times k!. This is
// one over the determinant's size at a vertex, and of a face with a vertex x the sum over all its facets of what these
// measure, times the value that the further wall has at x: the norms and angles of walls cancel out. All terms are
// positive, so nothing is lost; the values' and determinants' errors are carried along. See decision 59.
template <int Words>
class PartMeasure {
  public:
    explicit PartMeasure(const Problem& problem) : dim_(problem.dim) {}

    // Cells of more dimensions have too many vertices.
    static constexpr int most_dimensions = 6;

    // Measure parts of a cell that were found, from their vertices; false if they are not simple. Where floats do not
    // know some of them well, forms to twice the digits may.
    bool find(const Cell<Words>& cell, const PartList<Words>& list, const std::vector<PartVertex>& vertices,
              bool sharply);

    // The bounded part with this code; false if floats do not know it well.
    bool read(std::uint64_t code, Measure& found);

  private:
    using Bits = std::uint64_t;

    // Of a face: what it measures and what that may be off; then its moment, which is its measure times the sum of as
    // many coordinates of its centroid as a simplex of its dimension has corners.
    struct Sums {
        Lanes first{}, second{};  // measure, error, two coordinates; four coordinates
        double measure() const { return first[0]; }
        double error() const { return first[1]; }
        double moment(int k) const { return k < 2 ? first[2 + k] : second[k - 2]; }
    };
    // Faces of one dimension. What they are is told by the walls that they lie on, a bit each, and behind these by the
    // signs of the rows that they do not lie on.
    struct Faces {
        std::size_t count = 0;  // there may be room for more, whose sums are zero
        std::vector<Bits> keys;
        std::vector<int> apexes;  // of each one of its vertices
        std::vector<Sums> sums;

        void clear() {
            std::fill_n(sums.begin(), count, Sums());
            count = 0;
        }
        void make_room(std::size_t faces) {
            if (faces <= keys.size()) return;
            keys.resize(faces);
            apexes.resize(faces);
            sums.resize(faces);
        }
    };
    struct Vertex {
        Lanes first, second;  // coordinates, where sums have theirs; else zeros
        double error;         // what values of walls may be off there, relatively to the walls' norms
    };

    const int dim_;

    // Rows that some vertex lies on, then facets: their forms side by side, [k * stride_ + wall], with what forms to
    // twice the digits add, their norms, and what their values may be off at points whose coordinates are at most one.
    int stride_ = 0, walls_ = 0;
    std::vector<int> rows_;
    bool sharply_ = false;
    std::vector<double> forms_, further_, norms_, doubts_;
    double doubt_ = 0;  // the largest of them, relatively to the walls' norms

    // Scratch: what further digits of a vertex and of the values there are.
    std::vector<double> rest_, low_;

    std::vector<Vertex> vertices_;
    std::vector<double> values_;  // [vertex * stride_ + wall], by their sizes

    Faces faces_, above_;              // of one dimension, and of the next; in the end the parts
    std::vector<std::int32_t> table_;  // the numbers of those above, or -1, by their keys
    int shift_ = 64;

    bool list_walls(const Cell<Words>& cell, const PartList<Words>& list, const std::vector<PartVertex>& vertices);
    void add_wall(const StageMap& map, int row, int wall);
    bool add_vertices(const std::vector<PartVertex>& vertices);
    template <int N>
    bool add_all(const std::vector<PartVertex>& vertices);
    template <int N>
    bool add(const PartVertex& vertex);
    void look(const double* place, double* values);
    void look_sharply(const double* place, double* values);
    Bits key_of(Bits code, Bits rows, Bits facets) const;
    void rise(int walls_left);
    [[gnu::always_inline]] void add_to(Bits key, std::size_t facet, int wall);
    [[gnu::always_inline]] std::int32_t& place_of(Bits key);
    void make_table(std::size_t faces);
};

extern template class PartMeasure<1>;
extern template class PartMeasure<4>;
extern template class PartMeasure<16>;
extern template class PartMeasure<64>;

}  // namespace polyfold
