#include "geometry/list/part_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_facets = 64;
constexpr std::size_t worth_gathering = 32;  // times that parts would get a vertex
constexpr int worth_searching = 10;          // vertices; fewer are looked at as quickly one by one

// More parts than so many rows make in general position.
bool may_make_too_many(int rows, int dim) {
    if (rows > most_rows) return true;
    std::int64_t parts = 1, choices = 1;
    for (int k = 1; k <= std::min(rows, dim) && parts <= PartTable::most_parts; ++k) {
        choices = choices * (rows - k + 1) / k;
        parts += choices;
    }
    return parts > PartTable::most_parts;
}

// Numbers into registers of their own; nothing is behind the last one.
void copy_into(Lanes* registers, const double* numbers, int count) {
    for (; count >= lanes; count -= lanes, numbers += lanes) std::memcpy(registers++, numbers, sizeof(Lanes));
    if (count == 0) return;
    const double second = count > 1 ? numbers[1] : 0.0, third = count > 2 ? numbers[2] : 0.0;
    *registers = Lanes{numbers[0], second, third, 0.0};
}

// Which rows are positive, by their signs; false if one vanishes.
bool read_code(const std::int8_t* sign, int rows, std::uint64_t& code) {
    // Eight signs at a time: the low bits of all bytes, multiplied up into the highest byte, the first one highest.
    constexpr std::uint64_t low = 0x0101010101010101, to_top = 0x8040201008040201;
    std::uint64_t vanishing = 0;
    for (int r = 0; r < rows; r += 8) {
        std::uint64_t signs = 0;
        const int left = std::min(rows - r, 8);
        std::memcpy(&signs, sign + r, static_cast<std::size_t>(left));
        // Signs are -2, -1, 1, 2: of these, one of the two lowest bits is set.
        const std::uint64_t some = (signs | signs >> 1) & low, negative_ones = signs >> 7 & low;
        const std::uint64_t all = low >> (8 * (8 - left));
        vanishing |= some ^ all;
        code |= ((some & ~negative_ones) * to_top >> 56) << (most_rows - 8 - r);
    }
    return vanishing == 0;
}

template <class Visit>
void for_each_bit(std::uint64_t bits, Visit visit) {
    for (; bits; bits &= bits - 1) visit(std::countr_zero(bits));
}

// Numbers of rows into registers, from the last row on.
void read_rows(const double* numbers, int rows, Lanes* registers) {
    for (int i = registers_for(rows) - 1, row = 0; i >= 0; --i, row += lanes)
        registers[i] = reversed(load(numbers + row, std::min(lanes, rows - row)));
}

}  // namespace

template <int Words>
bool PartList<Words>::look_at(const Cell<Words>& cell) {
    const Frame& frame = *cell.frame;
    rows_ = frame.count() - cell.row;
    if (rows_ > most_rows || !cell.lines.empty() || cell.facets.size() > most_facets) return false;
    Bits some = 0, all = ~Bits{0};
    made_ = 0;
    if (vertices_.size() < cell.generators.size()) vertices_.resize(2 * cell.generators.size());
    for (const int g : cell.generators) {
        Bits code = 0;
        if (!read_code(frame.signs(g) + cell.row, rows_, code)) return false;
        vertices_[made_++] = {code, 0, frame.generators.at_infinity[g] != 0};
        some |= code;
        all &= code;
    }
    cutting_ = some & ~all;
    return !may_make_too_many(std::popcount(cutting_), problem_.dim);
}

template <int Words>
bool PartList<Words>::find(Cell<Words>& cell) {
    start(cell);
    return cutting_ == 0 || cut(cell, 0, 0, cutting_);
}

// The cell itself is the first section.
template <int Words>
void PartList<Words>::start(const Cell<Words>& cell) {
    const Frame& frame = *cell.frame;
    const int first = cell.row;
    row_registers_ = registers_for(rows_);
    norm_.resize(row_registers_);
    doubt_.resize(row_registers_);
    read_rows(frame.norm.data() + first, rows_, norm_.data());
    read_rows(frame.doubt.data() + first, rows_, doubt_.data());

    slots_.clear();
    cell.facets.for_each([&](int s) { slots_.push_back(s); });
    std::sort(slots_.begin(), slots_.end(), [&](int a, int b) { return cell.slots[a].wall < cell.slots[b].wall; });
    bit_of_slot_.resize(cell.slots.size());
    for (std::size_t bit = 0; bit < slots_.size(); ++bit) bit_of_slot_[slots_[bit]] = static_cast<int>(bit);

    parts_.clear(rows_, point_registers_);
    kept_.clear();
    make_room(cell.size());
    for (int v = 0; v < cell.size(); ++v) {
        const int g = cell.generators[v];
        cell.facets_of[v].for_each([&](int s) { vertices_[v].facets |= Bits{1} << bit_of_slot_[s]; });
        read_values(frame, first, g, values(v));
        copy_into(point(v), cell.point(v), dimensions_);
        hand_out(v, 0, parts_);
        keep(v, 0);
    }
    levels_[0].first = 0;
    levels_[0].last = cell.size();
}

template <int Words>
void PartList<Words>::make_room(std::size_t vertices) {
    if (vertices_.size() < vertices) vertices_.resize(2 * vertices);
    if (points_.size() < vertices * point_registers_) points_.resize(2 * vertices * point_registers_);
    if (values_.size() < vertices * row_registers_) values_.resize(2 * vertices * row_registers_);
}

// Give a vertex to all parts around it: at t = 1, or as a direction.
template <int Words>
void PartList<Words>::hand_out(int v, Bits chain, PartTable& parts) {
    const Vertex& vertex = vertices_[v];
    const Lanes* at = point(v);
    const double scale = vertex.infinite ? 1.0 : 1 / at[last_register_][last_lane_];
    for (int i = 0; i < point_registers_; ++i) scaled_[i] = at[i] * scale;
    parts.add_vertex(vertex.code, chain, vertex.facets, vertex.infinite, scaled_.data());
}

// The edges of a section that one of the rows cuts.
template <int Words>
void PartList<Words>::find_edges(int level, Bits rows) {
    Section& section = levels_[level];
    section.edges = 0;
    const int first = section.first, last = section.last, facets = problem_.dim - level - 1;
    const bool searched = last - first >= worth_searching;
    if (searched) {
        search_.clear(last - first, slots_.size(), rows_);
        for (int v = first; v < last; ++v)
            for_each_bit(vertices_[v].facets, [&](int facet) { search_.put(v - first, facet); });
        // Among few the edges that no row cuts are sooner dropped than avoided.
        if (search_.many())
            for (int v = first; v < last; ++v)
                for_each_row(vertices_[v].code & rows, [&](int row) { search_.put_positive(v - first, row); });
    }
    for (int a = first; a < last; ++a) {
        const Vertex& from = vertices_[a];
        const auto add_if_cut = [&](int b) { section.add({a, b, (from.code ^ vertices_[b].code) & rows}); };
        // A simple vertex has an edge to those which lie on all of its facets but one.
        if (std::popcount(from.facets) != facets + 1) {
            for (int b = a + 1; b < last; ++b) add_edge_if_any(section, a, b, rows, facets);
        } else if (searched) {
            const auto for_each_facet = [&](auto visit) { for_each_bit(from.facets, visit); };
            const auto for_each_row_in_question = [&](auto visit) {
                for_each_row(rows, [&](int row) { visit(row, (from.code & bit_of_row(row)) != 0); });
            };
            const auto visit = [&](std::size_t i) { add_if_cut(first + static_cast<int>(i)); };
            if (search_.many())
                search_.for_each_across(for_each_facet, for_each_row_in_question, a + 1 - first, visit);
            else
                search_.for_each_beside(for_each_facet, a + 1 - first, visit);
        } else {
            for (int b = a + 1; b < last; ++b)
                if (const Bits missing = from.facets & ~vertices_[b].facets; (missing & (missing - 1)) == 0)
                    add_if_cut(b);
        }
    }
}

// Two vertices are neighbours if no third one lies on all facets that they share.
template <int Words>
void PartList<Words>::add_edge_if_any(Section& section, int a, int b, Bits rows, int facets) const {
    const Vertex &from = vertices_[a], &to = vertices_[b];
    const Bits cutting = (from.code ^ to.code) & rows, common = from.facets & to.facets;
    if (cutting == 0 || std::popcount(common) < facets) return;
    if (std::popcount(to.facets) != facets + 1)
        for (int other = section.first; other < section.last; ++other)
            if (other != a && other != b && (vertices_[other].facets & common) == common) return;
    section.add({a, b, cutting});
}

// Cut a section, which the rows of `chain` have made, by each of these rows, and what they make of it by those behind.
template <int Words>
bool PartList<Words>::cut(Cell<Words>& cell, int level, Bits chain, Bits rows) {
    find_edges(level, rows);
    Section& next = levels_[level + 1];
    const int made = levels_[level].last;
    make_room(made + levels_[level].edges);
    while (rows) {
        stop_.check();
        const int row = std::countl_zero(rows);
        const Bits bit = bit_of_row(row);
        rows ^= bit;
        Bits some = 0, all = ~Bits{0};
        levels_[level].list_edges_cut_by(bit, cut_);
        // Many vertices lie between the same parts: put them together before all these parts get them.
        const bool gather = cut_.size() << (level + 1) >= worth_gathering;
        if (gather) gathered_.clear(rows_, point_registers_);
        for (const Edge& edge : cut_) {
            if (!add_crossing(cell, edge, row, chain | bit)) return false;
            const int v = made_ - 1;
            if (gather)
                hand_out(v, 0, gathered_);
            else
                hand_out(v, chain | bit, parts_);
            keep(v, chain | bit);
            some |= vertices_[v].code;
            all &= vertices_[v].code;
        }
        if (gather) parts_.add_vertices(gathered_, chain | bit);
        next.first = made;
        next.last = made_;
        if (const Bits cutting = some & ~all & rows)
            if (!cut(cell, level + 1, chain | bit, cutting)) return false;
        made_ = made;
    }
    return true;
}

// The vertex where the row vanishes on an edge, which is one of the section that the rows of `chain` make.
template <int Words>
bool PartList<Words>::add_crossing(Cell<Words>& cell, const Edge& edge, int row, Bits chain) {
    const Vertex &from = vertices_[edge.from], &to = vertices_[edge.to];
    const RowValues *from_values = values(edge.from), *to_values = values(edge.to);
    const double from_size = std::abs(value_of_row(from_values, row_registers_, row));
    const double to_size = std::abs(value_of_row(to_values, row_registers_, row));
    const double from_doubt = doubt_of_row(from_values, row_registers_, row);
    const double to_doubt = doubt_of_row(to_values, row_registers_, row);
    const Share share = Share::between(from_size, to_size, from_doubt, to_doubt);
    const KnownSigns signs = inherit_values(share, row_registers_, from_values, to_values, values(made_));

    const Lanes *start = point(edge.from), *end = point(edge.to);
    Lanes* at = point(made_);
    for (int i = 0; i < point_registers_; ++i) at[i] = start[i] + share.share * (end[i] - start[i]);

    // Where both ends have the same sign, so has the vertex.
    const Bits open = (from.code ^ to.code) & ~bit_of_row(row);
    Vertex vertex{from.code & to.code, from.facets & to.facets, from.infinite && to.infinite};
    if (vertex.infinite) at[last_register_][last_lane_] = 0;
    // The signs at the ends are right even where the values alone do not prove them; the place between is then only a
    // guess. Nobody may ever ask for a sign here, but a place that is quite wrong would spoil the witnesses.
    const double last = at[last_register_][last_lane_];
    const bool in_place =
        from_size > from_doubt && to_size > to_doubt && share.error < rounding::near &&
        (vertex.infinite || share.error * std::max(start[last_register_][last_lane_], end[last_register_][last_lane_]) <
                                rounding::there * last);
    if (!in_place || (open & ~signs.sure) != 0) return add_by_equations(cell, vertex, open, chain);
    vertex.code |= signs.positive & open;
    vertices_[made_++] = vertex;
    return true;
}

// The same where values along the edge do not tell enough. False if another row vanishes there as well.
template <int Words>
bool PartList<Words>::add_by_equations(Cell<Words>& cell, Vertex vertex, Bits open, Bits chain) {
    const int v = made_++, first = cell.row;
    Frame& frame = *cell.frame;
    const Mask<Words> mask = mask_of(cell, vertex.facets, chain);
    for (int k = 0; k < dimensions_; ++k) place_[k] = point(v)[k / lanes][k % lanes];
    auto settled = crossing_.equations().settle(cell, mask, Equations<Words>::no_line, vertex.infinite,
                                                {rounding::unknown, false, rounding::poor}, place_.data());
    const int g = frame.generators.add(place_.data(), settled.error, vertex.infinite, std::move(settled.exact), {});
    RowValues* const found = values(v);
    for (int i = 0; i < row_registers_; ++i) found[i] = RowValues{};
    bool apart = true;
    for (int r = 0; r < rows_; ++r) {
        double value = 0;
        for (int k = 0; k < dimensions_; ++k) value += frame.forms[k * frame.count() + first + r] * place_[k];
        const double doubt = frame.doubt[first + r] + frame.norm[first + r] * frame.generators.error[g];
        set_row(found, row_registers_, r, value, doubt * (1 + 0x1p-20));
        if (!(open & bit_of_row(r))) continue;
        const int sign = std::abs(value) > doubt
                             ? (value > 0 ? positive : negative)
                             : crossing_.doubtful_sign(frame, cell, g, mask, frame.rows[first + r], value);
        if (sign > 0) vertex.code |= bit_of_row(r);
        apart = apart && sign != zero;
    }
    frame.truncate(g);
    copy_into(point(v), place_.data(), dimensions_);
    vertices_[v] = vertex;
    return apart;
}

// The slots of a vertex on these facets and rows. The rows get slots that are free, so that their equations are found.
template <int Words>
Mask<Words> PartList<Words>::mask_of(Cell<Words>& cell, Bits facets, Bits chain) const {
    Mask<Words> mask, used = cell.facets;
    for_each_bit(facets, [&](int bit) { mask.set(slots_[bit]); });
    for_each_row(chain, [&](int r) {
        const int slot = used.first_free();
        if (slot < 0) throw TooManyFacets();
        used.set(slot);
        mask.set(slot);
        if (slot >= static_cast<int>(cell.slots.size())) cell.slots.resize(slot + 1);
        const int row = cell.frame->rows[cell.row + r];
        cell.slots[slot] = {cell.map.get(), row, problem_.stages[cell.stage].first_wall + row};
    });
    return mask;
}

// What is known of the rows at a generator of the frame.
template <int Words>
void PartList<Words>::read_values(const Frame& frame, int first, int generator, RowValues* values) const {
    const double error = frame.generators.error[generator];
    const double* const value = frame.values(generator) + first;
    for (int i = row_registers_ - 1, row = 0; i >= 0; --i, row += lanes)
        values[i] = {reversed(load(value + row, std::min(lanes, rows_ - row))),
                     (doubt_[i] + norm_[i] * error) * (1 + 0x1p-20)};
}

template class PartList<1>;
template class PartList<4>;
template class PartList<16>;
template class PartList<64>;

}  // namespace polyfold
