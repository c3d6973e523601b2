#include "geometry/proof/cone_bound.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_corners = 96;  // remembered: a good one to start from saves pivots
constexpr int most_pivots = 400;
constexpr double room = 1 + 0x1p-20;  // for the rounding of the bounds themselves

}  // namespace

void ConeBound::clear(int coordinates) {
    n_ = coordinates;
    rows_.clear();
    error_.clear();
    corners_used_ = 0;
}

double* ConeBound::add_row(double error) {
    rows_.resize(rows_.size() + static_cast<std::size_t>(n_), 0.0);
    error_.push_back(error);
    return rows_.data() + rows_.size() - static_cast<std::size_t>(n_);
}

double ConeBound::product(const double* a, const double* b) const {
    double sum = 0;
    for (int k = 0; k < n_; ++k) sum += a[k] * b[k];
    return sum;
}

bool ConeBound::enclose(const double* height, const double* inside, bool upper_half) {
    height_.assign(height, height + n_);
    corners_used_ = 0;
    if (!first_corner(inside)) return false;
    // Let m be the largest |y_k| at some y in K. Each coordinate is bounded both ways by value * height + share * m,
    // for the remainder is at most share * m. So m <= values * height + shares * m, which bounds m, and m bounds all.
    unit_.assign(n_, 0.0);
    lowest_.resize(n_);
    highest_.resize(n_);
    reach_.assign(n_, 1.0);
    std::vector<double> share(2 * n_);
    double largest_value = 0, largest_share = 0;
    for (int k = 0; k < n_; ++k)
        for (const int side : {1, -1}) {
            unit_[k] = side;
            if (!descend(unit_.data())) return false;
            const Remainder rest = remainder(unit_.data(), reach_.data(), n_);
            unit_[k] = 0.0;
            if (!(rest.doubt < 0.25) || !std::isfinite(rest.value)) return false;
            (side > 0 ? lowest_ : highest_)[k] = side * rest.value;
            share[2 * k + (side < 0)] = rest.doubt;
            largest_value = std::max(largest_value, std::abs(rest.value));
            largest_share = std::max(largest_share, rest.doubt);
        }
    const double largest = largest_value / (1 - largest_share) * room;
    // At a negative height every interval for y_k would be turned round: where one is wide, that cannot be.
    bool is_wide = upper_half;
    for (int k = 0; k < n_ && !is_wide; ++k) is_wide = highest_[k] - lowest_[k] > 2 * largest_share * largest * room;
    if (!is_wide) return false;
    total_reach_ = 0;
    for (int k = 0; k < n_; ++k) {
        lowest_[k] -= (share[2 * k] * largest + rounding::bound(2) * std::abs(lowest_[k])) * room;
        highest_[k] += (share[2 * k + 1] * largest + rounding::bound(2) * std::abs(highest_[k])) * room;
        reach_[k] = std::max(std::abs(lowest_[k]), std::abs(highest_[k]));
        total_reach_ += reach_[k];
    }
    total_reach_ *= room;
    return rounding::is_ordinary(total_reach_);
}

// From the inner point along one axis after the other until d rows are tight.
bool ConeBound::first_corner(const double* inside) {
    const int d = n_ - 1;
    const double size = product(height_.data(), inside);
    if (!(size > 0)) return false;
    Corner& corner = walker_;
    corner.rows.assign(d, -1);
    corner.inverse.assign(n_ * n_, 0.0);
    double* y = edge(corner, d);
    int longest = 0;
    for (int k = 0; k < n_; ++k) {
        y[k] = inside[k] / size;
        if (std::abs(y[k]) > std::abs(y[longest])) longest = k;
    }
    if (height_[n_ - 1] != 0.0 && std::all_of(height_.begin(), height_.end() - 1, [](double x) { return x == 0.0; }))
        longest = n_ - 1;  // the other axes keep the height already
    for (int k = 0, column = 0; k < n_; ++k) {
        if (k == longest) continue;
        double* direction = edge(corner, column++);
        for (int j = 0; j < n_; ++j) direction[j] = (j == k ? 1.0 : 0.0) - y[j] * height_[k];
    }
    for (int k = 0; k < d; ++k) {
        double step = 0;
        int entering = first_row_met(corner, edge(corner, k), &step);
        if (entering < 0) {
            for (int j = 0; j < n_; ++j) edge(corner, k)[j] *= -1;
            entering = first_row_met(corner, edge(corner, k), &step);
        }
        if (entering < 0) return false;
        exchange(corner, k, entering);
    }
    keep(corner);
    return true;
}

// The row that becomes zero first on the way from the corner in a direction, or -1.
int ConeBound::first_row_met(const Corner& corner, const double* direction, double* step, int ignored) const {
    const double* y = edge(corner, n_ - 1);
    int first = -1;
    double strongest = 0;
    for (int i = 0; i < rows(); ++i) {
        if (i == ignored || std::find(corner.rows.begin(), corner.rows.end(), i) != corner.rows.end()) continue;
        const double rate = -product(row(i), direction);
        if (rate <= rounding::lp_tolerance) continue;
        const double length = std::max(0.0, product(row(i), y)) / rate;
        if (first < 0 || length < *step || (length == *step && rate > strongest)) {
            *step = length;
            strongest = rate;
            first = i;
        }
    }
    return first;
}

// Row `entering` becomes tight instead of the corner's k-th row.
void ConeBound::exchange(Corner& corner, int k, int entering) const {
    const double* a = row(entering);
    double* moved = edge(corner, k);
    const double scale = 1 / product(a, moved);
    for (int j = 0; j < n_; ++j) moved[j] *= scale;
    for (int l = 0; l < n_; ++l) {
        if (l == k) continue;
        double* column = edge(corner, l);
        const double value = product(a, column);
        for (int j = 0; j < n_; ++j) column[j] -= value * moved[j];
    }
    corner.rows[k] = entering;
}

void ConeBound::keep(const Corner& corner) {
    if (corners_used_ == most_corners) return;
    if (corners_used_ == static_cast<int>(corners_.size())) corners_.emplace_back();
    corners_[corners_used_++] = corner;
}

// Walk to where the form is lowest, from the best corner known, and leave its multipliers. False if there is no lowest.
bool ConeBound::descend(const double* form) {
    const int d = n_ - 1;
    int best = 0;
    double lowest = 0;
    for (int c = 0; c < corners_used_; ++c) {
        const double value = product(form, edge(corners_[c], d));
        if (c == 0 || value < lowest) {
            lowest = value;
            best = c;
        }
    }
    multipliers_.resize(d);
    const Corner* at = &corners_[best];
    for (int pivots = 0; pivots < most_pivots; ++pivots) {
        int steepest = -1;
        double rate = -rounding::lp_tolerance;
        for (int k = 0; k < d; ++k) {
            multipliers_[k] = product(form, edge(*at, k));
            if (multipliers_[k] < rate) {
                rate = multipliers_[k];
                steepest = k;
            }
        }
        if (steepest < 0) {
            if (at == &walker_)
                keep(walker_);
            else
                walker_ = *at;
            return true;
        }
        stop_.check();
        if (at != &walker_) walker_ = *at;
        at = &walker_;
        double step = 0;
        const int entering = first_row_met(walker_, edge(walker_, steepest), &step);
        if (entering < 0) return false;
        exchange(walker_, steepest, entering);
    }
    return false;
}

// The form as multiples of the tight rows and the height; see the header. After `descend`.
auto ConeBound::remainder(const double* form, const double* reach, double total_reach) const -> Remainder {
    const int d = n_ - 1;
    Remainder rest;
    rest.value = product(form, edge(walker_, d));
    double errors = 0;
    for (int k = 0; k < d; ++k) errors += std::max(0.0, multipliers_[k]) * error_[walker_.rows[k]];
    const double relative = rounding::bound(n_ + 4);
    double doubt = errors * total_reach;
    for (int j = 0; j < n_; ++j) {
        double left = form[j] - rest.value * height_[j], size = std::abs(form[j]) + std::abs(rest.value * height_[j]);
        for (int k = 0; k < d; ++k) {
            const double term = std::max(0.0, multipliers_[k]) * row(walker_.rows[k])[j];
            left -= term;
            size += std::abs(term);
        }
        doubt += (std::abs(left) + relative * size) * reach[j];
    }
    rest.doubt = doubt * room + rounding::tiny * (1 + total_reach);
    return rest;
}

bool ConeBound::proves_positive(const double* form, double error) {
    if (!descend(form)) return false;
    const Remainder rest = remainder(form, reach_.data(), total_reach_);
    return rest.value > (rest.doubt + error * total_reach_) * room;
}

void ConeBound::add_corners(double* point) const {
    for (int c = 0; c < corners_used_; ++c)
        for (int k = 0; k < n_; ++k) point[k] += edge(corners_[c], n_ - 1)[k];
}

void ConeBound::add_corners_on(int row, double* point) const {
    for (int c = 0; c < corners_used_; ++c) {
        const Corner& corner = corners_[c];
        if (std::find(corner.rows.begin(), corner.rows.end(), row) == corner.rows.end()) continue;
        for (int k = 0; k < n_; ++k) point[k] += edge(corner, n_ - 1)[k];
    }
}

bool ConeBound::beyond(int i, double* point) {
    const int d = n_ - 1;
    double longest = 0;
    // At a corner on the row, leave it along the edge that all other tight rows share, half-way to the next row.
    const auto leave = [&](const Corner& corner) {
        const auto at = std::find(corner.rows.begin(), corner.rows.end(), i);
        if (at == corner.rows.end()) return;
        const double* inward = edge(corner, static_cast<int>(at - corner.rows.begin()));
        outward_.assign(inward, inward + n_);
        for (double& x : outward_) x = -x;
        double step = 0;
        if (first_row_met(corner, outward_.data(), &step) < 0) step = 1;
        if (!(step > longest)) return;
        longest = step;
        for (int j = 0; j < n_; ++j) point[j] = edge(corner, d)[j] + 0.5 * step * outward_[j];
    };
    // A corner where further rows are nearly tight leaves no room; others may.
    for (int c = 0; c < corners_used_ && longest < rounding::poor; ++c) leave(corners_[c]);
    if (longest >= rounding::poor) return true;
    return descend_beyond(i, point) || longest > 0;
}

// The same by a walk downhill that does not stop at the row itself.
bool ConeBound::descend_beyond(int i, double* point) {
    const int d = n_ - 1;
    if (!descend(row(i))) return false;
    for (int pivots = 0; pivots < most_pivots; ++pivots) {
        stop_.check();
        const double* y = edge(walker_, d);
        const double value = product(row(i), y);
        if (value < -rounding::poor) {
            std::copy(y, y + n_, point);
            return true;
        }
        int steepest = -1;
        double rate = -rounding::lp_tolerance;
        for (int k = 0; k < d; ++k) {
            const double here = walker_.rows[k] == i ? -1.0 : product(row(i), edge(walker_, k));
            if (here < rate) {
                rate = here;
                steepest = k;
            }
        }
        if (steepest < 0) return false;
        outward_.assign(edge(walker_, steepest), edge(walker_, steepest) + n_);
        if (walker_.rows[steepest] == i)
            for (double& x : outward_) x = -x;
        double step = 0;
        const int entering = first_row_met(walker_, outward_.data(), &step, i);
        if (entering < 0) {
            for (int j = 0; j < n_; ++j) point[j] = y[j] + outward_[j];
            return true;
        }
        exchange(walker_, steepest, entering);
    }
    return false;
}

}  // namespace polyfold
