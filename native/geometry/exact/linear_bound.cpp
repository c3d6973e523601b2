#include "geometry/exact/linear_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// A bound on the row-sum norm of the inverse of a matrix whose entries may each be off, in sum over a row, by
// `matrix_error`. The matrix is factorised in place. |U^-1| and |L^-1| are bounded by the inverses of their comparison
// matrices (absolute values, off-diagonal ones negated); solving with both for a column of ones bounds all row sums of
// |U^-1| |L^-1|. The factorisation's own rounding is a further error of the matrix. N is the size where it is known
// when compiling, and 0 where it is not.
template <int N>
double inverse_bound(double* a, double matrix_error, int size) {
    const int n = N ? N : size;
    double upper_norm = 0;
    for (int step = 0; step < n; ++step) {
        int pivot = step;
        for (int i = step + 1; i < n; ++i)
            if (std::abs(a[i * n + step]) > std::abs(a[pivot * n + step])) pivot = i;
        if (pivot != step)
            for (int k = 0; k < n; ++k) std::swap(a[pivot * n + k], a[step * n + k]);
        const double value = a[step * n + step];
        if (value == 0.0 || !std::isfinite(value)) return rounding::unknown;
        const double scale = 1 / value;
        for (int i = step + 1; i < n; ++i) {
            const double factor = a[i * n + step] *= scale;
            for (int k = step + 1; k < n; ++k) a[i * n + k] -= factor * a[step * n + k];
        }
        double norm = 0;
        for (int k = step; k < n; ++k) norm += std::abs(a[step * n + k]);
        upper_norm = std::max(upper_norm, norm);
    }
    double largest = 0;
    std::array<double, N> fixed_column;
    std::vector<double> long_column(N ? 0 : n);
    double* column = N ? fixed_column.data() : long_column.data();
    for (int i = 0; i < n; ++i) {
        column[i] = 1;
        for (int k = 0; k < i; ++k) column[i] += std::abs(a[i * n + k]) * column[k];
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = column[i];
        for (int k = i + 1; k < n; ++k) sum += std::abs(a[i * n + k]) * column[k];
        column[i] = sum / std::abs(a[i * n + i]);
        largest = std::max(largest, column[i]);
    }
    const double inverse = largest * (1 + 0x1p-20);
    const double defect = inverse * (rounding::bound(2 * n + 4) * n * upper_norm + matrix_error) * (1 + 0x1p-20);
    return defect < 0.5 ? inverse / (1 - defect) * (1 + 0x1p-20) : rounding::unknown;
}

// A power of two by which the last coordinate is measured: where everything happens far from the origin it is small at
// all points, and equations that look nearly dependent in the same unit for all coordinates are not.
double unit_of_last(const double* point, int dim) {
    const double last = std::abs(point[dim]);
    return rounding::is_ordinary(last) && last < 1 ? std::ldexp(1.0, std::ilogb(last)) : 1.0;
}

// The solution v of the equations M v' = -m (with v = point in coordinate `fixed`, which makes the system square) lies
// within |M^-1| |r| of the point, r being what the equations are off there. The bound holds for all coordinates, the
// last one in its unit, which is at most one. `work` has room for dim * dim numbers.
template <int N>
double distance_bound(const double* rows, const double* slack, const int* chosen, const double* point, int fixed,
                      int dim, double unit, double* work) {
    const int n = N ? N : dim, size = n + 1;
    double point_norm = 0, residual = 0, matrix_error = 0;
    for (int k = 0; k < size; ++k) point_norm += std::abs(point[k]);
    for (int i = 0; i < n; ++i) {
        const double* row = rows + chosen[i] * size;
        double largest = std::abs(row[n] * unit);
        for (int k = 0; k < n; ++k) largest = std::max(largest, std::abs(row[k]));
        if (!rounding::is_ordinary(largest)) return rounding::unknown;
        const double scale = 1 / largest, last = row[n] * scale;
        double* out = work + i * n;
        double value = last * point[n], magnitude = std::abs(value);
        for (int k = 0; k < n; ++k) {
            const double coefficient = row[k] * scale, term = coefficient * point[k];
            out[k] = coefficient;
            value += term;
            magnitude += std::abs(term);
        }
        if (fixed < n) out[fixed] = last * unit;  // the last coordinate takes the place of the one that is not free
        double norm = 0;
        for (int k = 0; k < n; ++k) norm += std::abs(out[k]);
        const double error = slack[chosen[i]] * scale * (1 + 0x1p-20);
        residual = std::max(residual, std::abs(value) + rounding::bound(size + 4) * magnitude + error * point_norm);
        matrix_error = std::max(matrix_error, error * n + rounding::bound(2) * norm + rounding::underflow);
    }
    return inverse_bound<N>(work, matrix_error, n) * (residual + rounding::tiny) * (1 + 0x1p-20);
}

}  // namespace

auto LinearBound::error(const double* point) -> Bound {
    constexpr Bound nothing{rounding::unknown, rounding::unknown};
    const int n = size_ - 1;
    if (static_cast<int>(slack_.size()) < n) return nothing;
    int fixed = 0;
    for (int k = 1; k < size_; ++k)
        if (std::abs(point[k]) > std::abs(point[fixed])) fixed = k;
    if (!choose_independent_rows(fixed)) return nothing;
    const auto run = [&]<int N>() {
        work_.resize(static_cast<std::size_t>(n * n));
        const double unit = unit_of_last(point, n);
        const double in_units =
            distance_bound<N>(rows_.data(), slack_.data(), chosen_.data(), point, fixed, n, unit, work_.data());
        return Bound{in_units, in_units * unit};
    };
    switch (n) {
        case 1:
            return run.template operator()<1>();
        case 2:
            return run.template operator()<2>();
        case 3:
            return run.template operator()<3>();
        case 4:
            return run.template operator()<4>();
        case 5:
            return run.template operator()<5>();
        case 6:
            return run.template operator()<6>();
        case 7:
            return run.template operator()<7>();
        case 8:
            return run.template operator()<8>();
        default:
            return run.template operator()<0>();
    }
}

// Gaussian elimination with complete pivoting picks n rows that are far from dependent.
bool LinearBound::choose_independent_rows(int fixed) {
    const int n = size_ - 1, count = static_cast<int>(slack_.size());
    chosen_.clear();
    if (count == n) {
        for (int i = 0; i < n; ++i) chosen_.push_back(i);
        return true;
    }
    std::vector<double> work(static_cast<std::size_t>(count * n));
    for (int i = 0; i < count; ++i) {
        double largest = 0;
        for (int k = 0; k < size_; ++k) largest = std::max(largest, std::abs(rows_[i * size_ + k]));
        for (int k = 0, column = 0; k < size_; ++k)
            if (k != fixed) work[i * n + column++] = largest > 0 ? rows_[i * size_ + k] / largest : 0.0;
    }
    std::vector<bool> row_used(static_cast<std::size_t>(count), false), column_used(static_cast<std::size_t>(n), false);
    for (int step = 0; step < n; ++step) {
        int pivot_row = -1, pivot_column = -1;
        double largest = 0;
        for (int i = 0; i < count; ++i) {
            if (row_used[i]) continue;
            for (int k = 0; k < n; ++k) {
                const double size = std::abs(work[i * n + k]);
                if (!column_used[k] && size > largest) {
                    largest = size;
                    pivot_row = i;
                    pivot_column = k;
                }
            }
        }
        if (pivot_row < 0) return false;
        row_used[pivot_row] = column_used[pivot_column] = true;
        chosen_.push_back(pivot_row);
        for (int i = 0; i < count; ++i) {
            if (row_used[i]) continue;
            const double factor = work[i * n + pivot_column] / work[pivot_row * n + pivot_column];
            for (int k = 0; k < n; ++k) work[i * n + k] -= factor * work[pivot_row * n + k];
        }
    }
    return true;
}

}  // namespace polyfold
