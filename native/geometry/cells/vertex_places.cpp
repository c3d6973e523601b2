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

void VertexPlaces::take_apart() {
    if (!ordinary) return;
    mantissas.resize(floats.size());
    exponents.resize(floats.size());
    for (std::size_t i = 0; i < floats.size(); ++i) mantissas[i] = std::frexp(floats[i], &exponents[i]);
}

std::vector<double> VertexPlaces::rounded() const {
    if (ordinary) return floats;
    std::vector<double> places(mantissas.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = std::ldexp(mantissas[i], exponents[i]);
    return places;
}

VertexPlaces place_of(const ExactVector& point) {
    const std::size_t dim = point.numerators.size() - 1;
    VertexPlaces place;
    place.mantissas.resize(dim);
    place.exponents.resize(dim);
    round_into(point, place.mantissas.data(), place.exponents.data());
    return place;
}

template <int Words>
void VertexPlacer<Words>::find(Cell<Words>& cell, Equations<Words>& equations) {
    start(cell);
    for (int v = 0; v < cell.size(); ++v)
        if (!cell.at_infinity(v) && !is_known(cell, equations, v) && !place_sharply(cell, v))
            place_exactly(cell, equations, v);
    const std::vector<double>& floats = places_.floats;
    places_.ordinary = std::all_of(floats.begin(), floats.end(),
                                   [](double x) { return x == 0.0 || rounding::is_ordinary(std::abs(x)); });
    if (!places_.ordinary) take_all_apart(cell, equations);
}

// Places as the generators have them, and how far they reach.
template <int Words>
void VertexPlacer<Words>::start(const Cell<Words>& cell) {
    constexpr double endless = std::numeric_limits<double>::infinity();
    places_.floats.resize(static_cast<std::size_t>(cell.size()) * dim_);
    exact_.assign(cell.size(), false);
    lowest_.assign(dim_, endless);
    highest_.assign(dim_, -endless);
    for (int v = 0; v < cell.size(); ++v) {
        const double* point = cell.point(v);
        double* place = places_.floats.data() + static_cast<std::ptrdiff_t>(v) * dim_;
        for (int k = 0; k < dim_; ++k) {
            place[k] = cell.at_infinity(v) ? point[k] : point[k] / point[dim_];
            if (cell.at_infinity(v)) continue;
            lowest_[k] = std::min(lowest_[k], place[k]);
            highest_[k] = std::max(highest_[k], place[k]);
        }
    }
    shortest_ = endless;
    for (int k = 0; k < dim_; ++k) shortest_ = std::min(shortest_, highest_[k] - lowest_[k]);
    // Where one reaches beyond floats, nothing is known relatively to that.
    for (int k = 0; k < dim_; ++k)
        if (!(highest_[k] - lowest_[k] < endless)) shortest_ = 0;
}

template <int Words>
bool VertexPlacer<Words>::is_known(Cell<Words>& cell, Equations<Words>& equations, int v) {
    auto& generators = cell.frame->generators;
    const int g = cell.generators[v];
    const auto known_to = [&](double point_error, double part) {
        return shortest_ > 0 && point_error <= part * shortest_ * cell.point(v)[dim_];
    };
    const auto at = static_cast<std::size_t>(g) * dim_;
    if (generators.exact[g] || (at < generators.sharp.size() && !std::isnan(generators.sharp[at]))) return false;
    if (known_to(generators.error[g], rounding::poor)) return true;
    // The error may have been inherited only; the equations know it better, and are quicker than exact numbers.
    const double error = equations.error_at(cell, *cell.frame, g, cell.facets_of[v]);
    if (error < generators.error[g]) generators.error[g] = error;
    return known_to(error, rounding::fair);
}

// By its walls to twice the digits of floats, which is as good as exact numbers and far quicker. Cells of one frame
// share generators, and so what was found of them.
template <int Words>
bool VertexPlacer<Words>::place_sharply(const Cell<Words>& cell, int v) {
    GeneratorStore& generators = cell.frame->generators;
    const Mask<Words>& facets = cell.facets_of[v];
    const int g = cell.generators[v];
    if (generators.exact[g] || !cell.lines.empty() || facets.size() != dim_) return false;
    generators.sharp.resize(static_cast<std::size_t>(generators.size()) * dim_,
                            std::numeric_limits<double>::quiet_NaN());
    double* known = generators.sharp.data() + static_cast<std::ptrdiff_t>(g) * dim_;
    double* place = places_.floats.data() + static_cast<std::ptrdiff_t>(v) * dim_;
    if (std::isnan(*known)) {
        int wall = 0;
        facets.for_each([&](int s) { sharp_.set_wall(wall++, cell.slots[s].map->twofold_row(cell.slots[s].row)); });
        if (!sharp_.find(place)) return false;
        std::copy(place, place + dim_, known);
    }
    std::copy(known, known + dim_, place);
    return true;
}

template <int Words>
void VertexPlacer<Words>::place_exactly(Cell<Words>& cell, Equations<Words>& equations, int v) {
    mantissas_.resize(dim_);
    exponents_.resize(dim_);
    round_into(equations.exact(cell, *cell.frame, cell.generators[v], cell.facets_of[v]), mantissas_.data(),
               exponents_.data());
    for (int k = 0; k < dim_; ++k)
        places_.floats[static_cast<std::size_t>(v) * dim_ + k] = std::ldexp(mantissas_[k], exponents_[k]);
    exact_[v] = true;
}

template <int Words>
void VertexPlacer<Words>::take_all_apart(Cell<Words>& cell, Equations<Words>& equations) {
    const auto size = static_cast<std::size_t>(cell.size()) * dim_;
    places_.mantissas.resize(size);
    places_.exponents.resize(size);
    for (int v = 0; v < cell.size(); ++v) {
        const std::size_t at = static_cast<std::size_t>(v) * dim_;
        if (exact_[v])
            round_into(equations.exact(cell, *cell.frame, cell.generators[v], cell.facets_of[v]),
                       &places_.mantissas[at], &places_.exponents[at]);
        else
            for (int k = 0; k < dim_; ++k)
                places_.mantissas[at + k] = std::frexp(places_.floats[at + k], &places_.exponents[at + k]);
    }
}

template class VertexPlacer<1>;
template class VertexPlacer<4>;
template class VertexPlacer<16>;
template class VertexPlacer<64>;

}  // namespace polyfold
