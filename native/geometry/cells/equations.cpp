#include "geometry/cells/equations.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "geometry/base/errors.hpp"
#include "geometry/exact/float_products.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// Scale by a power of two, which rounds nothing, so that the largest coordinate lies between a half and one. Returns
// the scale, or infinity where that is no ordinary number.
double normalise(double* point, int size) {
    double largest = 0;
    for (int k = 0; k < size; ++k) largest = std::max(largest, std::abs(point[k]));
    if (largest >= 0.5 && largest < 1) return 1;
    if (rounding::is_ordinary(largest)) {
        // 2^-e from the bits of largest = m 2^e, m in [1/2, 1)
        const std::uint64_t exponent = std::bit_cast<std::uint64_t>(largest) >> 52;
        const double scale = std::bit_cast<double>((2045 - exponent) << 52);
        for (int k = 0; k < size; ++k) point[k] *= scale;
        return scale;
    }
    if (largest > 0 && std::isfinite(largest)) {
        int exponent = 0;
        std::frexp(largest, &exponent);
        for (int k = 0; k < size; ++k) point[k] = std::ldexp(point[k], -exponent);
    }
    return rounding::unknown;
}

// Round an exact point to floats, the largest coordinate between a half and one.
void round_to(const ExactVector& exact, double* point) {
    std::int64_t top = INT64_MIN;
    for (const auto& n : exact.numerators)
        if (!n.is_zero()) top = std::max(top, n.to_float().second);
    for (std::size_t k = 0; k < exact.numerators.size(); ++k) {
        const auto [mantissa, exponent] = exact.numerators[k].to_float();
        point[k] = exact.numerators[k].is_zero() || exponent - top < -1070
                       ? 0.0
                       : std::ldexp(mantissa, static_cast<int>(exponent - top));
    }
}

}  // namespace

template <int Words>
auto Equations<Words>::settle(const Cell<Words>& cell, const Mask<Words>& facets, int pivot, bool infinite, Guess guess,
                              double* point) -> Settled {
    if (pivot == no_line && !infinite && is_origin(cell, facets)) {
        std::fill_n(point, problem_.dim, 0.0);
        point[problem_.dim] = 0.5;
        return {0, nullptr};
    }
    if (!guess.rough) {
        const double inherited = guess.error * normalise(point, problem_.dim + 1) * (1 + 0x1p-20);
        if (is_known(pivot, infinite, inherited, inherited, guess, point)) return {inherited, nullptr};
        const LinearBound::Bound error = error_of(cell, facets, pivot, point);
        // The equations leave the direction of a ray open. It is the point's if that is off by less than its largest
        // coordinate is long.
        const bool directed =
            !infinite || pivot != no_line || inherited < 0.5 || points_inward(cell, facets, point, error.all);
        if (directed && is_known(pivot, infinite, error.all, error.last, guess, point)) return {error.all, nullptr};
    }
    auto exact = solve(cell, facets, pivot, infinite);
    round_to(*exact, point);
    return {rounding::unit, std::move(exact)};
}

template <int Words>
double Equations<Words>::inherit(int pivot, bool infinite, const Guess& guess, double* point) const {
    const double inherited = guess.error * normalise(point, problem_.dim + 1) * (1 + 0x1p-20);
    return is_known(pivot, infinite, inherited, inherited, guess, point) ? inherited : rounding::unknown;
}

template <int Words>
LinearBound::Bound Equations<Words>::error_of(const Cell<Words>& cell, const Mask<Words>& facets, int pivot,
                                              const double* point) {
    bound_.clear();
    facets.for_each([&](int s) {
        const FacetSlot& slot = cell.slots[s];
        double* row = bound_.add_row(slot.map->error(slot.row));
        for (int k = 0; k <= problem_.dim; ++k) row[k] = slot.map->entry(slot.row, k);
    });
    for (const auto& line : cell.lines)
        if (line.pivot != pivot) bound_.add_row(0)[line.pivot] = 1.0;
    return bound_.error(point);
}

// Whether a ray that is known up to this error, and up to its direction, has the direction that keeps it in the cell:
// a facet that it does not lie on tells.
template <int Words>
bool Equations<Words>::points_inward(const Cell<Words>& cell, const Mask<Words>& facets, const double* point,
                                     double error) const {
    const int size = problem_.dim + 1;
    bool inward = false;
    cell.facets.for_each([&](int s) {
        if (inward || facets.has(s)) return;
        const FacetSlot& slot = cell.slots[s];
        double value = 0;
        for (int k = 0; k < size; ++k) value += slot.map->entry(slot.row, k) * point[k];
        const double doubt =
            (slot.map->norm(slot.row) * (rounding::bound(size + 2) + error) + slot.map->error(slot.row) * size) *
                (1 + 0x1p-20) +
            rounding::tiny;
        inward = side(cell, slot) * value > doubt;
    });
    return inward;
}

template <int Words>
std::shared_ptr<const ExactVector> Equations<Words>::solve(const Cell<Words>& cell, const Mask<Words>& facets,
                                                           int pivot, bool infinite) const {
    std::vector<ExactVector> rows;
    facets.for_each([&](int s) { rows.push_back(cell.slots[s].map->exact_row(cell.slots[s].row)); });
    for (const auto& line : cell.lines) {
        if (line.pivot == pivot) continue;
        std::vector<double> unit(problem_.dim + 1, 0.0);
        unit[line.pivot] = 1.0;
        rows.push_back(ExactVector::from_floats(unit.data(), problem_.dim + 1));
    }
    auto point = std::make_shared<ExactVector>(null_vector(std::move(rows), problem_.dim + 1));

    // The equations leave the sign open.
    int sign = 0;
    if (pivot != no_line) {
        sign = point->numerators[pivot].sign();
    } else if (!infinite) {
        sign = point->numerators[problem_.dim].sign();
    } else {
        cell.facets.for_each([&](int s) {
            const FacetSlot& slot = cell.slots[s];
            if (sign == 0 && !facets.has(s))
                sign = side(cell, slot) * sign_of_product(slot.map->exact_row(slot.row), *point);
        });
    }
    if (sign == 0) throw Contradiction("a generator has no direction");
    if (sign < 0)
        for (auto& n : point->numerators) n.negate();
    return point;
}

// Whether it is known that a vertex is the origin: without constants it is the one point that gates' walls leave.
template <int Words>
bool Equations<Words>::is_origin(const Cell<Words>& cell, const Mask<Words>& facets) const {
    if (!problem_.without_constants) return false;
    bool gates_only = true;
    facets.for_each([&](int s) { gates_only = gates_only && cell.slots[s].wall < problem_.gates; });
    return gates_only;
}

template <int Words>
bool Equations<Words>::is_wall_of_any(const Cell<Words>& cell, const Mask<Words>& facets, int row) const {
    const StageMap& map = *cell.map;
    const std::vector<int>& twin = problem_.stages[map.stage()].twin;
    bool found = false;
    facets.for_each([&](int s) {
        if (found) return;
        const FacetSlot& slot = cell.slots[s];
        if (slot.map == &map && !twin.empty() && twin[slot.row] == twin[row]) {
            found = true;
        } else if (map.error(row) == 0.0 && slot.map->error(slot.row) == 0.0) {
            found = are_parallel([&](int k) { return map.entry(row, k); },
                                 [&](int k) { return slot.map->entry(slot.row, k); }, problem_.dim + 1);
        }
    });
    return found;
}

template class Equations<1>;
template class Equations<4>;
template class Equations<16>;
template class Equations<64>;

}  // namespace polyfold
