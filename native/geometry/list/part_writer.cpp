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
    const auto facets = static_cast<std::int64_t>(block.facet_wall.size());
    make_room_for_facets(parts);
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
        block.facet_start.push_back(facets + static_cast<std::int64_t>(written_));
        block.bounded.push_back(!parts[part].open);
    }
    block.facet_wall.append(facet_wall_.data(), written_);
    block.neighbour.append(neighbour_.data(), written_);
    block.cells += static_cast<std::int64_t>(order_.size());
    return true;
}

template <int Words>
void PartWriter<Words>::list_walls(const Cell<Words>& cell, const PartList<Words>& list) {
    walls_.clear();
    shared_.clear();
    row_keys_.clear();
    gate_facets_ = 0;
    facets_ = static_cast<int>(list.slots().size());
    facet_registers_ = registers_for(facets_);
    row_registers_ = std::max(registers_for(list.rows()), 1);
    wall_registers_ = facet_registers_ + row_registers_;
    doubts_.assign(wall_registers_, Lanes{});
    forms_.assign(static_cast<std::size_t>(dimensions_ * wall_registers_), Lanes{});
    Lanes* const constants = forms_.data() + problem_.dim * wall_registers_;
    for (int i = 0; i < wall_registers_; ++i) constants[i] += i < facet_registers_ ? 1.0 : -1.0;
    for (const int s : list.slots()) {
        const FacetSlot& slot = cell.slots[s];
        const auto facet = static_cast<std::int32_t>(walls_.size());
        gate_facets_ += slot.wall < problem_.gates;
        for (const auto& [other, wall] : cell.shared)
            if (other == s) shared_.emplace_back(facet, wall);
        add_wall(*slot.map, slot.row, slot.wall, equations_.side(cell, slot), facet);
    }
    for (int r = 0; r < list.rows(); ++r) {
        const int row = cell.frame->rows[cell.row + r];
        const int gate = problem_.stages[cell.stage].first_wall + row;
        add_wall(*cell.map, row, gate, 1, place_of(r));
        row_keys_.push_back(key_of_gate_on(gate));
    }
}

template <int Words>
void PartWriter<Words>::add_wall(const StageMap& map, int row, std::int32_t wall, int side, int place) {
    const double norm = map.norm(row);
    const double error = norm < rounding::largest_factor ? map.error(row) : rounding::unknown;
    walls_.push_back({wall, error});
    const int at = place / lanes, lane = place % lanes;
    doubts_[at][lane] = (norm * rounding::bound(dimensions_ + 3) + error * (dimensions_ + 1)) * (1 + 0x1p-20);
    for (int k = 0; k < dimensions_; ++k) forms_[k * wall_registers_ + at][lane] = side * map.entry(row, k);
}

// No part has more facets than the bits tell.
template <int Words>
void PartWriter<Words>::make_room_for_facets(const PartTable& parts) {
    std::size_t most = 0;
    for (int part = 0; part < parts.size(); ++part)
        most += static_cast<std::size_t>(std::popcount(parts[part].facets) + std::popcount(parts[part].rows));
    if (facet_wall_.size() < most) {
        facet_wall_.resize(2 * most);
        neighbour_.resize(2 * most);
    }
    written_ = 0;
}

// The facets come in the order of their walls: gates of earlier rows, then these rows, then the domain's.
template <int Words>
void PartWriter<Words>::write_facets(const PartTable& parts, const Part& part, std::int32_t first, CellBlock& block) {
    const std::uint64_t gates = gate_facets_ < 64 ? (std::uint64_t{1} << gate_facets_) - 1 : ~std::uint64_t{0};
    for (std::uint64_t rest = part.facets & gates; rest; rest &= rest - 1) add_facet(std::countr_zero(rest), block);
    for_each_row(part.rows, [&](int r) {
        const int behind = parts.find(part.code ^ bit_of_row(r));
        add_facet(walls_[facets_ + r].wall, behind == PartTable::none ? not_explored : first + place_[behind]);
    });
    for (std::uint64_t rest = part.facets & ~gates; rest; rest &= rest - 1) {
        const int facet = std::countr_zero(rest);
        if (walls_[facet].wall != problem_.infinity_wall()) add_facet(facet, block);
    }
}

template <int Words>
void PartWriter<Words>::add_facet(int facet, CellBlock& block) {
    for (const auto& [other, wall] : shared_)
        if (other == facet)
            block.shared.push_back({static_cast<std::int64_t>(block.facet_wall.size() + written_), wall});
    add_facet(walls_[facet].wall, not_explored);
}

// The mean of the vertices, moved along the sum of the rays.
template <int Words>
bool PartWriter<Words>::write_witness(const PartTable& parts, int number, CellBlock& block) {
    const Part& part = parts[number];
    const Lanes *sum = parts.sum(number), *drift = parts.drift(number);
    const int d = problem_.dim;
    const double weight = 1 / sum[d / lanes][d % lanes];  // every vertex has t = 1
    const double length = part.open ? std::max(1.0, largest_of(sum, weight)) : 0.0;
    for (int i = 0; i < registers_; ++i) {
        Lanes at = sum[i] * weight;
        if (part.open) at += length * drift[i];
        store(witness_.data() + i * lanes, at);
    }
    witness_[d] = 1;
    if (!proved_inside(part)) return false;
    block.witnesses.append(witness_.data(), static_cast<std::size_t>(d));
    return true;
}

// The largest size of a coordinate, with this weight.
template <int Words>
double PartWriter<Words>::largest_of(const Lanes* point, double weight) const {
    Lanes sizes{};
    for (int i = 0; i < registers_; ++i) sizes = larger(sizes, size_of(point[i] * weight));
    return std::max(std::max(sizes[0], sizes[1]), std::max(sizes[2], sizes[3]));
}

template <int Words>
bool PartWriter<Words>::proved_inside(const Part& part) const {
    const int dim = problem_.dim, stride = wall_registers_;
    double scale = 1;
    for (int k = 0; k < dim; ++k) scale = std::max(scale, std::abs(witness_[k]));
    if (!(scale < rounding::largest_factor)) return false;
    // All walls of the cell side by side: inside a part is on the right side of those as well that are none of its own.
    std::uint64_t code = part.code >> (most_rows - row_registers_ * lanes);
    unsigned inside = (1 << lanes) - 1;
    for (int i = 0; i < stride; ++i) {
        const Lanes* form = forms_.data() + i;
        Lanes value = form[dim * stride];
        for (int k = 0; k < dim; ++k, form += stride) value += *form * witness_[k];
        if (i >= facet_registers_) {
            value *= sides_by(code);
            code >>= lanes;
        }
        inside &= bits_of(value > doubts_[i] * scale + rounding::tiny);
    }
    if (inside == (1 << lanes) - 1) return true;
    bool own = true;
    for (std::uint64_t rest = part.facets; rest && own; rest &= rest - 1) {
        const int facet = std::countr_zero(rest);
        own = proved_positive(facet, facet, 1);
    }
    for_each_row(part.rows, [&](int r) {
        own = own && proved_positive(facets_ + r, place_of(r), part.code & bit_of_row(r) ? 1 : -1);
    });
    return own;
}

// A look at one wall with the actual magnitudes.
template <int Words>
bool PartWriter<Words>::proved_positive(int wall, int place, int side) const {
    double value = 0, magnitude = 0, linear = 0;
    for (int k = 0; k < dimensions_; ++k) {
        const double term = forms_[k * wall_registers_ + place / lanes][place % lanes] * witness_[k];
        value += term;
        magnitude += std::abs(term);
        linear += std::abs(witness_[k]);
    }
    return side * value > (magnitude * rounding::bound(dimensions_ + 3) + walls_[wall].error * linear) * (1 + 0x1p-20) +
                              rounding::tiny;
}

template class PartWriter<1>;
template class PartWriter<4>;
template class PartWriter<16>;
template class PartWriter<64>;

}  // namespace polyfold
