#include "geometry/maps/pull_rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "geometry/base/in_parallel.hpp"

namespace polyfold {

namespace {

// Outputs are taken in groups of so many registers: what is multiplied stays there. Vector types, because compilers
// would rather unroll the loop over outputs.
constexpr int kBytes = 32;
template <class T>
struct Register {
    typedef T type __attribute__((vector_size(kBytes)));
};
template <class T>
using Vector = typename Register<T>::type;
template <class T>
constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
constexpr int kMostVectors = 4;
// Coefficients that are worth a thread.
constexpr std::int64_t kWorthAThread = 1 << 16;

template <class T>
struct Scratch {
    std::vector<Vector<T>> on, total;
    std::vector<std::int64_t> entry;
};

// The coefficients of one sample for a group of outputs, `Count` registers an entry, and the rows that they belong to:
// only those that count. Returns how many.
template <class T, int Count>
std::size_t gather(const Coefficients<T>& rows, std::int64_t sample, std::int64_t first, std::int64_t outputs,
                   Scratch<T>& scratch) {
    scratch.on.resize(static_cast<std::size_t>(rows.entries) * Count);
    scratch.entry.resize(static_cast<std::size_t>(rows.entries));
    const T* value = rows.value + (sample * rows.outputs + first) * rows.entries;
    const std::int32_t* which = rows.which ? rows.which + sample * rows.entries : nullptr;
    const T* factor = rows.factor ? rows.factor + sample * rows.entries : nullptr;
    std::size_t found = 0;
    for (std::int64_t k = 0; k < rows.entries; ++k) {
        const T by = factor ? factor[k] : T(1);
        if (by == T(0)) continue;
        T some[Count * kLanes<T>] = {};
        bool counts = false;
        for (std::int64_t j = 0; j < outputs; ++j) {
            some[j] = value[j * rows.entries + k] * by;
            counts |= some[j] != T(0);
        }
        if (!counts) continue;
        std::memcpy(scratch.on.data() + found * Count, some, sizeof(some));
        scratch.entry[found++] = which ? which[k] : k;
    }
    return found;
}

template <class T, int Count>
void group(const Coefficients<T>& rows, const SparseRows<T>& matrix, const Destination<T>& result, std::int64_t sample,
           std::int64_t first, std::int64_t outputs, Scratch<T>& scratch) {
    const std::size_t found = gather<T, Count>(rows, sample, first, outputs, scratch);
    T* const out = result.data + sample * result.sample_step + first * result.output_step;
    // A block of columns at a time, so that the sums stay in the nearest cache.
    for (std::int64_t begin = 0, block = 0; begin < matrix.columns; begin += matrix.block, ++block) {
        const std::int64_t columns = std::min(matrix.block, matrix.columns - begin);
        const std::int64_t* start = matrix.start + block * (matrix.rows + 1);
        scratch.total.assign(static_cast<std::size_t>(columns) * Count, Vector<T>{});
        Vector<T>* const total = scratch.total.data();
        for (std::size_t e = 0; e < found; ++e) {
            Vector<T> by[Count];
            for (int v = 0; v < Count; ++v) by[v] = scratch.on[e * Count + v];
            const std::int64_t row = scratch.entry[e];
            for (std::int64_t at = start[row]; at < start[row + 1]; ++at) {
                Vector<T>* sum = total + static_cast<std::int64_t>(matrix.column[at]) * Count;
                const T weight = matrix.value[at];
                for (int v = 0; v < Count; ++v) sum[v] += weight * by[v];
            }
        }
        const T* sums = reinterpret_cast<const T*>(total);
        for (std::int64_t j = 0; j < outputs; ++j) {
            T* to = out + j * result.output_step + begin;
            for (std::int64_t c = 0; c < columns; ++c) to[c] = sums[c * Count * kLanes<T> + j];
        }
    }
}

}  // namespace

template <class T>
void pull_rows(const Coefficients<T>& rows, const SparseRows<T>& matrix, const Destination<T>& result, int threads) {
    constexpr int lane = kLanes<T>;
    constexpr int most = lane * kMostVectors;
    const std::int64_t each = std::max<std::int64_t>(1, rows.outputs * rows.entries);
    const std::int64_t worth = std::max<std::int64_t>(1, kWorthAThread / each);
    in_parallel(threads, rows.samples, worth, [&](std::int64_t begin, std::int64_t end) {
        Scratch<T> scratch;
        for (std::int64_t sample = begin; sample < end; ++sample)
            for (std::int64_t first = 0; first < rows.outputs; first += most) {
                const std::int64_t count = std::min<std::int64_t>(most, rows.outputs - first);
                const auto work = count <= lane       ? group<T, 1>
                                  : count <= 2 * lane ? group<T, 2>
                                  : count <= 3 * lane ? group<T, 3>
                                                      : group<T, 4>;
                work(rows, matrix, result, sample, first, count, scratch);
            }
    });
}

template void pull_rows(const Coefficients<float>&, const SparseRows<float>&, const Destination<float>&, int);
template void pull_rows(const Coefficients<double>&, const SparseRows<double>&, const Destination<double>&, int);

}  // namespace polyfold
