#include "geometry/cells/cell_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/cells/vertex_places.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

template <int Words>
bool is_bounded(const Cell<Words>& cell) {
    const auto& infinite = cell.frame->generators.at_infinity;
    return cell.lines.empty() &&
           std::none_of(cell.generators.begin(), cell.generators.end(), [&](int g) { return infinite[g]; });
}

// The slots of a cell's facets by their walls, without infinity.
template <int Words>
const std::vector<int>& CellWriter<Words>::facets_in_order(const Cell<Words>& cell) {
    order_.clear();
    cell.facets.for_each([&](int s) {
        if (cell.slots[s].wall != problem_.infinity_wall()) order_.push_back(s);
    });
    std::sort(order_.begin(), order_.end(), [&](int a, int b) { return cell.slots[a].wall < cell.slots[b].wall; });
    return order_;
}

template <int Words>
void CellWriter<Words>::emit(Cell<Words>& cell, CellBlock& block) {
    cell.emit_pattern(keys_, block);
    for (const int s : facets_in_order(cell)) {
        walls_.assign(1, cell.slots[s].wall);
        for (const auto& [slot, other] : cell.shared)
            if (slot == s) walls_.push_back(other);
        Path::emit_facet(walls_, block);
    }
    block.facet_start.push_back(static_cast<std::int64_t>(block.facet_wall.size()));

    block.bounded.push_back(is_bounded(cell));
    write_witness(cell, block);
    ++block.cells;
}

// The mean of the vertices, moved along the sum of the rays.
template <int Words>
void CellWriter<Words>::write_witness(Cell<Words>& cell, CellBlock& block) {
    const int d = problem_.dim;
    std::vector<double>&mean = mean_, &drift = drift_;
    mean.assign(d, 0.0);
    drift.assign(d, 0.0);
    const auto& infinite = cell.frame->generators.at_infinity;
    const auto vertices =
        std::count_if(cell.generators.begin(), cell.generators.end(), [&](int g) { return !infinite[g]; });
    for (int v = 0; v < cell.size(); ++v) {
        const double* point = cell.point(v);
        if (cell.at_infinity(v)) {
            for (int k = 0; k < d; ++k) drift[k] += point[k];
        } else {  // divided first: the sum of vertices far out may overflow
            const double weight = 1 / (point[d] * static_cast<double>(vertices));
            for (int k = 0; k < d; ++k) mean[k] += point[k] * weight;
        }
    }
    double length = 1;
    for (int k = 0; k < d; ++k) length = std::max(length, std::abs(mean[k]));
    for (int k = 0; k < d; ++k) mean[k] += length * drift[k];
    const bool finite = std::all_of(mean.begin(), mean.end(), [](double x) { return std::isfinite(x); });
    if (finite && proved_inside(cell, mean.data())) {
        block.witnesses.append(mean.data(), mean.size());
        return;
    }
    // A sliver, or a cell too far out for floats: the sum of its exact generators lies inside.
    ExactWitness witness{block.cells, {}};
    ExactVector sum{std::vector<BigInteger>(dimensions_)};
    for (int v = 0; v < cell.size(); ++v)
        for (int k = 0; k < dimensions_; ++k)
            sum.numerators[k] +=
                equations_.exact(cell, *cell.frame, cell.generators[v], cell.facets_of[v]).numerators[k];
    for (const auto& n : sum.numerators) witness.coordinates.push_back(n.to_hex());
    block.exact_witnesses.push_back(std::move(witness));
    // In floats the mean is near the cell, if there is one; else the nearest floats to the exact point.
    if (!finite) mean = place_of(sum).rounded();
    constexpr double last = std::numeric_limits<double>::max();
    for (const double x : mean) block.witnesses.push_back(std::clamp(x, -last, last));
}

template <int Words>
bool CellWriter<Words>::proved_inside(const Cell<Words>& cell, const double* witness) const {
    bool inside = true;
    cell.facets.for_each([&](int s) {
        const FacetSlot& slot = cell.slots[s];
        const int d = problem_.dim;
        double value = slot.map->entry(slot.row, d), magnitude = std::abs(value), linear = 0;
        for (int k = 0; k < d; ++k) {
            const double term = slot.map->entry(slot.row, k) * witness[k];
            value += term;
            magnitude += std::abs(term);
            linear += std::abs(witness[k]);
        }
        const double doubt =
            (magnitude * rounding::bound(dimensions_ + 2) + slot.map->error(slot.row) * (linear + 1)) * (1 + 0x1p-20) +
            rounding::tiny;
        inside = inside && equations_.side(cell, slot) * value > doubt;
    });
    return inside;
}

template <int Words>
void CellWriter<Words>::emit_generators(Cell<Words>& cell, GeneratorBlock& block) {
    std::vector<std::int32_t>& local = local_;
    local.assign(cell.slots.size(), -1);
    std::int32_t facets = 0;
    for (const int s : facets_in_order(cell)) local[s] = facets++;
    const auto write = [&](const double* place, int kind, const Mask<Words>& mask) {
        block.coordinates.append(place, static_cast<std::size_t>(problem_.dim));
        block.kind.push_back(static_cast<std::uint8_t>(kind));
        mask.for_each([&](int s) {
            if (local[s] >= 0) block.facet.push_back(local[s]);
        });
        block.facet_start.push_back(static_cast<std::int64_t>(block.facet.size()));
    };
    const std::vector<double> places = placer_(cell, equations_).rounded();
    for (int v = 0; v < cell.size(); ++v)
        write(places.data() + static_cast<std::ptrdiff_t>(v) * problem_.dim, cell.at_infinity(v) ? 1 : 0,
              cell.facets_of[v]);
    for (const auto& line : cell.lines) write(line.coordinates.data(), 2, cell.facets);
    block.start.push_back(static_cast<std::int64_t>(block.kind.size()));
}

template bool is_bounded(const Cell<1>&);
template class CellWriter<1>;
template bool is_bounded(const Cell<4>&);
template class CellWriter<4>;
template bool is_bounded(const Cell<16>&);
template class CellWriter<16>;
template bool is_bounded(const Cell<64>&);
template class CellWriter<64>;

}  // namespace polyfold
