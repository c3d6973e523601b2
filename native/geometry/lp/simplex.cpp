#include "geometry/lp/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_pivots = 2000;
constexpr int patient_pivots = 60;  // after so many, smallest indices first: that cannot go round in circles
constexpr int renew_every = 24;
constexpr double endless = std::numeric_limits<double>::infinity();
constexpr int lanes = 4;

// Of numbers that fill whole vectors.
double smallest(const std::vector<double>& numbers) {
    double least[lanes] = {endless, endless, endless, endless};
    const double* from = numbers.data();
    for (const double* end = from + numbers.size(); from < end; from += lanes)
        for (int j = 0; j < lanes; ++j) least[j] = from[j] < least[j] ? from[j] : least[j];
    return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

}  // namespace

bool Simplex::start(const Polyhedron& cell, const std::vector<int>& corner) {
    stop_.check();
    cell_ = &cell;
    dim_ = cell.dim();
    const int rows = cell.padded_rows();
    stride_ = (rows + dim_ + 1 + lanes - 1) / lanes * lanes;
    table_.assign(static_cast<std::size_t>(stride_) * (dim_ + 1), 0.0);
    linear_.assign(dim_, 0.0);
    constant_ = 0;
    pivots_ = 0;
    for (int k = 0; k <= dim_; ++k) {
        std::copy_n(cell.column(k), rows, column(k));
        if (k < dim_) column(k)[coordinate_item(k)] = 1.0;
    }
    // At first the edges are the coordinates; one after the other gives way to a row of the corner.
    tight_.assign(dim_, -1);
    for (const int row : corner) {
        int edge = -1;
        double largest = rounding::lp_tolerance;
        for (int k = 0; k < dim_; ++k)
            if (tight_[k] < 0 && std::abs(column(k)[row]) > largest) {
                largest = std::abs(column(k)[row]);
                edge = k;
            }
        if (edge < 0) {
            leave();
            return false;
        }
        pivot(edge, row);
    }
    return true;
}

void Simplex::set_objective() {
    const int item = objective_item();
    for (int k = 0; k <= dim_; ++k) {
        double sum = k == dim_ ? constant_ : 0.0;
        for (int j = 0; j < dim_; ++j) sum += linear_[j] * column(k)[coordinate_item(j)];
        column(k)[item] = sum;
    }
}

// The slack of another row becomes the coordinate of an edge.
void Simplex::pivot(int edge, int entering) {
    double* out = column(edge);
    const double scale = 1 / out[entering];
    for (int i = 0; i < stride_; ++i) out[i] *= scale;
    for (int k = 0; k <= dim_; ++k) {
        if (k == edge) continue;
        double* other = column(k);
        const double factor = other[entering];
        if (factor == 0.0) continue;
        for (int i = 0; i < stride_; ++i) other[i] -= factor * out[i];
        other[entering] = 0.0;
    }
    out[entering] = 1.0;
    tight_[edge] = entering;
    ++pivots_;
}

Corner Simplex::corner() const {
    Corner here{tight_, std::vector<double>(dim_)};
    std::copy_n(column(dim_) + coordinate_item(0), dim_, here.point.begin());
    return here;
}

void Simplex::point_along(int edge, double step, double* point) const {
    const double* from = column(dim_) + coordinate_item(0);
    const double* along = column(edge) + coordinate_item(0);
    for (int k = 0; k < dim_; ++k) point[k] = from[k] + step * along[k];
}

// How far along an edge each row is met.
void Simplex::measure_steps(int edge, bool backwards) {
    const int rows = cell_->padded_rows();
    steps_.resize(rows);
    divisors_.resize(rows);
    double* divisors = divisors_.data();
    constexpr double least = std::numeric_limits<double>::min();  // not zero: by no rate at all it makes infinity
    const double* rates = column(edge);
    const double* slacks = column(dim_);
    double* steps = steps_.data();
    const double sign = backwards ? 1.0 : -1.0;
    // Two loops: in one, the compiler makes a branch around the division, and no vectors.
    for (int i = 0; i < rows; ++i) {
        const double rate = sign * rates[i];
        divisors[i] = rate > rounding::lp_tolerance ? rate : 0.0;
    }
    for (int i = 0; i < rows; ++i) steps[i] = (slacks[i] > least ? slacks[i] : least) / divisors[i];
}

auto Simplex::look_along(int edge, bool backwards) -> Way {
    measure_steps(edge, backwards);
    if (backwards) steps_[tight_[edge]] = 0;
    Way way{-1, smallest(steps_), endless};
    if (way.step == endless) return way;
    way.first = static_cast<int>(std::find(steps_.begin(), steps_.end(), way.step) - steps_.begin());
    steps_[way.first] = endless;
    way.next = smallest(steps_);
    return way;
}

auto Simplex::maximise(const double* objective, double constant, double enough) -> Result {
    linear_.assign(objective, objective + dim_);
    constant_ = constant;
    set_objective();
    return climb(objective_item(), 1, -1, enough);
}

auto Simplex::approach(int row) -> Result {
    return climb(row, -1, -1, endless);
}

auto Simplex::pass(int row, double enough) -> Result {
    return climb(row, -1, row, enough);
}

// Make an item's value, times sign, as large as possible; row `ignored` (or none, -1) is no constraint.
auto Simplex::climb(int goal, int sign, int ignored, double enough) -> Result {
    for (int pivots = 0; pivots < most_pivots; ++pivots) {
        stop_.check();
        if (pivots_ >= renew_every + dim_) {
            const std::vector<double> objective = linear_;
            const double constant = constant_;
            if (!start(*cell_, std::vector<int>(tight_))) return Result::failed;
            linear_ = objective;
            constant_ = constant;
            set_objective();
        }
        if (sign * column(dim_)[goal] > enough) return Result::stopped;

        // The edge that rises most steeply; a tight row that is to be ignored may be left to either side.
        int edge = -1;
        double steepest = rounding::lp_tolerance;
        bool backwards = false;
        for (int k = 0; k < dim_; ++k) {
            const double rate = sign * column(k)[goal];
            const bool flipped = tight_[k] == ignored && rate < 0;
            const double size = flipped ? -rate : rate;
            const bool better = pivots < patient_pivots
                                    ? size > steepest
                                    : size > rounding::lp_tolerance && (edge < 0 || tight_[k] < tight_[edge]);
            if (better) {
                steepest = size;
                edge = k;
                backwards = flipped;
            }
        }
        if (edge < 0) return Result::optimal;

        measure_steps(edge, backwards);
        if (ignored >= 0) steps_[ignored] = endless;
        const double shortest = smallest(steps_), level = shortest + rounding::lp_tolerance;
        int entering = -1;
        double strongest = 0;
        const double* rates = column(edge);
        for (int row = 0; row < cell_->rows() && shortest < endless; ++row) {
            if (steps_[row] > level || std::abs(rates[row]) <= strongest) continue;
            entering = row;
            if (pivots >= patient_pivots) break;
            strongest = std::abs(rates[row]);
        }
        if (entering < 0) {
            endless_ = edge;
            endless_backwards_ = backwards;
            return Result::unbounded;
        }
        pivot(edge, entering);
        if (entering == goal) return Result::stopped;
    }
    return Result::failed;
}

}  // namespace polyfold
