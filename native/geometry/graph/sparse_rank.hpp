// The rank of a sparse matrix of small integers, over two elements or over the integers.
#pragma once

#include <cstdint>
#include <vector>

namespace polyfold {

// Columns: the entries of column j are start[j] .. start[j + 1] - 1. `skipped` columns count as absent.
struct SparseColumns {
    std::int64_t rows = 0, columns = 0;
    const std::int64_t* start = nullptr;
    const std::int64_t* row = nullptr;
    const std::int8_t* value = nullptr;
    const std::uint8_t* skipped = nullptr;
};

// The rank is that of `rest` and one for every pivot row.
//
// A pivot is an entry 1 or -1, by which a row is cleared without leaving the integers: so the rank is that over the
// rationals, and pivots are as good over any ring. Columns whose entries have all outgrown that are left in `rest`,
// with nothing in the pivots' rows. Over two elements nothing is left.
struct SparseRank {
    std::vector<std::int64_t> pivot_rows;
    std::vector<std::int64_t> rest_start{0}, rest_row, rest_value;
    bool overflow = false;  // entries have outgrown 64 bits, and nothing is known
};

SparseRank sparse_rank(const SparseColumns& matrix, bool modulo_two);

}  // namespace polyfold
