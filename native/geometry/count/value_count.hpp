// Into how many parts rows cut a section, by what they are worth at its corners: no coordinates, as far as floats prove
// every sign.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/base/mask.hpp"
#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/edge_search.hpp"
#include "geometry/cells/frame.hpp"
#include "geometry/count/edge_values.hpp"

namespace polyfold {

// A corner of a section of a section is where a row vanishes on an edge, and there every row is worth what lies between
// its values at the ends. So all that is needed of a corner is these values, which facets it lies on (to tell edges),
// and the signs that are known. Where both ends of an edge have the same sign, so has all that lies between them.
template <int Words>
class ValueCount {
  public:
    static constexpr int most_rows = 64;
    static constexpr std::int64_t unproved = -1;

    explicit ValueCount(const StopSignal& stop) : stop_(stop) {}

    // A section of so many dimensions with these corners, which all of these rows cut (at most 64,
    // by their numbers in the frame).
    void start(const Frame& frame, const std::vector<std::int32_t>& generators,
               const std::vector<Mask<Words>>& facets_of, std::span<const int> rows, int dimensions);

    // The parts that the rows behind the i-th one make of the section on which that one vanishes, none if one of them
    // contains it; or unproved.
    std::int64_t parts_on(int i);

    // Where that was unproved: visit(corner) for corners whose values have a part in it, some more than once.
    template <class Visit>
    void for_each_corner_asked(Visit visit) const {
        for (const Edge& edge : crossings_[dimensions_]) {
            visit(edge.from);
            visit(edge.to);
        }
    }
    // The coordinates of a corner turn out to be known up to `error`.
    void know_corner(int corner, double error);

  private:
    struct Corner {
        Mask<Words> facets;  // but for the rows on which the section lies
        RowSigns signs;
    };
    struct Edge {
        int from, to;
        RowSet cut;  // the rows that vanish between its ends
    };
    // Corners of one section lie side by side.
    struct Range {
        int first, last;

        int size() const { return last - first; }
    };

    const StopSignal& stop_;
    int dimensions_ = 0, columns_ = 0;
    RowSet rows_ = 0;
    bool any_zero_ = false;
    std::vector<double> doubt_, norm_;          // of the rows, as in the frame
    std::vector<Corner> corners_;               // of the section, then of its section, and so on
    std::vector<double> numbers_;               // what belongs to each of them
    std::vector<std::vector<Edge>> edges_;      // of a section of so many dimensions, where a row cuts them
    std::vector<std::vector<Edge>> crossings_;  // those that the row cuts that makes the next one

    EdgeSearch search_;

    double* numbers(int corner) { return numbers_.data() + static_cast<std::ptrdiff_t>(corner) * 2 * columns_; }
    PointValues values(int corner) { return {numbers(corner), columns_}; }
    void make_room(int corners) {
        const auto wanted = static_cast<std::size_t>(corners) * 2 * columns_;
        if (numbers_.size() < wanted) numbers_.resize(2 * wanted);
    }
    RowSigns put_errors(int corner, double error);
    void forget_zeros(int corner);
    void find_edges(int dimensions, Range section, RowSet rows);
    void sort_by_facets(Range section);
    bool are_neighbours(Range section, int a, int b) const;
    std::int64_t parts(int dimensions, Range section, RowSet rows);
    std::int64_t parts_on(int dimensions, Range section, int row, RowSet behind);
    template <class See>
    void take_corners_on(Range section, int row, See see);
    RowSet make_corner(const Edge& edge, int row, RowSet behind);
};

extern template class ValueCount<1>;
extern template class ValueCount<4>;
extern template class ValueCount<16>;
extern template class ValueCount<64>;

}  // namespace polyfold
