// Sets of rows, as bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace polyfold {

// Rows as bits, the first one highest: in the order of their codes, parts are in the order of the walk.
constexpr int most_rows = 64;
constexpr std::uint64_t bit_of_row(int row) {
    return std::uint64_t{1} << (most_rows - 1 - row);
}
template <class Visit>
void for_each_row(std::uint64_t rows, Visit visit) {
    while (rows) {
        const int row = std::countl_zero(rows);
        rows ^= bit_of_row(row);
        visit(row);
    }
}

}  // namespace polyfold
