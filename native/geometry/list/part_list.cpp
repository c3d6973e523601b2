#include "geometry/list/part_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// How many parts rows make in general position; or some number that is too large.
int parts_made_by(int rows, int dim) {
    std::int64_t parts = 1, choices = 1;
    for (int k = 1; k <= std::min(rows, dim) && parts <= PartTable::most_parts; ++k) {
        choices = choices * (rows - k + 1) / k;
        parts += choices;
    }
    return static_cast<int>(parts);
}

// Numbers into registers of their own; nothing is behind the last one.
void copy_into(Lanes* registers, const double* numbers, int count) {
    for (; count > 0; count -= lanes, numbers += lanes) *registers++ = load(numbers, count);
}

// Which rows are positive, by their signs, which are read where there are any; false if one vanishes.
bool read_code(const std::int8_t* sign, const std::int8_t* end, int rows, std::uint64_t& code) {
    // Eight signs at a time: the low bits of all bytes, multiplied up into the highest byte, the first one highest.
    constexpr std::uint64_t low = 0x0101010101010101, to_top = 0x8040201008040201;
    std::uint64_t vanishing = 0;
    for (int r = 0; r < rows; r += 8, sign += 8) {
        std::uint64_t signs = 0;
        if (end - sign >= 8)
            std::memcpy(&signs, sign, 8);
        else
            std::memcpy(&signs, sign, static_cast<std::size_t>(end - sign));
        const std::uint64_t all = low >> (8 * (8 - std::min(rows - r, 8)));
        // Signs are -2, -1, 1, 2: of these, one of the two lowest bits is set.
        const std::uint64_t some = (signs | signs >> 1) & all, negative_ones = signs >> 7 & all;
        vanishing |= some ^ all;
        code |= ((some & ~negative_ones) * to_top >> 56) << (most_rows - 8 - r);
    }
    return vanishing == 0;
}

bool vanish_all(const std::int8_t* sign, int rows) {
    return std::all_of(sign, sign + rows, [](std::int8_t s) { return s == zero; });
}

template <class Visit>
void for_each_bit(std::uint64_t bits, Visit visit) {
    for (; bits; bits &= bits - 1) visit(std::countr_zero(bits));
}

// One of the numbers that fill some registers.
double number_in(const Lanes* registers, int i) {
    double number;
    std::memcpy(&number, reinterpret_cast<const char*>(registers) + i * static_cast<int>(sizeof number), sizeof number);
    return number;
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
    Codes codes;
    const std::int8_t* const end = frame.sign.data() + frame.sign.size();
    made_ = 0;
    moving_.clear();
    still_.clear();
    if (vertices_.size() < cell.generators.size()) vertices_.resize(2 * cell.generators.size());
    for (int v = 0; v < cell.size(); ++v) {
        const int g = cell.generators[v];
        const std::int8_t* const sign = frame.signs(g) + cell.row;
        Bits code = 0;
        if (!read_code(sign, end, rows_, code)) {
            if (!vanish_all(sign, rows_)) return false;
            still_.push_back(v);
            continue;
        }
        vertices_[made_++] = {code, frame.generators.at_infinity[g] ? at_infinity : 0};
        moving_.push_back(v);
        codes.see(code);
    }
    // So many may hold a facet by themselves, which then lies on the rows.
    if (static_cast<int>(still_.size()) >= problem_.dim) return false;
    cutting_ = codes.differing();
    most_parts_ = parts_made_by(std::popcount(cutting_), problem_.dim);
    return most_parts_ <= PartTable::most_parts;
}

template <int Words>
bool PartList<Words>::find(Cell<Words>& cell) {
    start(cell);
    if (cutting_ != 0 && !cut(cell, 0, 0, cutting_)) return false;
    hand_out_still(cell);
    return true;
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

    parts_.clear(rows_, point_registers_, most_parts_);
    kept_.clear();
    make_room(made_);
    for (int v = 0; v < made_; ++v) {
        const int place = moving_[v];
        vertices_[v].facets |= facets_at(cell, place);
        read_values(frame, first, cell.generators[place], values(v));
        copy_into(point(v), cell.point(place), dimensions_);
    }
    with_registers([&]<int Registers>() { hand_out<Registers>(0, made_, 0); });
    still_facets_.clear();
    for (const int place : still_) still_facets_.push_back(facets_at(cell, place));
    levels_[0].first = 0;
    levels_[0].last = made_;
}

template <int Words>
auto PartList<Words>::facets_at(const Cell<Words>& cell, int place) const -> Bits {
    Bits facets = 0;
    cell.facets_of[place].for_each([&](int s) { facets |= Bits{1} << bit_of_slot_[s]; });
    return facets;
}

template <int Words>
void PartList<Words>::make_room(std::size_t vertices) {
    if (vertices_.size() < vertices) vertices_.resize(2 * vertices);
    if (numbers_.size() < vertices * stride()) numbers_.resize(2 * vertices * stride());
}

// Give vertices of the section that these rows make to all parts around them, at t = 1, or as directions. Those that
// come one after the other and lie between the same parts are put together first.
template <int Words>
template <int Registers>
void PartList<Words>::hand_out(int first, int last, Bits chain) {
    const int registers = Registers == PartTable::any_number ? point_registers_ : Registers;
    const Lanes* at = point(first);
    Lanes* const sum = sum_.data();
    for (int v = first; v < last;) {
        const Bits code = vertices_[v].code, infinite = vertices_[v].facets & at_infinity;
        Bits facets = 0;
        for (int i = 0; i < registers; ++i) sum[i] = Lanes{};
        do {
            facets |= vertices_[v].facets;
            const double scale = infinite ? 1.0 : 1 / number_in(at, problem_.dim);
            for (int i = 0; i < registers; ++i) sum[i] += at[i] * scale;
            at += stride();
        } while (++v < last && vertices_[v].code == code && (vertices_[v].facets & at_infinity) == infinite);
        parts_.template add_vertices<Registers>(code, chain, facets, sum);
    }
    if (keep_vertices_) keep(first, last, chain);
}

template <int Words>
void PartList<Words>::keep(int first, int last, Bits chain) {
    for (int v = first; v < last; ++v) {
        const Vertex& vertex = vertices_[v];
        kept_.push_back({vertex.code, chain, vertex.finite_facets(), vertex.infinite()});
    }
}

template <int Words>
void PartList<Words>::hand_out_still(const Cell<Words>& cell) {
    for (const int place : still_) {
        const bool infinite = cell.at_infinity(place);
        const double scale = infinite ? 1.0 : 1 / cell.point(place)[problem_.dim];
        copy_into(sum_.data(), cell.point(place), dimensions_);
        for (int i = 0; i < point_registers_; ++i) sum_[i] *= scale;
        parts_.add_to_all(infinite, sum_.data());
    }
}

// Cut a section, which the rows of `chain` have made, by each of these rows, and what they make of it by those behind.
template <int Words>
bool PartList<Words>::cut(Cell<Words>& cell, int level, Bits chain, Bits rows) {
    Section& section = levels_[level];
    const int made = section.last;
    section.edges.find({vertices_.data() + section.first, static_cast<std::size_t>(section.last - section.first)},
                       section.first, problem_.dim - level - 1, static_cast<int>(slots_.size()), rows, still_facets_);
    make_room(made + section.edges.size());
    while (rows) {
        stop_.check();
        const int row = std::countl_zero(rows);
        const Bits on = chain | bit_of_row(row);
        rows &= ~on;
        Bits behind = rows;
        if (!with_registers([&]<int Registers>() { return make_section<Registers>(cell, level, row, on, behind); }))
            return false;
        if (behind && !cut(cell, level + 1, on, behind)) return false;
        made_ = made;
    }
    return true;
}

// The section where a row vanishes on a section, and all others of the chain vanish already. Of `rows` those are left
// that cut it.
template <int Words>
template <int Registers>
bool PartList<Words>::make_section(Cell<Words>& cell, int level, int row, Bits chain, Bits& rows) {
    const std::span<const Edge> edges = levels_[level].edges.by(row);
    if (edges.empty()) return false;  // the row meets the section only between vertices where all rows vanish
    const unsigned used = registers_to_know(edges, bit_of_row(row), rows);
    const Numbers numbers = numbers_with(row);
    const int first = made_;
    for (const Edge& edge : edges)
        if (!add_crossing<Registers>(cell, numbers, edge, row, chain, used)) return false;
    hand_out<Registers>(first, made_, chain);
    if (rows) {
        Codes codes;
        for (int v = first; v < made_; ++v) codes.see(vertices_[v].code);
        rows &= codes.differing();
    }
    levels_[level + 1].first = first;
    levels_[level + 1].last = made_;
    return true;
}

// Rows that have the same sign all over the section where this one vanishes need no values there. The others need some
// where their signs are different at the ends of an edge, and where the section is to be cut again.
template <int Words>
unsigned PartList<Words>::registers_to_know(std::span<const Edge> edges, Bits row, Bits rows) const {
    Bits some = 0, all = ~Bits{0}, open = 0;
    for (const Edge& edge : edges) {
        const Bits from = vertices_[edge.from].code, to = vertices_[edge.to].code;
        some |= from & to;
        all &= from | to;
        open |= from ^ to;
    }
    open &= ~row;
    const Bits differing = (some & ~all) | open;
    return registers_of(differing & rows ? differing : open, row_registers_);
}

// The vertex where the row vanishes on an edge, which is one of the section that the rows of `chain` make.
template <int Words>
template <int Registers>
[[gnu::always_inline]] inline bool PartList<Words>::add_crossing(Cell<Words>& cell, const Numbers& numbers,
                                                                 const Edge& edge, int row, Bits chain, unsigned used) {
    const int registers = Registers == PartTable::any_number ? point_registers_ : Registers;
    const Vertex &from = vertices_[edge.from], &to = vertices_[edge.to];
    const Lanes *const start = numbers.of(edge.from), *const end = numbers.of(edge.to);
    Lanes* const at = numbers.of(made_);
    const double from_size = std::abs(number_in(start, numbers.value)), from_doubt = number_in(start, numbers.doubt);
    const double to_size = std::abs(number_in(end, numbers.value)), to_doubt = number_in(end, numbers.doubt);
    const Share share = Share::between(from_size, to_size, from_doubt, to_doubt);
    for (int i = 0; i < registers; ++i) at[i] = start[i] + share.share * (end[i] - start[i]);

    // Where both ends have the same sign, so has the vertex.
    const Bits open = (from.code ^ to.code) & ~bit_of_row(row);
    Vertex vertex{from.code & to.code, from.facets & to.facets};
    if (vertex.infinite()) at[problem_.dim / lanes][problem_.dim % lanes] = 0;
    // The signs at the ends are right even where the values alone do not prove them; the place between is then only a
    // guess. Nobody may ever ask for a sign here, but a place that is quite wrong would spoil the witnesses.
    const double last = number_in(at, problem_.dim);
    const bool in_place =
        from_size > from_doubt && to_size > to_doubt && share.error < rounding::near &&
        (vertex.infinite() ||
         share.error * std::max(number_in(start, problem_.dim), number_in(end, problem_.dim)) < rounding::there * last);
    if (!in_place) return add_by_equations(cell, vertex, open, chain);
    if (used) {
        const auto values_at = [&](auto* vertex) { return reinterpret_cast<const RowValues*>(vertex + registers); };
        const KnownSigns signs = inherit_values(share, row_registers_, used, values_at(start), values_at(end),
                                                reinterpret_cast<RowValues*>(at + registers));
        if ((open & ~signs.sure) != 0) return add_by_equations(cell, vertex, open, chain);
        vertex.code |= signs.positive & open;
    }
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
    auto settled = crossing_.equations().settle(cell, mask, Equations<Words>::no_line, vertex.infinite(),
                                                {rounding::unknown, false, rounding::poor}, place_.data());
    const int g = frame.generators.add(place_.data(), settled.error, vertex.infinite(), std::move(settled.exact), {});
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
    for_each_bit(facets & ~at_infinity, [&](int bit) { mask.set(slots_[bit]); });
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
