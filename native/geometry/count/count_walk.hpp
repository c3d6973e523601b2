// The depth-first walk that only counts: cells are made up to the last stage, and counted there by their sections.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/count/section_count.hpp"
#include "geometry/walk/cell_walk.hpp"
#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

struct CellCount {
    std::int64_t cells = 0;
};

template <int Words>
class CountWalk {
  public:
    using CellPointer = std::unique_ptr<Cell<Words>>;
    using Block = CellCount;

    CountWalk(const Problem& problem, const StopSignal& stop)
        : problem_(problem),
          stop_(stop),
          stages_(static_cast<int>(problem.stages.size())),
          upper_(problem, stop, {.hand_out = true, .stages = std::max(1, stages_ - 1)}),
          last_(problem, stop),
          sections_(problem, stop) {}

    CellPointer root() { return upper_.root(); }
    CellPointer advance(Cell<Words>& cell) { return upper_.advance(cell); }
    void recycle(CellPointer cell) { upper_.recycle(std::move(cell)); }

    void emit(Cell<Words>& cell, CellCount& count) {
        if (cell.stage == stages_) {
            ++count.cells;  // there are no gates
        } else if (problem_.dim == 1) {
            count.cells += parts_of_line(cell);
        } else if (cell.lines.empty()) {
            count.cells += sections_.parts(cell);
        } else {
            count.cells += parts_of_cell_with_lines(cell);
        }
    }

  private:
    const Problem& problem_;
    const StopSignal& stop_;
    const int stages_;
    CellWalk<Words> upper_, last_;
    SectionCount<Words> sections_;
    std::vector<CellPointer> stack_;

    // The cell has just entered the stage of its frame, whose rows all cut it.
    std::int64_t parts_of_line(const Cell<Words>& cell) const {
        return 1 + roots_of_rows(*cell.map, cell.frame->rows, stop_).roots();
    }

    // Where the cell contains a line there is nothing that sections could be made of yet: rows are inserted one by one
    // until there is none left.
    std::int64_t parts_of_cell_with_lines(Cell<Words>& cell) {
        stack_.clear();
        std::int64_t total = parts_beside(cell);
        while (!stack_.empty()) {
            CellPointer next = std::move(stack_.back());
            stack_.pop_back();
            total += parts_beside(*next);
            last_.recycle(std::move(next));
        }
        return total;
    }

    // The parts of the off side of all rows that are inserted; their on sides wait on the stack.
    std::int64_t parts_beside(Cell<Words>& cell) {
        while (cell.stage < stages_ && !cell.lines.empty())
            if (CellPointer on = last_.advance_by_one_row(cell)) stack_.push_back(std::move(on));
        if (cell.stage == stages_) return 1;
        cell.frame->truncate(cell.made);
        return sections_.parts(cell);
    }
};

// Cells by linear programs, none of them kept.
class LpCountWalk : public LpWalk {
  public:
    using Block = CellCount;
    LpCountWalk(const Problem& problem, const StopSignal& stop) : LpWalk(problem, stop, false) {}

    void emit(const LpCell& cell, CellCount& count) { count.cells += cell.parts; }
};

}  // namespace polyfold
