#include "geometry/crossing.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/rounding.hpp"

namespace polyfold {

template <int Words>
int Crossing<Words>::between(Frame& frame, const Cell<Words>& cell, int above, int below, int row,
                             const Mask<Words>& mask) {
    GeneratorStore& generators = frame.generators;
    const double* from = generators.point(above);
    const double* to = generators.point(below);
    const double up = frame.value_at(above, row), down = frame.value_at(below, row);
    const bool rough = frame.sign_at(above, row) == exactly_positive || frame.sign_at(below, row) == exactly_negative;
    const double share = up / (up - down);
    double distance = 0;
    for (int k = 0; k < dimensions_; ++k) {
        const double step = to[k] - from[k];
        point_[k] = from[k] + share * step;
        distance = std::max(distance, std::abs(step));
    }
    const bool infinite = generators.at_infinity[above] && generators.at_infinity[below];
    if (infinite) point_[problem_.dim] = 0.0;
    auto settled =
        equations_.settle(cell, mask, Equations<Words>::no_line, infinite,
                          {error_between(frame, above, below, row, share, distance), rough, !hand_out_}, point_.data());
    const int g = generators.add(point_.data(), settled.error, infinite, std::move(settled.exact),
                                 common_walls(generators.touched[above], generators.touched[below]));
    evaluate(frame, cell, g, mask, row + 1);
    return g;
}

// What a point may be off that lies between two generators at this distance (in the largest coordinate), a share of the
// way from the first to the second, where a row should vanish: what these are off themselves, and what the share is off
// because the row's values are.
template <int Words>
double Crossing<Words>::error_between(const Frame& frame, int from, int to, int row, double share,
                                      double distance) const {
    const double from_error = frame.generators.error[from], to_error = frame.generators.error[to];
    const double from_doubt = frame.doubt[row] + frame.norm[row] * from_error;
    const double to_doubt = frame.doubt[row] + frame.norm[row] * to_error;
    const double height = frame.value_at(from, row) - frame.value_at(to, row);
    const double sure = height * (1 - 0x1p-20) - from_doubt - to_doubt;
    if (!(sure > 0)) return rounding::unknown;
    const double share_error = ((1 - share) * from_doubt + share * to_doubt) / sure + rounding::bound(4);
    return ((1 - share) * from_error + share * to_error + share_error * (distance + from_error + to_error)) *
               (1 + 0x1p-20) +
           rounding::bound(8);  // coordinates are at most one
}

template <int Words>
void Crossing<Words>::evaluate(Frame& frame, const Cell<Words>& cell, int generator, const Mask<Words>& mask,
                               int first_row) {
    const int n = frame.count();
    frame.value.resize(frame.value.size() + n, 0.0);
    frame.sign.resize(frame.sign.size() + n, 0);
    double* value = frame.value.data() + generator * n;
    std::int8_t* sign = frame.sign.data() + generator * n;
    const double* point = frame.generators.point(generator);
    for (int k = 0; k < dimensions_; ++k) {
        const double* entries = frame.forms.data() + k * n;
        const double x = point[k];
        for (int c = first_row; c < n; ++c) value[c] += entries[c] * x;
    }
    const double error = frame.generators.error[generator];
    bool doubtful = false;
    for (int c = first_row; c < n; ++c) {
        const double doubt = frame.doubt[c] + frame.norm[c] * error;
        sign[c] = static_cast<std::int8_t>((value[c] > doubt) - (value[c] < -doubt));
        doubtful |= sign[c] == 0;
    }
    if (doubtful)
        for (int c = first_row; c < n; ++c)
            if (sign[c] == 0)
                sign[c] =
                    static_cast<std::int8_t>(doubtful_sign(frame, cell, generator, mask, frame.rows[c], value[c]));
}

template <int Words>
int Crossing<Words>::doubtful_sign(Frame& frame, const Cell<Words>& cell, int generator, const Mask<Words>& mask,
                                   int row, double value) {
    double& error = frame.generators.error[generator];
    const double* point = frame.generators.point(generator);
    int sign = sign_of(*cell.map, row, point, error, value);
    if (sign <= 1) return sign;
    if (error > 0 && !frame.generators.exact[generator]) {
        // The error may have been inherited only; the equations know it better.
        const double known = equations_.error_at(cell, frame, generator, mask);
        if (known < error) {
            error = known;
            sign = sign_of(*cell.map, row, point, error, value);
            if (sign <= 1) return sign;
        }
    }
    return 2 * sign_of_product(cell.map->exact_row(row), equations_.exact(cell, frame, generator, mask));
}

template <int Words>
int Crossing<Words>::sign_of(const StageMap& map, int row, const double* point, double error, double value) const {
    double magnitude = 0, linear = 0;
    for (int k = 0; k < dimensions_; ++k) magnitude += std::abs(map.entry(row, k) * point[k]);
    for (int k = 0; k < problem_.dim; ++k) linear += std::abs(point[k]);
    const double doubt = (magnitude * rounding::bound(dimensions_ + 2) + map.norm(row) * error +
                          map.error(row) * linear + map.constant_error(row) * std::abs(point[problem_.dim])) *
                         (1 + 0x1p-20);
    if (std::abs(value) > doubt + rounding::tiny) return value > 0 ? positive : negative;
    // Zero is certain only where every product has a factor that is; a computed zero may be an underflow.
    for (int k = 0; k < dimensions_; ++k) {
        const double entry_error = k < problem_.dim ? map.error(row) : map.constant_error(row);
        if ((point[k] != 0.0 || error > 0) && (map.entry(row, k) != 0.0 || entry_error > 0)) return 2;
    }
    return zero;
}

template class Crossing<1>;
template class Crossing<4>;
template class Crossing<16>;
template class Crossing<64>;

}  // namespace polyfold
