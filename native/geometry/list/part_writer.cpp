#include "geometry/list/part_writer.hpp"

#include <algorithm>
#include <bit>

namespace polyfold {

template <int Words>
bool PartWriter<Words>::write(const Cell<Words>& cell, const PartList<Words>& list, CellBlock& block) {
    const PartTable& parts = list.parts();
    list_walls(cell, list);
    put_in_order(parts);
    const std::size_t witnesses = block.witnesses.size(), count = order_.size();
    if (!witnesses_.write(parts, order_, block.witnesses.extend(count * problem_.dim))) {
        block.witnesses.resize(witnesses);
        return false;
    }
    write_patterns(cell, parts, block);
    write_facets(parts, block);
    block.cells += static_cast<std::int64_t>(count);
    return true;
}

template <int Words>
void PartWriter<Words>::list_walls(const Cell<Words>& cell, const PartList<Words>& list) {
    walls_.clear();
    shared_.clear();
    rows_.clear();
    gate_facets_ = domain_facets_ = 0;
    cutting_ = list.cutting();
    witnesses_.start(static_cast<int>(list.slots().size()), *cell.frame, cell.row, *cell.map);
    for (const int s : list.slots()) {
        const FacetSlot& slot = cell.slots[s];
        const auto facet = static_cast<std::int32_t>(walls_.size());
        if (slot.wall != problem_.infinity_wall())
            (slot.wall < problem_.gates ? gate_facets_ : domain_facets_) |= std::uint64_t{1} << facet;
        walls_.push_back(slot.wall);
        witnesses_.set_facet(facet, *slot.map, slot.row, equations_.side(cell, slot));
        for (const auto& [other, wall] : cell.shared)
            if (other == s) shared_.emplace_back(facet, wall);
    }
    for (int r = 0; r < list.rows(); ++r) {
        const int gate = problem_.stages[cell.stage].first_wall + cell.frame->rows[cell.row + r];
        rows_.push_back({gate, key_of_gate_on(gate), gate / 8, static_cast<std::uint8_t>(1 << (gate % 8))});
    }
}

template <int Words>
void PartWriter<Words>::put_in_order(const PartTable& parts) {
    const int count = parts.size();
    order_.resize(count);
    for (int part = 0; part < count; ++part) order_[part] = {parts.code(part), part};
    std::sort(order_.begin(), order_.end());
    place_.resize(count);
    for (int i = 0; i < count; ++i) place_[order_[i].second] = i;
}

template <int Words>
void PartWriter<Words>::write_patterns(const Cell<Words>& cell, const PartTable& parts, CellBlock& block) const {
    const std::size_t bytes = cell.pattern.size();
    const FaceKey of_cell = cell.key(keys_);
    const std::uint8_t* const of_all = cell.pattern.data();
    const Row* const rows = rows_.data();
    std::uint8_t* pattern = block.patterns.extend(order_.size() * bytes);
    FaceKey* key = block.keys.extend(order_.size());
    std::uint8_t* bounded = block.bounded.extend(order_.size());
    for (const auto& [code, part] : order_) {
        for (std::size_t i = 0; i < bytes; ++i) pattern[i] = of_all[i];
        FaceKey own = of_cell;
        for_each_row(code, [&](int r) {
            pattern[rows[r].byte] |= rows[r].bit;
            own ^= rows[r].key;
        });
        pattern += bytes;
        *key++ = own;
        *bounded++ = !parts[part].open();
    }
}

// The facets come in the order of their walls: gates of earlier rows, then these rows, then the domain's.
template <int Words>
void PartWriter<Words>::write_facets(const PartTable& parts, CellBlock& block) const {
    const std::size_t before = block.facet_wall.size();
    const auto first = static_cast<std::int32_t>(block.cells);
    const std::size_t most = order_.size() * (walls_.size() + std::popcount(cutting_));
    const std::int32_t *const walls = walls_.data(), *const places = place_.data();
    const Row* const rows = rows_.data();
    std::int32_t* const wall = block.facet_wall.extend(most);
    std::int32_t* const neighbour = block.neighbour.extend(most);
    std::int64_t* start = block.facet_start.extend(order_.size());
    std::size_t written = 0;
    for (const auto& [code, number] : order_) {
        const Part part = parts[number];
        const auto add_facets = [&](std::uint64_t facets) {
            if (!shared_.empty()) write_shared(facets, static_cast<std::int64_t>(before + written), block);
            for (; facets; facets &= facets - 1) {
                wall[written] = walls[std::countr_zero(facets)];
                neighbour[written++] = not_explored;
            }
        };
        add_facets(part.facets & gate_facets_);
        // A part that has a vertex on a row has it in common with the part behind.
        for_each_row(part.rows, [&](int r) {
            wall[written] = rows[r].gate;
            neighbour[written++] = first + places[parts.find(part.code ^ bit_of_row(r))];
        });
        add_facets(part.facets & domain_facets_);
        *start++ = static_cast<std::int64_t>(before + written);
    }
    block.facet_wall.resize(before + written);
    block.neighbour.resize(before + written);
}

// Further walls of these facets, of which the first one has this number.
template <int Words>
void PartWriter<Words>::write_shared(std::uint64_t facets, std::int64_t number, CellBlock& block) const {
    for (; facets; facets &= facets - 1, ++number)
        for (const auto& [facet, wall] : shared_)
            if (facet == std::countr_zero(facets)) block.shared.push_back({number, wall});
}

template class PartWriter<1>;
template class PartWriter<4>;
template class PartWriter<16>;
template class PartWriter<64>;

}  // namespace polyfold
