#include "geometry/cells/vertex_places.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// An integer as (high + low) 2^exponent, to twice the digits of a float.
struct TwoFloats {
    double high, low;
    std::int64_t exponent;

    explicit TwoFloats(const BigInteger& number) : low(0.0) {
        constexpr int digits = 53;
        std::tie(high, exponent) = number.to_float();
        if (exponent <= digits) return;
        BigInteger head(static_cast<std::int64_t>(std::ldexp(high, digits)));
        head.shift_left(static_cast<std::uint64_t>(exponent - digits));
        const auto [rest, rest_exponent] = (number - head).to_float();
        low = rest == 0.0 ? 0.0 : std::ldexp(rest, static_cast<int>(rest_exponent - exponent));
    }
};

// Each quotient is a float next to the true one, and that one itself if it is a float: vertices and witnesses of a box
// do not leave it by being rounded.
void round_into(const ExactVector& point, double* mantissas, int* exponents) {
    const std::size_t dim = point.numerators.size() - 1;
    const TwoFloats weight(point.numerators[dim]);
    for (std::size_t k = 0; k < dim; ++k) {
        const TwoFloats number(point.numerators[k]);
        const double quotient = number.high / weight.high;
        const double rest = std::fma(-quotient, weight.high, number.high) + number.low - quotient * weight.low;
        mantissas[k] = std::frexp(quotient + rest / weight.high, &exponents[k]);
        if (number.high != 0.0) exponents[k] += static_cast<int>(number.exponent - weight.exponent);
    }
}

}  // namespace

std::vector<double> VertexPlaces::rounded() const {
    std::vector<double> places(mantissas.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = std::ldexp(mantissas[i], exponents[i]);
    return places;
}

VertexPlaces place_of(const ExactVector& point) {
    const std::size_t dim = point.numerators.size() - 1;
    VertexPlaces place{std::vector<double>(dim), std::vector<int>(dim)};
    round_into(point, place.mantissas.data(), place.exponents.data());
    return place;
}

template <int Words>
VertexPlaces vertex_places(Cell<Words>& cell, Equations<Words>& equations, int dim) {
    const auto size = static_cast<std::size_t>(cell.size()) * dim;
    VertexPlaces places{std::vector<double>(size), std::vector<int>(size)};
    auto& generators = cell.frame->generators;
    constexpr double endless = std::numeric_limits<double>::infinity();
    std::vector<double> lowest(dim, endless), highest(dim, -endless);
    for (int v = 0; v < cell.size(); ++v) {
        const double* point = cell.point(v);
        for (int k = 0; k < dim; ++k) {
            const double place = cell.at_infinity(v) ? point[k] : point[k] / point[dim];
            places.mantissas[v * dim + k] = std::frexp(place, &places.exponents[v * dim + k]);
            if (cell.at_infinity(v)) continue;
            lowest[k] = std::min(lowest[k], place);
            highest[k] = std::max(highest[k], place);
        }
    }
    for (int v = 0; v < cell.size(); ++v) {
        if (cell.at_infinity(v)) continue;
        const int g = cell.generators[v];
        const auto known_to = [&](double point_error, double part) {
            const double error = point_error / cell.point(v)[dim];
            bool known = true;
            for (int k = 0; k < dim && known; ++k) {
                const double extent = highest[k] - lowest[k];
                known = extent < endless && error <= part * extent;
            }
            return known;
        };
        bool known = !generators.exact[g] && known_to(generators.error[g], rounding::poor);
        if (!known && !generators.exact[g]) {
            // The error may have been inherited only; the equations know it better, and are quicker than exact numbers.
            const double error = equations.error_at(cell, *cell.frame, g, cell.facets_of[v]);
            if (error < generators.error[g]) generators.error[g] = error;
            known = known_to(error, rounding::fair);
        }
        if (!known)
            round_into(equations.exact(cell, *cell.frame, g, cell.facets_of[v]), &places.mantissas[v * dim],
                       &places.exponents[v * dim]);
    }
    return places;
}

template VertexPlaces vertex_places(Cell<1>&, Equations<1>&, int);
template VertexPlaces vertex_places(Cell<4>&, Equations<4>&, int);
template VertexPlaces vertex_places(Cell<16>&, Equations<16>&, int);
template VertexPlaces vertex_places(Cell<64>&, Equations<64>&, int);

}  // namespace polyfold
