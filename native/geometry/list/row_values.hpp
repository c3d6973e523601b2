// Values of rows at the vertices of a cell's sections, and how they are inherited where an edge is cut.
#pragma once

#include <cstdint>

#include "geometry/base/lanes.hpp"
#include "geometry/cells/crossing.hpp"
#include "geometry/list/row_bits.hpp"

namespace polyfold {

// Of the rows of one register: what they are at a vertex, and what each of them may be off.
struct RowValues {
    Lanes value, doubt;
};

// Rows are in registers from the last one on, so that their signs fall into the places of their bits.
constexpr unsigned place_of_row(int row, int registers) {
    return static_cast<unsigned>(registers * lanes - 1 - row);
}

inline double value_of_row(const RowValues* values, int registers, int row) {
    const unsigned place = place_of_row(row, registers);
    return values[place / lanes].value[place % lanes];
}
inline double doubt_of_row(const RowValues* values, int registers, int row) {
    const unsigned place = place_of_row(row, registers);
    return values[place / lanes].doubt[place % lanes];
}
inline void set_row(RowValues* values, int registers, int row, double value, double doubt) {
    const unsigned place = place_of_row(row, registers);
    values[place / lanes].value[place % lanes] = value;
    values[place / lanes].doubt[place % lanes] = doubt;
}

// Which rows are positive where the values tell, and of which rows they do.
struct KnownSigns {
    std::uint64_t positive, sure;
};

// All of so many registers, as bits.
constexpr unsigned all_registers(int registers) {
    return (1U << registers) - 1;
}
// The registers that hold some of these rows.
inline unsigned registers_of(std::uint64_t rows, int registers) {
    constexpr std::uint64_t in_register = (1 << lanes) - 1;
    unsigned used = 0;
    rows >>= most_rows - registers * lanes;
    for (int i = 0; i < registers; ++i, rows >>= lanes) used |= static_cast<unsigned>((rows & in_register) != 0) << i;
    return used;
}

// The values of rows in some registers at a vertex between two others. On the edge the rows are affine, so nobody needs
// to know where that is: the errors of the ends' values, the share's and rounding make up what a value may be off
// there. See decision 56.
[[gnu::always_inline]] inline KnownSigns inherit_values(const Share& share, int registers, unsigned used,
                                                        const RowValues* from, const RowValues* to, RowValues* at) {
    constexpr double margin = 1 + 0x1p-20;
    const double of_start = (1 - share.share + share.error) * margin, of_end = (share.share + share.error) * margin;
    const double of_size = (share.error + rounding::bound(4)) * margin;
    std::uint64_t positive = 0, sure = 0;
    for (; used; used &= used - 1) {
        const int i = std::countr_zero(used);
        const Lanes start = from[i].value, end = to[i].value;
        const Lanes value = start + share.share * (end - start);
        const Lanes doubt = from[i].doubt * of_start + to[i].doubt * of_end + (size_of(start) + size_of(end)) * of_size;
        at[i] = {value, doubt};
        positive |= std::uint64_t{bits_of(value > Lanes{})} << (i * lanes);
        sure |= std::uint64_t{bits_of(size_of(value) > doubt)} << (i * lanes);
    }
    const int empty = most_rows - registers * lanes;
    return {positive << empty, sure << empty};
}

}  // namespace polyfold
