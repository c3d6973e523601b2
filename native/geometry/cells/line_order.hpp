// In which order a stage's rows cut a cell of one dimension: along the cell, and for the walk.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/frame.hpp"
#include "geometry/exact/root_order.hpp"

namespace polyfold {

// Up to so many rows of a frame are sooner looked at one by one.
inline constexpr int few_rows = 64;

// Where these rows of a stage vanish on a line; none of them is constant.
RootOrder roots_of_rows(const StageMap& map, const std::vector<int>& rows, const StopSignal& stop);

// A frame's columns by the points of a cell where they vanish, from minus infinity on. The first and the last point are
// the cell's ends: columns that vanish there do not cut it.
struct ColumnsByPoint {
    std::vector<int> columns, start{0};  // where each point's begin, with their count behind the last
    std::vector<std::uint8_t> rising;    // by column: whether its row is on behind the point

    int points() const { return static_cast<int>(start.size()) - 1; }
};

// The walk cuts a cell by one row after the other. Along a line it is known beforehand which parts each of them finds
// to cut: parts within parts, a tree of them, kept in linear memory for any order of the rows along the cell. Thus no
// row need be looked at on parts that it does not cut.
class LineOrder {
  public:
    // What lies between two points, with the points first .. last - 1 within.
    struct Part {
        int first = 1, last = 1;
        int top = none;  // the point where it is cut first
    };
    static constexpr int none = -1;

    // `pattern` is that of the cell, with these gates off; `first_gate` is the stage's. `above` are the next stage's
    // forms without any of the frame's rows.
    LineOrder(const RowTable& rows, ColumnsByPoint columns, std::vector<std::uint8_t> pattern, int first_gate,
              Forms above);

    const RowTable& rows() const { return rows_; }
    const Forms& above() const { return above_; }

    Part whole() const { return {1, by_point_.points() - 1, root_}; }
    Part side(const Part& part, bool on) const;  // of the row that cuts it first

    // Whether no columns but the frame's last few cut the part.
    bool few_left(const Part& part) const { return part.top == none || cutting(part) >= last_few(); }
    int last_few() const { return rows_.count() - few_rows; }
    int cutting(const Part& part) const { return first_column(part.top); }
    // The columns, but for the last few, that vanish where the part is cut first, behind the one that cuts it.
    std::vector<int> meeting(const Part& part) const;
    // Those of the last few that cut the part or vanish at its ends.
    std::vector<int> columns_left(const Part& part) const;
    // The first column that is not decided on the part, or their count.
    int next_column(const Part& part) const;

    // What is decided on a part; gates that are not are off.
    void write_pattern(const Part& part, std::vector<std::uint8_t>& pattern) const;

  private:
    RowTable rows_;
    ColumnsByPoint by_point_;
    int first_gate_;
    Forms above_;
    std::vector<int> left_, right_;  // the tree: by point, where the parts on both sides are cut first
    int root_ = none;
    int spread_;                                       // points from one of these patterns to the next one,
    std::vector<std::vector<std::uint8_t>> patterns_;  // each in front of its point

    int first_column(int point) const { return by_point_.columns[by_point_.start[point]]; }
    template <class Visit>
    void for_each_column(int point, Visit visit) const {
        for (int at = by_point_.start[point]; at < by_point_.start[point + 1]; ++at) visit(by_point_.columns[at]);
    }
    void plant_tree();
    void note_patterns(std::vector<std::uint8_t> pattern);
    void flip(int point, std::vector<std::uint8_t>& pattern) const;
    int gate(int column) const { return first_gate_ + rows_.rows[column]; }
};

}  // namespace polyfold
