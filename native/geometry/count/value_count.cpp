#include "geometry/count/value_count.hpp"

#include <algorithm>
#include <bit>

namespace polyfold {

namespace {

// Corners; fewer are as quickly looked at pair by pair.
template <int Words>
constexpr int worth_searching = Words == 1 ? 32 : 12;

RowSet all_of(int rows) {
    return rows == 64 ? ~RowSet{0} : (RowSet{1} << rows) - 1;
}
RowSet without_first(RowSet rows) {
    return rows & (rows - 1);
}

// The rows that have a sign between two points, whatever the point, because they have no other at both ends.
RowSigns signs_between(const RowSigns& a, const RowSigns& b) {
    const RowSet positive = a.positive | b.positive, negative = a.negative | b.negative;
    return {positive & ~negative, negative & ~positive};
}

}  // namespace

template <int Words>
void ValueCount<Words>::start(const Frame& frame, const std::vector<std::int32_t>& generators,
                              const std::vector<Mask<Words>>& facets_of, std::span<const int> rows, int dimensions) {
    const int count = static_cast<int>(rows.size()), size = static_cast<int>(generators.size());
    dimensions_ = dimensions;
    columns_ = registers_for(count) * lanes;
    rows_ = all_of(count);
    any_zero_ = false;
    if (static_cast<int>(edges_.size()) <= dimensions) {
        edges_.resize(dimensions + 1);
        crossings_.resize(dimensions + 1);
    }
    doubt_.assign(columns_, 0.0);
    norm_.assign(columns_, 0.0);
    for (int c = 0; c < count; ++c) {
        doubt_[c] = frame.doubt[rows[c]];
        norm_[c] = frame.norm[rows[c]];
    }
    corners_.resize(size);
    make_room(size);
    const bool side_by_side = rows.back() - rows.front() + 1 == count;
    for (int v = 0; v < size; ++v) {
        const int g = generators[v];
        const double* known = frame.values(g);
        double* value = numbers(v);
        if (side_by_side) {
            for (int c = 0; c < columns_; c += lanes) store(value + c, load(known + rows[0] + c, count - c));
        } else {
            store(value + columns_ - lanes, Lanes{});
            for (int c = 0; c < count; ++c) value[c] = known[rows[c]];
        }
        corners_[v] = {facets_of[v], put_errors(v, frame.generators.error[g])};
        RowSigns& signs = corners_[v].signs;
        for (RowSet left = rows_ & ~signs.known(); left; left = without_first(left)) {
            const int c = std::countr_zero(left), sign = frame.sign_at(g, rows[c]);
            if (sign > 0) signs.positive |= RowSet{1} << c;
            if (sign < 0) signs.negative |= RowSet{1} << c;
        }
        if (rows_ & ~signs.known()) forget_zeros(v);
    }
    find_edges(dimensions, {0, size}, rows_);
}

template <int Words>
void ValueCount<Words>::know_corner(int corner, double error) {
    put_errors(corner, error);
    forget_zeros(corner);
}

// What the rows may be off at a corner of the whole section whose coordinates are known up to `error`, and the signs
// that this proves.
template <int Words>
RowSigns ValueCount<Words>::put_errors(int corner, double error) {
    double* value = numbers(corner);
    RowSigns signs;
    for (int c = 0; c < columns_; c += lanes) {
        const Lanes off = load(doubt_.data() + c) + load(norm_.data() + c) * error, at = load(value + c);
        store(value + columns_ + c, off);
        signs.positive |= RowSet{bits_of(at > off)} << c;
        signs.negative |= RowSet{bits_of(at < -off)} << c;
    }
    return signs;
}

// Rows that are exactly zero need no doubt.
template <int Words>
void ValueCount<Words>::forget_zeros(int corner) {
    for (RowSet zeros = rows_ & ~corners_[corner].signs.known(); zeros; zeros = without_first(zeros)) {
        const int c = std::countr_zero(zeros);
        numbers(corner)[c] = 0;
        numbers(corner)[columns_ + c] = rounding::tiny;
        any_zero_ = true;
    }
}

template <int Words>
std::int64_t ValueCount<Words>::parts_on(int i) {
    const int size = static_cast<int>(corners_.size());
    const std::int64_t found = parts_on(dimensions_, {0, size}, i, rows_ & ~all_of(i + 1));
    corners_.resize(size);
    return found;
}

// Two corners are neighbours if no third one lies on all facets that they share. A corner that lies on no more facets
// than it has to shares an edge with those that lie on all of its facets but one.
template <int Words>
void ValueCount<Words>::find_edges(int dimensions, Range section, RowSet rows) {
    std::vector<Edge>& edges = edges_[dimensions];
    edges.clear();
    const bool searched = section.size() >= worth_searching<Words>;
    if (searched) sort_by_facets(section);
    const Corner* corners = corners_.data();
    for (int a = section.first; a < section.last; ++a) {
        const Corner from = corners[a];
        const bool simple = from.facets.size() == dimensions;
        const auto consider = [&](int b, bool adjacent) {
            const RowSigns &start = from.signs, &end = corners[b].signs;
            const RowSet cut = ((start.positive & end.negative) | (start.negative & end.positive)) & rows;
            if (cut != 0 && (adjacent || are_neighbours(section, a, b))) edges.push_back({a, b, cut});
        };
        if (simple && searched) {
            search_.for_each_beside([&](auto visit) { from.facets.for_each(visit); }, a + 1 - section.first,
                                    [&](std::size_t i) { consider(section.first + static_cast<int>(i), true); });
            continue;
        }
        for (int b = a + 1; b < section.last; ++b) {
            const int common = (from.facets & corners[b].facets).size();
            if (common >= dimensions - 1) consider(b, simple || corners[b].facets.size() == dimensions);
        }
    }
}

template <int Words>
void ValueCount<Words>::sort_by_facets(Range section) {
    Mask<Words> facets;
    for (int v = section.first; v < section.last; ++v) facets = facets | corners_[v].facets;
    int last = 0;
    facets.for_each([&](int facet) { last = facet; });
    search_.clear(section.size(), last + 1);
    for (int v = section.first; v < section.last; ++v)
        corners_[v].facets.for_each([&](int facet) { search_.put(v - section.first, facet); });
}

template <int Words>
bool ValueCount<Words>::are_neighbours(Range section, int a, int b) const {
    const Mask<Words> common = corners_[a].facets & corners_[b].facets;
    for (int other = section.first; other < section.last; ++other)
        if (other != a && other != b && corners_[other].facets.contains(common)) return false;
    return true;
}

// All rows cut the section, and there are at least two of them.
template <int Words>
std::int64_t ValueCount<Words>::parts(int dimensions, Range section, RowSet rows) {
    stop_.check();
    find_edges(dimensions, section, rows);
    std::int64_t total = 2;  // the section itself, and what the last row makes of it
    for (RowSet behind = without_first(rows); behind; rows = behind, behind = without_first(behind)) {
        const std::int64_t made = parts_on(dimensions, section, std::countr_zero(rows), behind);
        if (made == unproved) return unproved;
        total += made;
    }
    return total;
}

template <int Words>
std::int64_t ValueCount<Words>::parts_on(int dimensions, Range section, int row, RowSet behind) {
    std::vector<Edge>& crossings = crossings_[dimensions];
    crossings.clear();
    RowSet positive = 0, negative = 0;
    const auto see = [&](const RowSigns& signs) {
        positive |= signs.positive;
        negative |= signs.negative;
    };
    for (const Edge& edge : edges_[dimensions]) {
        if (!(edge.cut >> row & 1)) continue;
        crossings.push_back(edge);
        see(signs_between(corners_[edge.from].signs, corners_[edge.to].signs));
    }
    corners_.resize(section.last);
    make_room(section.last + static_cast<int>(crossings.size()) + (any_zero_ ? section.size() : 0));
    if (any_zero_) take_corners_on(section, row, see);
    // First only the corners on edges where a row vanishes that is not yet known to cut the section.
    RowSet doubtful = 0;
    std::erase_if(crossings, [&](const Edge& edge) {
        if ((edge.cut & behind & ~(positive & negative)) == 0) return false;
        doubtful |= make_corner(edge, row, behind);
        see(corners_.back().signs);
        return true;
    });
    const RowSet cutting = positive & negative & behind;
    if (doubtful & ~cutting) return unproved;
    if (behind & ~(positive | negative)) return 0;
    if (without_first(cutting) == 0) return cutting ? 2 : 1;
    for (const Edge& edge : crossings) doubtful |= make_corner(edge, row, cutting);
    if (doubtful & cutting) return unproved;
    return parts(dimensions - 1, {section.last, static_cast<int>(corners_.size())}, cutting);
}

// The corners of a section where the row vanishes are corners of the section's section.
template <int Words>
template <class See>
void ValueCount<Words>::take_corners_on(Range section, int row, See see) {
    for (int v = section.first; v < section.last; ++v) {
        if (corners_[v].signs.known() >> row & 1) continue;
        std::copy_n(numbers(v), 2 * columns_, numbers(static_cast<int>(corners_.size())));
        corners_.push_back(Corner(corners_[v]));
        see(corners_.back().signs);
    }
}

// The corner where the row vanishes on an edge, behind the others. Returns the rows behind whose signs are in doubt.
template <int Words>
RowSet ValueCount<Words>::make_corner(const Edge& edge, int row, RowSet behind) {
    const Corner &a = corners_[edge.from], &b = corners_[edge.to];
    const PointValues from = values(edge.from), to = values(edge.to);
    const RowSigns found = put_values_between(from, to, share_where_zero(row, from, to), behind,
                                              numbers(static_cast<int>(corners_.size())));
    RowSigns signs = signs_between(a.signs, b.signs);
    const RowSet open = edge.cut & behind;
    signs.positive |= open & found.positive;
    signs.negative |= open & found.negative;
    corners_.push_back({a.facets & b.facets, signs});
    return open & ~found.known();
}

template class ValueCount<1>;
template class ValueCount<4>;
template class ValueCount<16>;
template class ValueCount<64>;

}  // namespace polyfold
