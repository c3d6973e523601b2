// The depth-first walk that lists cells: cut one by one up to the last stage, and there found all at once where
// possible.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/list/part_list.hpp"
#include "geometry/list/part_writer.hpp"
#include "geometry/walk/cell_walk.hpp"

namespace polyfold {

template <int Words>
class ListWalk {
  public:
    using CellPointer = std::unique_ptr<Cell<Words>>;
    using Block = CellBlock;

    ListWalk(const Problem& problem, const StopSignal& stop)
        : stages_(static_cast<int>(problem.stages.size())),
          walk_(problem, stop, {.hand_out = true, .stages = std::max(1, stages_ - 1)}),
          rest_(problem, stop),
          list_(problem, stop),
          writer_(problem) {}

    CellPointer root() { return walk_.root(); }
    void recycle(CellPointer cell) { walk_.recycle(std::move(cell)); }

    // Until the cell is cut, or is finished, or can be listed.
    CellPointer advance(Cell<Words>& cell) {
        if (CellPointer on = walk_.advance(cell)) return on;
        while (!finished(cell) && (cell.is_in_order() || !list_.look_at(cell)))
            if (CellPointer on = walk_.advance_by_one_row(cell)) return on;
        return nullptr;
    }

    // Right after `advance` has returned nothing for the same cell.
    void emit(Cell<Words>& cell, CellBlock& block) {
        if (finished(cell)) {
            walk_.emit(cell, block);
            return;
        }
        if (!list_.find(cell) || !writer_.write(cell, list_, block)) emit_one_by_one(cell, block);
    }

  private:
    const int stages_;
    CellWalk<Words> walk_, rest_;
    PartList<Words> list_;
    PartWriter<Words> writer_;
    std::vector<CellPointer> stack_;

    bool finished(const Cell<Words>& cell) const { return cell.stage == stages_; }

    void emit_one_by_one(Cell<Words>& cell, CellBlock& block) {
        stack_.clear();
        while (CellPointer on = rest_.advance(cell)) stack_.push_back(std::move(on));
        rest_.emit(cell, block);
        while (!stack_.empty()) {
            CellPointer next = std::move(stack_.back());
            stack_.pop_back();
            while (CellPointer on = rest_.advance(*next)) stack_.push_back(std::move(on));
            rest_.emit(*next, block);
            rest_.recycle(std::move(next));
        }
    }
};

}  // namespace polyfold
