// The cells that an earlier run has found, so that another one can go on where it was stopped.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/cells/cell.hpp"
#include "geometry/cells/cell_block.hpp"
#include "geometry/problem/facet_arrays.hpp"
#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

// How many gates are decided on the way to a cell, counted from the first one to the first that may still cut it.
template <int Words>
int decided_gates(const Problem& problem, Cell<Words>& cell) {
    if (cell.finished(problem)) return problem.gates;
    const Stage& stage = problem.stages[cell.stage];
    if (cell.is_in_order()) {
        cell.order->write_pattern(cell.part, cell.pattern);
        const std::vector<int>& rows = cell.order->rows().rows;
        const auto next = static_cast<std::size_t>(cell.order->next_column(cell.part));
        return stage.first_wall + (next < rows.size() ? rows[next] : stage.width);
    }
    return stage.first_wall + (cell.row < cell.frame->count() ? cell.frame->rows[cell.row] : stage.width);
}
inline int decided_gates(const Problem& problem, const LpCell& cell) {
    return cell.finished(problem) ? problem.gates : problem.stages[cell.stage].first_wall + cell.next;
}

class KnownCells {
  public:
    // The cells of an atlas in the order of the walk, with their exact witnesses, and pairs (cell, gate) of gates that
    // vanish on a whole cell.
    KnownCells(const Problem& problem, const FacetArrays& atlas, const double* witnesses, const std::uint8_t* bounded,
               std::vector<ExactWitness> exact_witnesses,
               const std::vector<std::pair<std::int64_t, std::int32_t>>& vanishing);

    // The whole tree lies below its root.
    void start_at(Path& root) const {
        root.known_first = 0;
        root.known_last = cells_.cells;
    }

    // Whether no cell is missing below this path, on which so many gates are decided.
    bool all_below(Path& path, int decided) const;

    // These cells and fresh ones (at most so many of them, if that is not negative) in the order of the walk, none of
    // them twice; neighbours are forgotten. The second is whether some fresh ones were left out.
    std::pair<CellBlock, bool> with(const CellBlock& fresh, std::int64_t most) const;

  private:
    const int stride_, dim_;
    CellBlock cells_;
    std::vector<std::int32_t> last_open_;  // by cell: the last gate on a facet behind which nobody has looked, or -1

    int compare(const std::uint8_t* one, const std::uint8_t* other, int gates) const;
};

}  // namespace polyfold
