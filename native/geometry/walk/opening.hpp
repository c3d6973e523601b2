// A cell enters a stage, or most rows of one no longer cut it: which rows cut it is found, the others are decided, and
// it gets a frame of those that do.
#pragma once

#include <memory>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/cell.hpp"
#include "geometry/cells/crossing.hpp"
#include "geometry/exact/row_signs.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

// Have the cell's generators, by new numbers, in another frame without any.
template <int Words>
void take_generators(Cell<Words>& cell, const Frame& from, Frame& to);

template <int Words>
class Opening {
  public:
    Opening(const Problem& problem, const StopSignal& stop, bool keep_touched, Crossing<Words>& crossing)
        : problem_(problem),
          stop_(stop),
          keep_touched_(keep_touched),
          dimensions_(problem.dim + 1),
          crossing_(crossing),
          frames_(problem.stages.size()) {}

    // A frame of the stage without anything.
    std::shared_ptr<Frame> fresh_frame(int stage);

    // A frame of the stage whose map the cell has got, with the cell's generators in the frame before and with what is
    // known of the stage on that frame's cell (or nothing).
    void open(Cell<Words>& cell, Frame* before, const Outlook* ahead);

    // A frame of the rows that still cut the cell, where these are few of those that are left.
    void narrow(Cell<Words>& cell);

    // Decide the rows up to the next one that cuts the cell, perhaps in a frame of fewer rows; false if there is none.
    // The cell has no lines.
    bool find_next_cut(Cell<Words>& cell);

    // Decide a row that has one sign on the cell, or none, and vanishes at these of its generators.
    void settle_gate(Cell<Words>& cell, int row, bool positive, bool negative, const std::vector<int>& zeros);
    void record_touching(Cell<Words>& cell, int wall, const std::vector<int>& zeros);

    int line_sign(Cell<Words>& cell, typename Cell<Words>::Line& line, int row);

  private:
    const Problem& problem_;
    const StopSignal& stop_;
    const bool keep_touched_;
    const int dimensions_;  // dim + 1
    Crossing<Words>& crossing_;
    // The last one made for each stage, which is mostly free again when the next one is wanted.
    std::vector<std::shared_ptr<Frame>> frames_;

    // Scratch.
    std::vector<double> values_;
    std::vector<std::int8_t> signs_;
    std::vector<std::uint8_t> sides_;
    std::vector<std::int32_t> origins_;
    RowTable open_rows_;
    RowBox box_;
    RowSides row_sides_;
    RowBits in_doubt_;
    std::vector<int> columns_, zeros_;

    // On which sides of eight rows that are left a cell has generators: the lowest bit of a byte for each row.
    struct EightRows {
        std::uint64_t above = 0, below = 0, on_it = 0;

        std::uint64_t cutting() const { return above & below; }
    };
    std::vector<EightRows> left_;

    void open_all_rows(Cell<Words>& cell, Frame& before);
    void open_gates(Cell<Words>& cell, Frame& before, const Outlook* ahead);
    void settle_on_box(Cell<Words>& cell);
    void settle_as_foreseen(Cell<Words>& cell, const Outlook& ahead);
    bool look_at_open_rows(Cell<Words>& cell, Frame& before);
    void settle_rows(Cell<Words>& cell, bool any_zero);
    EightRows look_at_eight(const Cell<Words>& cell, int first) const;
    void look_at_rows_left(const Cell<Words>& cell);
    void settle_some(Cell<Words>& cell, const EightRows& rows, int first, int count);
    bool narrow_to_cutting(Cell<Words>& cell);
    void list_all_rows(int width);
};

extern template class Opening<1>;
extern template class Opening<4>;
extern template class Opening<16>;
extern template class Opening<64>;

}  // namespace polyfold
