// Into how many parts the rows of its frame cut a cell: counted without making the parts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/cell.hpp"
#include "geometry/cells/crossing.hpp"
#include "geometry/count/value_count.hpp"

namespace polyfold {

// A wall that is added to others makes as many new parts as those cut the section that it makes of the cell. So
//     parts(S; rows) = 1 + sum over rows of parts(S cut by the row; the rows behind it that cut this section),
// down to segments, on which points are counted. There are far fewer sections than parts. Where a later row contains
// the whole section, the row makes nothing that the later one does not make as well: no general position is needed.
// Sections are first tried by the values of rows at their corners (ValueCount); those that this does not prove are made
// with coordinates, where every sign is found.
template <int Words>
class SectionCount {
  public:
    SectionCount(const Problem& problem, const StopSignal& stop)
        : problem_(problem), stop_(stop), crossing_(problem), values_(stop), levels_(problem.dim) {}

    // By those of its frame's rows that are not inserted yet. The cell has no lines.
    std::int64_t parts(Cell<Words>& cell);

  private:
    using Edge = std::pair<int, int>;

    // A section through the cell, of one dimension less at every level.
    struct Section {
        std::vector<std::int32_t> generators;
        std::vector<Mask<Words>> facets_of;
        std::vector<Edge> edges;
        std::vector<int> rows;  // those that cut it
        std::vector<std::uint8_t> sides;

        void clear() {
            generators.clear();
            facets_of.clear();
        }
        void add(int generator, const Mask<Words>& mask) {
            generators.push_back(generator);
            facets_of.push_back(mask);
        }
        int size() const { return static_cast<int>(generators.size()); }
    };

    const Problem& problem_;
    const StopSignal& stop_;
    Crossing<Words> crossing_;
    ValueCount<Words> values_;
    int started_at_ = -1;      // values_ have the section that is looked at, with its rows from this one on
    std::vector<bool> asked_;  // corners of the cell whose equations were asked how well they are known
    std::vector<Section> levels_;
    std::vector<int> rows_;  // that may cut the cell

    struct Point {
        double share, error;
    };
    std::vector<Point> points_;

    std::int64_t parts(Cell<Words>& cell, int level);
    std::int64_t parts_by_values(Cell<Words>& cell, int level, int r);
    std::int64_t parts_by_coordinates(Cell<Words>& cell, int level, int r);
    bool know_corners_better(Cell<Words>& cell);
    bool find_rows(const Frame& frame, Section& section, const int* rows, int count) const;
    void find_edges(Section& section) const;
    void cut(Cell<Words>& cell, int level, int row);
    int points(Cell<Words>& cell, const Section& segment);
    bool clearly_apart(const Frame& frame, const Section& segment);
    int new_slot(Cell<Words>& cell, int level, int row) const;
};

extern template class SectionCount<1>;
extern template class SectionCount<4>;
extern template class SectionCount<16>;
extern template class SectionCount<64>;

}  // namespace polyfold
