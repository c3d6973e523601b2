#include "geometry/cells/line_order.hpp"

#include <algorithm>
#include <utility>

namespace polyfold {

namespace {

// Patterns that are noted: they take no more memory than a few words a gate.
constexpr int most_patterns = 64;

}  // namespace

RootOrder roots_of_rows(const StageMap& map, const std::vector<int>& rows, const StopSignal& stop) {
    std::vector<LineForm> forms;
    for (const int row : rows) forms.push_back({map.entry(row, 0), map.entry(row, 1), map.error(row)});
    return order_of_roots(forms, [&](int form) -> const ExactVector& { return map.exact_row(rows[form]); }, stop);
}

LineOrder::LineOrder(const RowTable& rows, ColumnsByPoint columns, std::vector<std::uint8_t> pattern, int first_gate,
                     Forms above)
    : rows_(rows),
      by_point_(std::move(columns)),
      first_gate_(first_gate),
      above_(std::move(above)),
      spread_(1 + by_point_.points() / most_patterns) {
    plant_tree();
    note_patterns(std::move(pattern));
}

// Every point is below those around it that have an earlier column, and above those that have a later one.
void LineOrder::plant_tree() {
    left_.assign(by_point_.points(), none);
    right_.assign(by_point_.points(), none);
    std::vector<int> rightmost;  // from the root on
    for (int point = 1; point + 1 < by_point_.points(); ++point) {
        while (!rightmost.empty() && first_column(rightmost.back()) > first_column(point)) {
            left_[point] = rightmost.back();
            rightmost.pop_back();
        }
        if (!rightmost.empty()) right_[rightmost.back()] = point;
        rightmost.push_back(point);
    }
    if (!rightmost.empty()) root_ = rightmost.front();
}

void LineOrder::note_patterns(std::vector<std::uint8_t> pattern) {
    const int points = by_point_.points();
    for (int point = 0; point < points; ++point)
        for_each_column(point, [&](int c) {
            pattern[gate(c) / 8] |= static_cast<std::uint8_t>(!by_point_.rising[c] << (gate(c) % 8));
        });
    for (int point = 0; point < points; ++point) {
        if (point % spread_ == 0) patterns_.push_back(pattern);
        flip(point, pattern);
    }
}

void LineOrder::flip(int point, std::vector<std::uint8_t>& pattern) const {
    for_each_column(point, [&](int c) { pattern[gate(c) / 8] ^= static_cast<std::uint8_t>(1 << (gate(c) % 8)); });
}

LineOrder::Part LineOrder::side(const Part& part, bool on) const {
    const bool behind = on == static_cast<bool>(by_point_.rising[cutting(part)]);
    if (behind) return {part.top + 1, part.last, right_[part.top]};
    return {part.first, part.top, left_[part.top]};
}

std::vector<int> LineOrder::meeting(const Part& part) const {
    std::vector<int> columns;
    for_each_column(part.top, [&](int c) {
        if (c != cutting(part) && c < last_few()) columns.push_back(c);
    });
    return columns;
}

std::vector<int> LineOrder::columns_left(const Part& part) const {
    std::vector<int> columns;
    for (int point = part.first - 1; point <= part.last; ++point)
        for_each_column(point, [&](int c) {
            if (c >= last_few()) columns.push_back(c);
        });
    std::sort(columns.begin(), columns.end());
    return columns;
}

int LineOrder::next_column(const Part& part) const {
    if (!few_left(part)) return cutting(part);
    const std::vector<int> left = columns_left(part);
    return left.empty() ? rows_.count() : left.front();
}

void LineOrder::write_pattern(const Part& part, std::vector<std::uint8_t>& pattern) const {
    const int noted = part.first / spread_;
    pattern = patterns_[noted];
    for (int point = noted * spread_; point < part.first; ++point) flip(point, pattern);
    for (int point = part.first - 1; point <= part.last; ++point)
        for_each_column(point, [&](int c) {
            const bool within = part.first <= point && point < part.last;
            if (within || c >= last_few()) pattern[gate(c) / 8] &= static_cast<std::uint8_t>(~(1 << (gate(c) % 8)));
        });
}

}  // namespace polyfold
