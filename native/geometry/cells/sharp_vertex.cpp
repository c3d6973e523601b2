#include "geometry/cells/sharp_vertex.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_corrections = 3;

// A coordinate known to this, relatively, is rounded to the float nearest to the true one or next to it.
constexpr double sharp = 0x1p-60;

}  // namespace

bool SharpVertex::find(double* place) {
    for (const TwofoldForm* row : rows_)
        if (!(row->error < rounding::largest_factor)) return false;
    if (!invert()) return false;
    const double far = defect();
    if (!(far < 0.25)) return false;
    std::fill(rest_.begin(), rest_.end(), 0.0);
    look(place);
    for (int correction = 0; correction < most_corrections; ++correction) {
        for (int k = 0; k < dim_; ++k) {
            double step = 0;
            for (int i = 0; i < dim_; ++i) step += inverse_[k * dim_ + i] * residual_[i];
            std::tie(place[k], rest_[k]) = twofold::sum(place[k], rest_[k] - step);
        }
        look(place);
        if (is_sharp(place, far)) return true;
    }
    return false;
}

// Gauss and Jordan; whatever comes out is only a proposal, which `defect` judges.
bool SharpVertex::invert() {
    for (int i = 0; i < dim_; ++i)
        for (int k = 0; k < dim_; ++k) {
            work_[i * dim_ + k] = rows_[i]->high[k];
            inverse_[i * dim_ + k] = i == k ? 1.0 : 0.0;
        }
    for (int step = 0; step < dim_; ++step) {
        int pivot = step;
        for (int i = step + 1; i < dim_; ++i)
            if (std::abs(work_[i * dim_ + step]) > std::abs(work_[pivot * dim_ + step])) pivot = i;
        const double value = work_[pivot * dim_ + step];
        if (!rounding::is_ordinary(std::abs(value))) return false;
        for (int k = 0; k < dim_; ++k) {
            std::swap(work_[pivot * dim_ + k], work_[step * dim_ + k]);
            std::swap(inverse_[pivot * dim_ + k], inverse_[step * dim_ + k]);
        }
        for (int k = 0; k < dim_; ++k) {
            work_[step * dim_ + k] /= value;
            inverse_[step * dim_ + k] /= value;
        }
        for (int i = 0; i < dim_; ++i) {
            const double factor = work_[i * dim_ + step];
            if (i == step || factor == 0.0) continue;
            for (int k = 0; k < dim_; ++k) {
                work_[i * dim_ + k] -= factor * work_[step * dim_ + k];
                inverse_[i * dim_ + k] -= factor * inverse_[step * dim_ + k];
            }
        }
    }
    return true;
}

// Bounds the row sums of |1 - inverse M| for the true walls M.
double SharpVertex::defect() const {
    double largest = 0;
    for (int k = 0; k < dim_; ++k) {
        double sum = 0;
        for (int j = 0; j < dim_; ++j) {
            double value = k == j ? 1.0 : 0.0, doubt = std::abs(value);
            for (int i = 0; i < dim_; ++i) {
                const double factor = inverse_[k * dim_ + i], term = factor * rows_[i]->high[j];
                value -= term;
                doubt += std::abs(term);
                sum += std::abs(factor) * (std::abs(rows_[i]->low[j]) + rows_[i]->error);
            }
            sum += std::abs(value) + rounding::bound(dim_ + 2) * doubt;
        }
        largest = std::max(largest, sum);
    }
    return largest * (1 + 0x1p-20) + rounding::tiny;
}

// The walls' values at the place and what these may be off.
void SharpVertex::look(const double* place) {
    for (int i = 0; i < dim_; ++i) {
        const TwofoldForm& row = *rows_[i];
        double high = row.high[dim_], low = row.low[dim_];
        double high_sizes = std::abs(high), low_sizes = std::abs(low), reach = 1;
        for (int k = 0; k < dim_; ++k) {
            const auto [term, term_rest] = twofold::product(row.high[k], place[k]);
            const auto [total, rest] = twofold::sum(high, term);
            const double small = row.high[k] * rest_[k], smaller = row.low[k] * (place[k] + rest_[k]);
            high = total;
            low += (rest + term_rest) + (small + smaller);
            high_sizes += std::abs(term);
            low_sizes += std::abs(small) + std::abs(smaller);
            reach += std::abs(place[k]) + std::abs(rest_[k]);
        }
        residual_[i] = high + low;
        doubt_[i] =
            (rounding::unit * std::abs(residual_[i]) +
             twofold::lost(dim_ + 2, high_sizes * (1 + 0x1p-20), low_sizes * (1 + 0x1p-20)) + row.error * reach) *
            (1 + 0x1p-20);
    }
}

bool SharpVertex::is_sharp(const double* place, double defect) const {
    double farthest = 0;
    const auto off = [&](int k) {
        double sum = 0;
        for (int i = 0; i < dim_; ++i) sum += std::abs(inverse_[k * dim_ + i]) * (std::abs(residual_[i]) + doubt_[i]);
        return sum;
    };
    for (int k = 0; k < dim_; ++k) farthest = std::max(farthest, off(k));
    for (int k = 0; k < dim_; ++k) {
        const double error = (off(k) + defect / (1 - defect) * farthest) * (1 + 0x1p-20) + rounding::underflow;
        if (!(error <= sharp * std::abs(place[k] + rest_[k]))) return false;
    }
    return true;
}

}  // namespace polyfold
