#include "geometry/linear_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/rounding.hpp"

namespace polyfold {

namespace {
constexpr double unknown = std::numeric_limits<double>::infinity();
}

double* LinearBound::add_row(double error) {
    rows_.resize(rows_.size() + static_cast<std::size_t>(size_), 0.0);
    slack_.push_back(error);
    return rows_.data() + rows_.size() - static_cast<std::size_t>(size_);
}

// Newton-Kantorovich: with an approximate inverse B of the equations' matrix M and the residual r of the
// point, the solution lies within |B| |r| / (1 - |I - B M|).
double LinearBound::error(const double* point) {
    const int n = size_ - 1;
    if (static_cast<int>(slack_.size()) < n) return unknown;
    int fixed = 0;
    for (int k = 1; k < size_; ++k)
        if (std::abs(point[k]) > std::abs(point[fixed])) fixed = k;
    if (!choose_independent_rows(fixed)) return unknown;

    residual_.assign(static_cast<std::size_t>(n), 0.0);
    coefficient_error_.assign(static_cast<std::size_t>(n), 0.0);
    matrix_.resize(static_cast<std::size_t>(n * n));
    double row_norm = 0;
    for (int i = 0; i < n; ++i) {
        const int r = chosen_[i];
        const double* row = rows_.data() + static_cast<std::size_t>(r * size_);
        double largest = 0;
        for (int k = 0; k < size_; ++k) largest = std::max(largest, std::abs(row[k]));
        if (!(largest > 0) || !std::isfinite(largest)) return unknown;
        const double scale = 1 / largest;
        double value = 0, magnitude = 0, point_norm = 0, norm = 0;
        for (int k = 0, column = 0; k < size_; ++k) {
            const double coefficient = row[k] * scale;
            value += coefficient * point[k];
            magnitude += std::abs(coefficient * point[k]);
            point_norm += std::abs(point[k]);
            if (k != fixed) {
                matrix_[i * n + column++] = coefficient;
                norm += std::abs(coefficient);
            }
        }
        row_norm = std::max(row_norm, norm);
        const double slack = slack_[r] * scale * (1 + 0x1p-20);
        residual_[i] = std::abs(value) + rounding::bound(size_ + 4) * magnitude + slack * point_norm + rounding::tiny;
        coefficient_error_[i] = slack * n + rounding::bound(2) * norm;
    }
    if (!invert(n)) return unknown;

    double worst = 0, defect = 0;
    for (int j = 0; j < n; ++j) {
        const double* b = inverse_.data() + static_cast<std::size_t>(j * n);
        double sum = 0, row_defect = 0, magnitude = 0;
        for (int i = 0; i < n; ++i) {
            sum += std::abs(b[i]) * residual_[i];
            row_defect += std::abs(b[i]) * coefficient_error_[i];
            magnitude += std::abs(b[i]);
        }
        for (int k = 0; k < n; ++k) {
            double entry = j == k ? -1.0 : 0.0;
            for (int i = 0; i < n; ++i) entry += b[i] * matrix_[i * n + k];
            row_defect += std::abs(entry);
        }
        row_defect += rounding::bound(2 * n + 4) * (1 + magnitude * row_norm);
        worst = std::max(worst, sum);
        defect = std::max(defect, row_defect);
    }
    if (!(defect < 0.5)) return unknown;
    return worst / (1 - defect) * (1 + 0x1p-20);
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

// Gauss-Jordan with partial pivoting; the quality of the result is checked by the caller.
bool LinearBound::invert(int n) {
    std::vector<double>& a = work_;
    a = matrix_;
    inverse_.assign(static_cast<std::size_t>(n * n), 0.0);
    for (int i = 0; i < n; ++i) inverse_[i * n + i] = 1.0;
    for (int step = 0; step < n; ++step) {
        int pivot = step;
        for (int i = step + 1; i < n; ++i)
            if (std::abs(a[i * n + step]) > std::abs(a[pivot * n + step])) pivot = i;
        const double value = a[pivot * n + step];
        if (value == 0.0 || !std::isfinite(value)) return false;
        if (pivot != step)
            for (int k = 0; k < n; ++k) {
                std::swap(a[pivot * n + k], a[step * n + k]);
                std::swap(inverse_[pivot * n + k], inverse_[step * n + k]);
            }
        const double scale = 1 / value;
        for (int k = 0; k < n; ++k) {
            a[step * n + k] *= scale;
            inverse_[step * n + k] *= scale;
        }
        for (int i = 0; i < n; ++i) {
            if (i == step) continue;
            const double factor = a[i * n + step];
            if (factor == 0.0) continue;
            for (int k = 0; k < n; ++k) {
                a[i * n + k] -= factor * a[step * n + k];
                inverse_[i * n + k] -= factor * inverse_[step * n + k];
            }
        }
    }
    return true;
}

}  // namespace polyfold
