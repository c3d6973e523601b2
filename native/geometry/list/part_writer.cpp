#include "geometry/list/part_writer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

template <int Words>
bool PartWriter<Words>::write(const Cell<Words>& cell, const PartList<Words>& list, CellBlock& block) {
    const PartTable& parts = list.parts();
    list_walls(cell, list);

    order_.clear();
    for (int part = 0; part < parts.size(); ++part) order_.emplace_back(parts[part].code, part);
    std::sort(order_.begin(), order_.end());
    const std::size_t witnesses = block.witnesses.size();
    for (const auto& [code, part] : order_)
        if (!write_witness(parts, part, block)) {
            block.witnesses.resize(witnesses);
            return false;
        }

    place_.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i].second] = static_cast<std::int32_t>(i);
    const FaceKey key = cell.key(keys_);
    const auto first = static_cast<std::int32_t>(block.cells);
    for (const auto& [code, part] : order_) {
        const std::size_t at = block.patterns.size();
        block.patterns.append(cell.pattern.data(), cell.pattern.size());
        FaceKey own = key;
        for_each_row(code, [&](int r) {
            const int gate = walls_[facets_ + r].wall;
            block.patterns[at + gate / 8] |= static_cast<std::uint8_t>(1 << (gate % 8));
            own ^= row_keys_[r];
        });
        block.keys.push_back(own);
        write_facets(parts, parts[part], first, block);
        block.facet_start.push_back(static_cast<std::int64_t>(block.facet_wall.size()));
        block.bounded.push_back(!parts[part].open);
    }
    block.cells += static_cast<std::int64_t>(order_.size());
    return true;
}

template <int Words>
void PartWriter<Words>::list_walls(const Cell<Words>& cell, const PartList<Words>& list) {
    walls_.clear();
    forms_.clear();
    shared_.clear();
    row_keys_.clear();
    gate_facets_ = 0;
    for (const int s : list.slots()) {
        const FacetSlot& slot = cell.slots[s];
        gate_facets_ += slot.wall < problem_.gates;
        for (const auto& [other, wall] : cell.shared)
            if (other == s) shared_.emplace_back(static_cast<std::int32_t>(walls_.size()), wall);
        add_wall(*slot.map, slot.row, slot.wall, equations_.side(cell, slot));
    }
    facets_ = static_cast<int>(walls_.size());
    for (int r = 0; r < list.rows(); ++r) {
        const int row = cell.frame->rows[cell.row + r];
        const int gate = problem_.stages[cell.stage].first_wall + row;
        add_wall(*cell.map, row, gate, 1);
        row_keys_.push_back(key_of_gate_on(gate));
    }
}

template <int Words>
void PartWriter<Words>::add_wall(const StageMap& map, int row, std::int32_t wall, int side) {
    const double error = map.norm(row) < rounding::largest_factor ? map.error(row) : rounding::unknown;
    walls_.push_back({wall, error, map.norm(row) * rounding::bound(dimensions_ + 3) + error * (dimensions_ + 1)});
    const std::size_t at = forms_.size();
    forms_.resize(at + registers_, Lanes{});
    for (int k = 0; k < dimensions_; ++k) forms_[at + k / lanes][k % lanes] = side * map.entry(row, k);
}

// The facets come in the order of their walls: gates of earlier rows, then these rows, then the domain's.
template <int Words>
void PartWriter<Words>::write_facets(const PartTable& parts, const Part& part, std::int32_t first,
                                     CellBlock& block) const {
    const std::uint64_t gates = gate_facets_ < 64 ? (std::uint64_t{1} << gate_facets_) - 1 : ~std::uint64_t{0};
    for (std::uint64_t rest = part.facets & gates; rest; rest &= rest - 1) add_facet(std::countr_zero(rest), block);
    for_each_row(part.rows, [&](int r) {
        block.facet_wall.push_back(walls_[facets_ + r].wall);
        const int behind = parts.find(part.code ^ bit_of_row(r));
        block.neighbour.push_back(behind == PartTable::none ? not_explored : first + place_[behind]);
    });
    for (std::uint64_t rest = part.facets & ~gates; rest; rest &= rest - 1) {
        const int facet = std::countr_zero(rest);
        if (walls_[facet].wall != problem_.infinity_wall()) add_facet(facet, block);
    }
}

template <int Words>
void PartWriter<Words>::add_facet(int facet, CellBlock& block) const {
    for (const auto& [other, wall] : shared_)
        if (other == facet) block.shared.push_back({static_cast<std::int64_t>(block.facet_wall.size()), wall});
    block.facet_wall.push_back(walls_[facet].wall);
    block.neighbour.push_back(not_explored);
}

// The mean of the vertices, moved along the sum of the rays.
template <int Words>
bool PartWriter<Words>::write_witness(const PartTable& parts, int number, CellBlock& block) {
    const Part& part = parts[number];
    const Lanes *sum = parts.sum(number), *drift = parts.drift(number);
    const int d = problem_.dim;
    const double weight = 1 / sum[d / lanes][d % lanes];  // every vertex has t = 1
    for (int i = 0; i < registers_; ++i) witness_[i] = sum[i] * weight;
    if (part.open) {
        Lanes sizes{};
        for (int i = 0; i < registers_; ++i) sizes = larger(sizes, size_of(witness_[i]));
        const double length = std::max({1.0, sizes[0], sizes[1], sizes[2], sizes[3]});
        for (int i = 0; i < registers_; ++i) witness_[i] += length * drift[i];
    }
    witness_[d / lanes][d % lanes] = 1;
    if (!proved_inside(part)) return false;
    for (int k = 0; k < d; ++k) block.witnesses.push_back(witness_[k / lanes][k % lanes]);
    return true;
}

template <int Words>
bool PartWriter<Words>::proved_inside(const Part& part) const {
    Lanes sizes{};
    for (int i = 0; i < registers_; ++i) sizes = larger(sizes, size_of(witness_[i]));
    const double scale = std::max(std::max(sizes[0], sizes[1]), std::max(sizes[2], sizes[3]));  // at least one
    bool inside = scale < rounding::largest_factor;
    for (std::uint64_t rest = part.facets; rest; rest &= rest - 1)
        inside = inside && proved_positive(std::countr_zero(rest), 1, scale);
    for_each_row(part.rows, [&](int r) {
        inside = inside && proved_positive(facets_ + r, part.code & bit_of_row(r) ? 1 : -1, scale);
    });
    return inside;
}

template <int Words>
bool PartWriter<Words>::proved_positive(int wall, int side, double scale) const {
    const Lanes* form = forms_.data() + static_cast<std::ptrdiff_t>(wall) * registers_;
    Lanes terms{};
    for (int i = 0; i < registers_; ++i) terms += form[i] * witness_[i];
    const double value = side * ((terms[0] + terms[1]) + (terms[2] + terms[3]));
    if (value > scale * walls_[wall].doubt * (1 + 0x1p-20) + rounding::tiny) return true;
    // A look with the actual magnitudes.
    Lanes magnitudes{}, linear{};
    for (int i = 0; i < registers_; ++i) {
        magnitudes += size_of(form[i] * witness_[i]);
        linear += size_of(witness_[i]);
    }
    const auto sum = [](Lanes x) { return (x[0] + x[1]) + (x[2] + x[3]); };
    return value >
           (sum(magnitudes) * rounding::bound(dimensions_ + 3) + walls_[wall].error * sum(linear)) * (1 + 0x1p-20) +
               rounding::tiny;
}

template class PartWriter<1>;
template class PartWriter<4>;
template class PartWriter<16>;
template class PartWriter<64>;

}  // namespace polyfold
