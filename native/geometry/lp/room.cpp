#include "geometry/lp/room.hpp"

#include <algorithm>
#include <cmath>

namespace polyfold {

namespace {

// A step may be so much longer than Newton's, and is measured by halving as often as that.
constexpr double most_of_way = 64;
constexpr int halvings = 10;

// Products of one vector with four others that lie one behind the other.
void four_dots(const double* one, const double* others, int size, double* into) {
    Lanes sums[4]{};
    for (int k = 0; k < size; k += lanes) {
        const Lanes x = load(one + k);
        for (int i = 0; i < 4; ++i) sums[i] += x * load(others + static_cast<std::ptrdiff_t>(i) * size + k);
    }
    for (int i = 0; i < 4; ++i) {
        into[i] = 0;
        for (int j = 0; j < lanes; ++j) into[i] += sums[i][j];
    }
}

}  // namespace

bool Room::look_from(const double* point, const std::vector<double>& values, double share_of_rows) {
    const int dim = box_.dim(), count = rows_.size();
    point_.assign(point, point + dim);
    values_ = values;
    share_ = share_of_rows;
    scales_.assign(size(), 0.0);
    for (int k = 0; k < dim; ++k) {
        const double down = 1 / (point[k] - box_.low()[k]), up = 1 / (box_.high()[k] - point[k]);
        scales_[k] = 1 / std::sqrt(down * down + up * up);
    }
    scaled_.resize(static_cast<std::size_t>(count) * size());
    for (int row = 0; row < count; ++row)
        for (int k = 0; k < size(); k += lanes)
            store(&scaled_[static_cast<std::size_t>(row) * size() + k], load(rows_[row] + k) * load(&scales_[k]));
    factor_.assign(static_cast<std::size_t>(count) * count, 0.0);
    for (int row = 0; row < count; ++row) {
        double* line = factor_.data() + static_cast<std::size_t>(row) * count;
        int other = 0;
        for (; other + 4 <= row + 1; other += 4) four_dots(scaled(row), scaled(other), size(), line + other);
        for (; other <= row; ++other) line[other] = dot(scaled(row), scaled(other), size());
        line[row] += share_ * values[row] * values[row];
    }
    return factor();
}

// Cholesky's, in place.
bool Room::factor() {
    const int count = rows_.size();
    for (int row = 0; row < count; ++row) {
        double* line = factor_.data() + static_cast<std::size_t>(row) * count;
        for (int other = 0; other <= row; ++other) {
            const double* above = factor_.data() + static_cast<std::size_t>(other) * count;
            double rest = line[other];
            for (int k = 0; k < other; ++k) rest -= line[k] * above[k];
            if (other < row) {
                line[other] = rest / above[other];
            } else {
                if (!(rest > 0)) return false;
                line[row] = std::sqrt(rest);
            }
        }
    }
    return true;
}

void Room::solve(std::vector<double>& sides) const {
    const int count = rows_.size();
    for (int row = 0; row < count; ++row) {
        const double* line = factor_.data() + static_cast<std::size_t>(row) * count;
        for (int k = 0; k < row; ++k) sides[row] -= line[k] * sides[k];
        sides[row] /= line[row];
    }
    for (int row = count; row-- > 0;) {
        const double* line = factor_.data() + static_cast<std::size_t>(row) * count;
        sides[row] /= line[row];
        for (int k = 0; k < row; ++k) sides[k] -= line[k] * sides[row];
    }
}

// To the way, in scaled coordinates.
void Room::add_rows(const std::vector<double>& weights) {
    for (int row = 0; row < rows_.size(); ++row)
        if (weights[row] != 0.0) take_away(way_.data(), scaled(row), -weights[row], size());
}

const std::vector<double>& Room::way_to_middle() {
    const int dim = box_.dim(), count = rows_.size();
    // What grows fastest: the sum of the logarithms of all distances.
    way_.assign(size(), 0.0);
    weights_.resize(count);
    for (int row = 0; row < count; ++row) weights_[row] = 1 / values_[row];
    add_rows(weights_);
    for (int k = 0; k < dim; ++k)
        way_[k] += scales_[k] * (1 / (point_[k] - box_.low()[k]) - 1 / (box_.high()[k] - point_[k]));
    for (int row = 0; row < count; ++row) weights_[row] = -dot(scaled(row), way_.data(), size());
    solve(weights_);
    add_rows(weights_);
    for (int k = 0; k < size(); ++k) way_[k] *= scales_[k];
    return way_;
}

auto Room::best_share() const -> Step {
    const int dim = box_.dim(), count = rows_.size();
    // By how much of itself every distance changes on the whole way.
    std::vector<double> changes;
    for (int row = 0; row < count; ++row) changes.push_back(dot(rows_[row], way_.data(), size()) / values_[row]);
    for (int k = 0; k < dim; ++k) {
        changes.push_back(way_[k] / (point_[k] - box_.low()[k]));
        changes.push_back(-way_[k] / (box_.high()[k] - point_[k]));
    }
    double least = -1 / most_of_way, squares = 0;
    for (const double change : changes) {
        least = std::min(least, change);
        squares += change * change;
    }
    double first = 0, last = -1 / least;
    for (int halving = 0; halving < halvings; ++halving) {
        const double share = 0.5 * (first + last);
        double slope = 0;
        for (const double change : changes) slope += change / (1 + share * change);
        (slope > 0 ? first : last) = share;
    }
    return {first > 0 ? first : 0.5 * last, std::sqrt(squares)};
}

const std::vector<double>& Room::way_to_row(int row) {
    weights_.assign(rows_.size(), 0.0);
    weights_[row] = -1;
    solve(weights_);
    rises_.resize(rows_.size());
    for (int other = 0; other < rows_.size(); ++other)
        rises_[other] = -share_ * values_[other] * values_[other] * weights_[other] - (other == row);
    way_.assign(size(), 0.0);
    add_rows(weights_);
    for (int k = 0; k < size(); ++k) way_[k] *= scales_[k];
    return way_;
}

}  // namespace polyfold
