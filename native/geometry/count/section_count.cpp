#include "geometry/count/section_count.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

enum Side : std::uint8_t { above = 1, below = 2, both = 3 };

}  // namespace

template <int Words>
std::int64_t SectionCount<Words>::parts(Cell<Words>& cell) {
    const int left = cell.frame->count() - cell.row;
    // A frame has rows that cut the cell which it was made for.
    if (left == 0 || (left == 1 && cell.row == 0)) return 1 + left;
    Section& whole = levels_[0];
    whole.generators = cell.generators;
    whole.facets_of = cell.facets_of;
    rows_.resize(left);
    std::iota(rows_.begin(), rows_.end(), cell.row);
    if (cell.row == 0) {
        whole.rows = rows_;
    } else {
        find_rows(*cell.frame, whole, rows_.data(), left);
    }
    asked_.clear();
    return parts(cell, 0);
}

// Of the section of this level, which its rows cut: all of them.
template <int Words>
std::int64_t SectionCount<Words>::parts(Cell<Words>& cell, int level) {
    Section& section = levels_[level];
    const int cutting = static_cast<int>(section.rows.size());
    if (cutting < 2) return 1 + cutting;
    if (level == problem_.dim - 1) return 1 + points(cell, section);
    std::int64_t total = 2;  // the section itself, and what the last row makes of it: nothing is left to cut that
    section.edges.clear();   // until they are wanted
    started_at_ = -1;
    for (int r = 0; r + 1 < cutting; ++r) {
        stop_.check();
        const std::int64_t by_values = parts_by_values(cell, level, r);
        total += by_values == ValueCount<Words>::unproved ? parts_by_coordinates(cell, level, r) : by_values;
    }
    return total;
}

// What the rows behind one of them make of the section where that one vanishes.
template <int Words>
std::int64_t SectionCount<Words>::parts_by_values(Cell<Words>& cell, int level, int r) {
    const Section& section = levels_[level];
    const std::span<const int> left = std::span(section.rows).subspan(r);
    if (left.size() > ValueCount<Words>::most_rows) return ValueCount<Words>::unproved;
    if (started_at_ < 0) {
        values_.start(*cell.frame, section.generators, section.facets_of, left, problem_.dim - level);
        started_at_ = r;
    }
    const std::int64_t found = values_.parts_on(r - started_at_);
    if (found != ValueCount<Words>::unproved || level > 0 || !know_corners_better(cell)) return found;
    return values_.parts_on(r - started_at_);
}

// What corners of the cell may be off was inherited along edges; their equations may know better.
template <int Words>
bool SectionCount<Words>::know_corners_better(Cell<Words>& cell) {
    Frame& frame = *cell.frame;
    asked_.resize(cell.size(), false);
    bool better = false;
    values_.for_each_corner_asked([&](int v) {
        const int g = cell.generators[v];
        if (asked_[v] || frame.generators.exact[g]) return;
        asked_[v] = true;
        const double error = crossing_.equations().error_at(cell, frame, g, cell.facets_of[v]);
        if (!(error < frame.generators.error[g])) return;
        frame.generators.error[g] = error;
        values_.know_corner(v, error);
        better = true;
    });
    return better;
}

template <int Words>
std::int64_t SectionCount<Words>::parts_by_coordinates(Cell<Words>& cell, int level, int r) {
    Section& section = levels_[level];
    const int made = cell.frame->generators.size();
    if (section.edges.empty()) find_edges(section);
    cut(cell, level, section.rows[r]);
    std::int64_t parts_found = 0;
    if (find_rows(*cell.frame, levels_[level + 1], section.rows.data() + r + 1,
                  static_cast<int>(section.rows.size()) - r - 1))
        parts_found = parts(cell, level + 1);
    cell.frame->truncate(made);
    started_at_ = -1;
    return parts_found;
}

// The rows among these that cut the section; false if one contains it.
template <int Words>
bool SectionCount<Words>::find_rows(const Frame& frame, Section& section, const int* rows, int count) const {
    section.rows.clear();
    if (count == 0) return true;
    const int first = rows[0], span = rows[count - 1] + 1 - first;
    section.sides.assign(static_cast<std::size_t>(span), 0);
    std::uint8_t* sides = section.sides.data();
    for (const int g : section.generators) {
        const std::int8_t* sign = frame.sign.data() + static_cast<std::ptrdiff_t>(g) * frame.count() + first;
        for (int c = 0; c < span; ++c)
            sides[c] |= static_cast<std::uint8_t>((sign[c] > 0 ? above : 0) | (sign[c] < 0 ? below : 0));
    }
    for (int i = 0; i < count; ++i) {
        const std::uint8_t side = sides[rows[i] - first];
        if (side == 0) return false;
        if (side == both) section.rows.push_back(rows[i]);
    }
    return true;
}

// Two generators are neighbours if no third one lies on all walls that they share.
template <int Words>
void SectionCount<Words>::find_edges(Section& section) const {
    const int walls = problem_.dim - 1, size = section.size();
    for (int a = 0; a < size; ++a) {
        const Mask<Words>& mask = section.facets_of[a];
        const bool simple = mask.size() == walls + 1;
        for (int b = a + 1; b < size; ++b) {
            const Mask<Words> common = mask & section.facets_of[b];
            if (common.size() < walls) continue;
            bool adjacent = simple || section.facets_of[b].size() == walls + 1;
            if (!adjacent) {
                adjacent = true;
                for (int other = 0; other < size && adjacent; ++other)
                    adjacent = other == a || other == b || !section.facets_of[other].contains(common);
            }
            if (adjacent) section.edges.emplace_back(a, b);
        }
    }
}

// The section of a section where a row vanishes, into the next level.
template <int Words>
void SectionCount<Words>::cut(Cell<Words>& cell, int level, int row) {
    const Section& section = levels_[level];
    Section& next = levels_[level + 1];
    next.clear();
    Frame& frame = *cell.frame;
    const int slot = new_slot(cell, level, row);
    for (int v = 0; v < section.size(); ++v) {
        if (frame.sign_at(section.generators[v], row) != zero) continue;
        Mask<Words> mask = section.facets_of[v];
        mask.set(slot);
        next.add(section.generators[v], mask);
    }
    for (const auto& [a, b] : section.edges) {
        const int from = section.generators[a], to = section.generators[b];
        const int sign_from = frame.sign_at(from, row), sign_to = frame.sign_at(to, row);
        if (sign_from * sign_to >= 0) continue;
        Mask<Words> mask = section.facets_of[a] & section.facets_of[b];
        mask.set(slot);
        next.add(crossing_.between(frame, cell, sign_from > 0 ? from : to, sign_from > 0 ? to : from, row, mask), mask);
    }
}

// A slot for the row that makes the next level; it is no facet of the cell, but its equation must be found.
template <int Words>
int SectionCount<Words>::new_slot(Cell<Words>& cell, int level, int row) const {
    Mask<Words> used = cell.facets;
    int slot = used.first_free();
    for (int l = 0; l < level && slot >= 0; ++l) {
        used.set(slot);
        slot = used.first_free();
    }
    if (slot < 0) throw TooManyFacets();
    if (slot >= static_cast<int>(cell.slots.size())) cell.slots.resize(slot + 1);
    const int stage_row = cell.frame->rows[row];
    cell.slots[slot] = {cell.map.get(), stage_row, problem_.stages[cell.stage].first_wall + stage_row};
    return slot;
}

// How many points the rows make on a segment: as many as there are rows, unless some meet.
template <int Words>
int SectionCount<Words>::points(Cell<Words>& cell, const Section& segment) {
    const int count = static_cast<int>(segment.rows.size());
    if (count == 1 || clearly_apart(*cell.frame, segment)) return count;
    Frame& frame = *cell.frame;
    const int made = frame.generators.size(), level = problem_.dim - 1;
    int distinct = 0;
    for (int r = 0; r < count; ++r) {
        const int row = segment.rows[r], slot = new_slot(cell, level, row);
        Mask<Words> mask = segment.facets_of[0] & segment.facets_of[1];
        mask.set(slot);
        const int up = frame.sign_at(segment.generators[0], row) > 0 ? 0 : 1;
        const int g = crossing_.between(frame, cell, segment.generators[up], segment.generators[1 - up], row, mask);
        bool met = false;
        for (int later = r + 1; later < count; ++later) met = met || frame.sign_at(g, segment.rows[later]) == zero;
        distinct += !met;
        frame.truncate(made);
    }
    return distinct;
}

// Whether floats alone prove that all rows cut the segment in different points.
template <int Words>
bool SectionCount<Words>::clearly_apart(const Frame& frame, const Section& segment) {
    const int from = segment.generators[0], to = segment.generators[1];
    const double from_error = frame.generators.error[from], to_error = frame.generators.error[to];
    points_.clear();
    for (const int row : segment.rows) {
        const double start = frame.value_at(from, row), end = frame.value_at(to, row), height = std::abs(start - end);
        const double start_doubt = frame.doubt[row] + frame.norm[row] * from_error;
        const double end_doubt = frame.doubt[row] + frame.norm[row] * to_error;
        const double sure = height * (1 - 0x1p-20) - start_doubt - end_doubt;
        if (!(sure > 0) || !(start_doubt < std::abs(start)) || !(end_doubt < std::abs(end))) return false;
        const double share = std::abs(start) / height;
        const double error = ((1 - share) * start_doubt + share * end_doubt) / sure * (1 + 0x1p-20);
        points_.push_back({share, error + rounding::bound(8)});
    }
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.share < b.share; });
    double reached = -1;
    for (const Point& point : points_) {
        if (!(point.share - point.error > reached)) return false;
        reached = point.share + point.error;
    }
    return true;
}

template class SectionCount<1>;
template class SectionCount<4>;
template class SectionCount<16>;
template class SectionCount<64>;

}  // namespace polyfold
