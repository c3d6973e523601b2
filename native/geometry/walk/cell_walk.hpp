// The depth-first walk: insert walls one by one, cut cells in two, hand out the finished ones.
#pragma once

#include <memory>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/cell.hpp"
#include "geometry/cells/cell_block.hpp"
#include "geometry/cells/cell_writer.hpp"
#include "geometry/cells/crossing.hpp"
#include "geometry/cells/edge_search.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/walk/opening.hpp"
#include "geometry/walk/unfit_domain.hpp"
#include "geometry/walk/walk_options.hpp"

namespace polyfold {

template <int Words>
class CellWalk {
  public:
    using CellPointer = std::unique_ptr<Cell<Words>>;
    using Block = CellBlock;

    CellWalk(const Problem& problem, const StopSignal& stop, const WalkOptions& options = {});
    CellWalk(const CellWalk&) = delete;  // its parts know each other

    // The whole domain as a cell with no gate inserted; throws FlatDomain.
    CellPointer root();

    // Insert walls until the cell is cut: `cell` becomes the off side, and the on side is returned. If it is never cut
    // the cell is finished, and nothing is returned. Cells of one frame must be advanced in the order of a stack.
    CellPointer advance(Cell<Words>& cell);

    // The same for a single row, or none, whichever stage cells are handed out at.
    CellPointer advance_by_one_row(Cell<Words>& cell);

    // Write a finished cell behind the others.
    void emit(Cell<Words>& cell, CellBlock& block) { writer_.emit(cell, block); }

    void recycle(CellPointer cell) {
        cell->frame.reset();
        cell->order.reset();
        cell->map.reset();
        spare_.push_back(std::move(cell));
    }

  private:
    const Problem& problem_;
    const StopSignal& stop_;
    const Selection* const selection_;
    const bool keep_touched_;
    const int end_;         // the stage at which cells are handed out
    const int dimensions_;  // dim + 1
    Crossing<Words> crossing_;
    CellWriter<Words> writer_;
    Lookout lookout_;
    Opening<Words> opening_;
    std::vector<CellPointer> spare_;
    // The last ones made for each stage, which are mostly free again when the next one is wanted.
    std::vector<std::shared_ptr<StageMap>> maps_;

    // Scratch.
    Forms forms_;
    std::vector<double> point_;
    std::vector<int> positives_, negatives_;
    EdgeSearch negative_edges_;
    std::vector<Mask<Words>> negative_masks_, low_masks_;
    std::vector<std::int32_t> low_generators_;
    std::vector<int> columns_, zeros_;

    CellPointer fresh() {
        if (spare_.empty()) return std::make_unique<Cell<Words>>();
        CellPointer cell = std::move(spare_.back());
        spare_.pop_back();
        return cell;
    }
    std::shared_ptr<StageMap> fresh_map(int stage);
    void enter_next_stage(Cell<Words>& cell);
    bool take_rows(Cell<Words>& cell);
    void put_in_order(Cell<Words>& cell);
    ColumnsByPoint settle_by_point(Cell<Words>& cell);
    void part_in_order(Cell<Words>& off, Cell<Words>& on);
    CellPointer insert(Cell<Words>& cell);
    CellPointer cut(Cell<Words>& cell, int slot);
    CellPointer cut_line(Cell<Words>& cell, int slot, std::size_t line, int line_sign);
    CellPointer choose_sides(Cell<Words>& cell, CellPointer on);
    Walls walls_lost(const Cell<Words>& cell, int i, const Mask<Words>& facets) const;
    int new_slot(Cell<Words>& cell);
};

extern template class CellWalk<1>;
extern template class CellWalk<4>;
extern template class CellWalk<16>;
extern template class CellWalk<64>;

}  // namespace polyfold
