// The depth-first walk: insert walls one by one, cut cells in two, hand out the finished ones.
#pragma once

#include <memory>
#include <vector>

#include "geometry/cell.hpp"
#include "geometry/cell_block.hpp"
#include "geometry/cell_writer.hpp"
#include "geometry/equations.hpp"
#include "geometry/problem.hpp"

namespace polyfold {

// A cell has more facets than the mask has room for: start again with a larger one.
struct TooManyFacets : std::exception {};

// The domain has no interior.
struct FlatDomain : std::exception {
    bool empty;
    explicit FlatDomain(bool is_empty) : empty(is_empty) {}
    const char* what() const noexcept override { return empty ? "empty" : "flat"; }
};

// The cells that are wanted, for a walk that visits only those: packed patterns in lexicographic order of their gates.
struct Selection {
    const std::uint8_t* patterns = nullptr;
    std::int64_t count = 0;
    int stride = 0;

    bool on(std::int64_t cell, int gate) const { return (patterns[cell * stride + gate / 8] >> (gate % 8)) & 1; }

    // Where the gate goes on among cells first .. last - 1, which agree in all earlier gates.
    std::int64_t first_on(std::int64_t first, std::int64_t last, int gate) const {
        while (first < last) {
            const std::int64_t middle = first + (last - first) / 2;
            if (on(middle, gate)) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        return first;
    }
};

template <int Words>
class CellWalk {
  public:
    using CellPointer = std::unique_ptr<Cell<Words>>;

    // With `keep_touched` every generator knows all walls that pass through it, as counting faces needs.
    CellWalk(const Problem& problem, const StopSignal& stop, const Selection* selection = nullptr,
             bool keep_touched = false);

    // The whole domain as a cell with no gate inserted; throws FlatDomain.
    CellPointer root();

    // Insert walls until the cell is cut: `cell` becomes the off side, and the on side is returned. If it is never cut
    // the cell is finished, and nothing is returned. Cells of one frame must be advanced in the order of a stack.
    CellPointer advance(Cell<Words>& cell);

    // Write a finished cell behind the others.
    void emit(Cell<Words>& cell, CellBlock& block) { writer_.emit(cell, block); }

    void recycle(CellPointer cell) { spare_.push_back(std::move(cell)); }

  private:
    const Problem& problem_;
    const StopSignal& stop_;
    const Selection* selection_;
    const bool keep_touched_;
    const int dimensions_;  // dim + 1
    Equations<Words> equations_;
    CellWriter<Words> writer_;
    std::vector<CellPointer> spare_;

    // Scratch.
    std::vector<double> point_, values_;
    std::vector<int> positives_, negatives_;
    std::vector<signed char> signs_;

    CellPointer fresh() {
        if (spare_.empty()) return std::make_unique<Cell<Words>>();
        CellPointer cell = std::move(spare_.back());
        spare_.pop_back();
        return cell;
    }
    void open_frame(Cell<Words>& cell, const Frame* before);
    void enter_next_stage(Cell<Words>& cell);
    CellPointer insert(Cell<Words>& cell);
    CellPointer cut(Cell<Words>& cell, int slot);
    CellPointer cut_line(Cell<Words>& cell, int slot, std::size_t line, int line_sign);
    CellPointer choose_sides(Cell<Words>& cell, CellPointer off, CellPointer on);
    void settle_gate(Cell<Words>& cell, int row, int positives, int negatives, const std::vector<int>& zeros);
    void record_touching(Cell<Words>& cell, int wall, const std::vector<int>& zeros);
    Walls walls_lost(const Cell<Words>& cell, int i, const Mask<Words>& facets) const;
    int new_slot(Cell<Words>& cell);

    void evaluate(Frame& frame, const Cell<Words>& cell, int generator, const Mask<Words>& mask, int first_row);
    int sign_of(const StageMap& map, int row, const double* point, double error, double value) const;
    int exact_sign(const Cell<Words>& cell, Frame& frame, int generator, const Mask<Words>& mask, int row) const;
    int line_sign(Cell<Words>& cell, typename Cell<Words>::Line& line, int row) const;
    double error_between(const Frame& frame, int from, int to, int row, double share, double distance) const;
    void add_combination(Cell<Words>& parent, int positive, int negative, int slot, Cell<Words>& low,
                         Cell<Words>& high);
};

extern template class CellWalk<1>;
extern template class CellWalk<4>;
extern template class CellWalk<16>;
extern template class CellWalk<64>;

}  // namespace polyfold
