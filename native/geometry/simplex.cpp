#include "geometry/simplex.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/rounding.hpp"

namespace polyfold {

namespace {
constexpr int most_pivots = 2000;
constexpr int patient_pivots = 60;  // after so many, smallest indices first: that cannot go round in circles
constexpr int factorise_every = 24;
}  // namespace

bool Simplex::factorise(const Polyhedron& cell, const Corner& corner) {
    const int n = cell.dim;
    work_.resize(n * n);
    inverse_.assign(n * n, 0.0);
    for (int i = 0; i < n; ++i) {
        std::copy_n(cell.form(corner.rows[i]), n, work_.begin() + i * n);
        inverse_[i * n + i] = 1.0;
    }
    for (int step = 0; step < n; ++step) {
        stop_.check();
        int pivot = step;
        for (int i = step + 1; i < n; ++i)
            if (std::abs(work_[i * n + step]) > std::abs(work_[pivot * n + step])) pivot = i;
        const double value = work_[pivot * n + step];
        if (!(std::abs(value) > rounding::lp_tolerance)) return false;
        if (pivot != step)
            for (int k = 0; k < n; ++k) {
                std::swap(work_[pivot * n + k], work_[step * n + k]);
                std::swap(inverse_[pivot * n + k], inverse_[step * n + k]);
            }
        for (int k = 0; k < n; ++k) {
            work_[step * n + k] /= value;
            inverse_[step * n + k] /= value;
        }
        for (int i = 0; i < n; ++i) {
            const double factor = work_[i * n + step];
            if (i == step || factor == 0.0) continue;
            for (int k = 0; k < n; ++k) {
                work_[i * n + k] -= factor * work_[step * n + k];
                inverse_[i * n + k] -= factor * inverse_[step * n + k];
            }
        }
    }
    return true;
}

// The corner's point from its rows.
void Simplex::place(const Polyhedron& cell, Corner& corner) const {
    const int n = cell.dim;
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum -= inverse_[i * n + k] * cell.form(corner.rows[k])[n];
        corner.point[i] = sum;
    }
}

void Simplex::replace(const Polyhedron& cell, Corner& corner, int leaving, int entering) {
    const int n = cell.dim;
    const double* row = cell.form(entering);
    rates_.assign(n, 0.0);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) rates_[k] += row[i] * inverse_[i * n + k];
    const double pivot = 1 / rates_[leaving];
    for (int i = 0; i < n; ++i) {
        double* line = inverse_.data() + i * n;
        const double moved = line[leaving] * pivot;
        for (int k = 0; k < n; ++k) line[k] -= rates_[k] * moved;
        line[leaving] = moved;
    }
    tight_[corner.rows[leaving]] = 0;
    tight_[entering] = 1;
    corner.rows[leaving] = entering;
}

Simplex::Result Simplex::maximise(const Polyhedron& cell, Corner& corner, const double* objective, double constant,
                                  double enough, int ignored) {
    const int n = cell.dim;
    if (!factorise(cell, corner)) return Result::failed;
    place(cell, corner);
    tight_.assign(cell.rows, 0);
    for (const int row : corner.rows) tight_[row] = 1;
    multipliers_.resize(n);
    direction_.resize(n);
    for (int pivots = 0; pivots < most_pivots; ++pivots) {
        stop_.check();
        if (pivots % factorise_every == factorise_every - 1) {
            if (!factorise(cell, corner)) return Result::failed;
            place(cell, corner);
        }
        double value = constant;
        for (int k = 0; k < n; ++k) value += objective[k] * corner.point[k];
        if (value > enough) return Result::stopped;

        // The edge that rises most steeply; a tight row that is to be ignored may be left to either side.
        int leaving = -1;
        double steepest = rounding::lp_tolerance;
        bool backwards = false;
        for (int k = 0; k < n; ++k) {
            double rate = 0;
            for (int i = 0; i < n; ++i) rate += objective[i] * inverse_[i * n + k];
            multipliers_[k] = rate;
            const bool flipped = corner.rows[k] == ignored && rate < 0;
            const double size = flipped ? -rate : rate;
            const bool better = pivots < patient_pivots ? size > steepest
                                                        : size > rounding::lp_tolerance &&
                                                              (leaving < 0 || corner.rows[k] < corner.rows[leaving]);
            if (better) {
                steepest = size;
                leaving = k;
                backwards = flipped;
            }
        }
        if (leaving < 0) return Result::optimal;
        for (int i = 0; i < n; ++i) direction_[i] = (backwards ? -1 : 1) * inverse_[i * n + leaving];

        int entering = -1;
        double shortest = 0, strongest = 0;
        for (int row = 0; row < cell.rows; ++row) {
            if (tight_[row] || row == ignored) continue;
            const double* a = cell.form(row);
            double rate = 0;
            for (int i = 0; i < n; ++i) rate -= a[i] * direction_[i];
            if (rate <= rounding::lp_tolerance) continue;
            const double step = std::max(0.0, cell.value(row, corner.point.data())) / rate;
            const bool shorter = entering < 0 || step < shortest - rounding::lp_tolerance;
            const bool level = !shorter && step <= shortest + rounding::lp_tolerance;
            if (shorter || (level && pivots < patient_pivots && rate > strongest)) {
                shortest = shorter ? step : std::min(step, shortest);
                strongest = rate;
                entering = row;
            }
        }
        if (entering < 0) return Result::unbounded;
        for (int i = 0; i < n; ++i) corner.point[i] += shortest * direction_[i];
        replace(cell, corner, leaving, entering);
    }
    return Result::failed;
}

}  // namespace polyfold
