#include "geometry/cells/crossing.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/exact/rounding.hpp"
#include "geometry/exact/row_signs.hpp"

namespace polyfold {

template <int Words>
int Crossing<Words>::between(Frame& frame, const Cell<Words>& cell, int above, int below, int row,
                             const Mask<Words>& mask) {
    GeneratorStore& generators = frame.generators;
    const double* from = generators.point(above);
    const double* to = generators.point(below);
    const double up = frame.value_at(above, row), down = frame.value_at(below, row);
    const bool rough = frame.sign_at(above, row) == exactly_positive || frame.sign_at(below, row) == exactly_negative;
    const auto doubt = [&](int g) { return frame.doubt[row] + frame.norm[row] * generators.error[g]; };
    const Share share = Share::between(up, -down, doubt(above), doubt(below));
    double distance = 0;
    for (int k = 0; k < dimensions_; ++k) {
        const double step = to[k] - from[k];
        point_[k] = from[k] + share.share * step;
        distance = std::max(distance, std::abs(step));
    }
    const bool infinite = generators.at_infinity[above] && generators.at_infinity[below];
    if (infinite) point_[problem_.dim] = 0.0;
    const double error = share.error_of_point(generators.error[above], generators.error[below], distance);
    auto settled =
        equations_.settle(cell, mask, Equations<Words>::no_line, infinite,
                          {error, rough, hand_out_ ? rounding::poor : rounding::near, hand_out_}, point_.data());
    const int g = generators.add(point_.data(), settled.error, infinite, std::move(settled.exact),
                                 common_walls(generators.touched[above], generators.touched[below]));
    evaluate(frame, cell, g, mask, row + 1);
    return g;
}

template <int Words>
void Crossing<Words>::evaluate(Frame& frame, const Cell<Words>& cell, int generator, const Mask<Words>& mask,
                               int first_row) {
    const int n = frame.count();
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(generator) * n;
    // Room is made for many generators at once, and kept when these are gone.
    if (const auto wanted = static_cast<std::size_t>(at + n); frame.value.size() < wanted) {
        frame.value.resize(2 * wanted);
        frame.sign.resize(2 * wanted);
    }
    double* value = frame.value.data() + at;
    std::int8_t* sign = frame.sign.data() + at;
    const bool doubtful =
        signs_at({frame.forms.data(), n, dimensions_}, first_row, frame.generators.point(generator),
                 frame.generators.error[generator], frame.norm.data(), frame.doubt.data(), value, sign, nullptr);
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
    if (equations_.is_wall_of_any(cell, mask, row)) return zero;
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
