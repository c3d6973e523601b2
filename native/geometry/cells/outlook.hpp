// What is known of the next stage's gates on the whole cell that a frame was made for, before its rows are decided.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/exact/row_signs.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/problem/stage_map.hpp"

namespace polyfold {

struct Frame;

struct Outlook {
    bool known = false;
    Forms forms;  // the next stage's forms without the frame's rows

    // Gates that are on in the whole cell, and those that may switch in it; all others are off.
    bool judged = false;
    RowBits on;
    std::vector<int> open;

    // Where nothing but signs is wanted of the next stage, the forms are those of the open gates alone, behind one that
    // says nothing, and these are the weights that they have for the frame's rows: [frame row * forms + form].
    bool only_open = false;
    std::vector<double> weights;

    // Which of the frame's gates were on in the part that was looked at last, and its forms as they were when the first
    // few gates were added, and the next few, and so on: parts come in the order of a tree, and mostly differ in the
    // last.
    std::vector<std::uint64_t> sides;
    std::vector<Forms> sums;
};

// Finds it. A gate of the next stage is an affine form plus a multiple of each of the frame's gates, and these bend by
// no more than their values at the cell's generators allow. See decision 53.
class Lookout {
  public:
    explicit Lookout(const Problem& problem) : problem_(problem), of_inputs_(problem.stages.size()) {}

    // `map` has the frame's stage, and `pattern` is right for all gates but the frame's.
    void look(Frame& frame, const StageMap& map, const std::vector<std::uint8_t>& pattern);

    // Afterwards, the next stage's forms on a part of the cell: with the frame's gates as its pattern has them.
    void put_forms(Frame& frame, const StageMap& map, const std::vector<std::uint8_t>& pattern, Forms& forms);

  private:
    const Problem& problem_;
    std::vector<Forms> of_inputs_;  // of every stage that was looked at
    std::vector<std::uint64_t> part_;
    Forms some_forms_;

    // Scratch. A point is a generator of the cell, and behind its coordinates the values of the frame's gates there.
    int coordinates_ = 0;
    std::vector<double> points_, point_error_;
    std::vector<double> scale_, bend_;               // of each of the frame's gates
    std::vector<double> table_, norm_, form_error_;  // of the next stage's rows: [coordinate * rows + row]
    RowBox box_;
    RowSides sides_;
    std::vector<double> open_table_, open_norm_, doubt_, value_;
    RowBits in_doubt_;

    std::size_t sums_in_common(const std::vector<std::uint64_t>& before, std::size_t gates) const;
    bool place_points(const Frame& frame, int stage);
    void list_rows(const Outlook& ahead, const Frame& frame, const Stage& above, const Block& block);
    void judge_on_box(Outlook& ahead, const Frame& frame, int width);
    void judge_at_points(Outlook& ahead, const Frame& frame, int width);
    void keep_open(Outlook& ahead, const Frame& frame, const Block& block, int width);
};

}  // namespace polyfold
