// Rows of coefficients on the values of a sparse linear map, turned into coefficients on what it reads.
#pragma once

#include <cstdint>

namespace polyfold {

// A matrix by rows, cut into blocks of columns: the entries of row r in block b, whose columns are counted from b *
// block on, are start[b * (rows + 1) + r] .. start[b * (rows + 1) + r + 1] - 1.
template <class T>
struct SparseRows {
    std::int64_t rows, columns, block;
    const std::int64_t* start;
    const std::int32_t* column;
    const T* value;
};

// `samples` blocks of `outputs` rows with `entries` coefficients each. Entry k of sample n stands for row which[n, k]
// of the matrix (row k where `which` is null), and counts factor[n, k] times (once where `factor` is null).
template <class T>
struct Coefficients {
    std::int64_t samples, outputs, entries;
    const T* value;
    const std::int32_t* which;
    const T* factor;
};

// Where rows are written to: row j of sample n begins at data + n * sample_step + j * output_step.
template <class T>
struct Destination {
    T* data;
    std::int64_t sample_step, output_step;
};

// result[n, j, :] = sum over k of value[n, j, k] * factor[n, k] * row(n, k). What is zero for all outputs of a sample,
// behind a closed gate or a loser of a pool, costs nothing.
template <class T>
void pull_rows(const Coefficients<T>& rows, const SparseRows<T>& matrix, const Destination<T>& result, int threads);

}  // namespace polyfold
