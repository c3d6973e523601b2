#include "geometry/cells/cell_block.hpp"

#include <algorithm>
#include <utility>

namespace polyfold {

namespace {

template <class T>
void move_to_end(GrowingArray<T>& to, GrowingArray<T>& from) {
    to.append(from.data(), from.size());
    from = {};
}

}  // namespace

void CellBlock::append(CellBlock&& other) {
    if (cells == 0) {
        *this = std::move(other);
        return;
    }
    const auto facets = static_cast<std::int64_t>(facet_wall.size());
    for (auto& start : other.facet_start) start += facets;
    for (auto& item : other.shared) item.facet += facets;
    for (auto& cell : other.neighbour)
        if (cell >= 0) cell += static_cast<std::int32_t>(cells);
    for (auto& item : other.exact_witnesses) {
        item.cell += cells;
        exact_witnesses.push_back(std::move(item));
    }
    cells += other.cells;
    facet_start.resize(facet_start.size() - 1);
    move_to_end(patterns, other.patterns);
    move_to_end(keys, other.keys);
    move_to_end(witnesses, other.witnesses);
    move_to_end(bounded, other.bounded);
    move_to_end(facet_start, other.facet_start);
    move_to_end(facet_wall, other.facet_wall);
    move_to_end(neighbour, other.neighbour);
    move_to_end(shared, other.shared);
}

void CellBlock::truncate(std::int64_t count, int dim) {
    if (count >= cells) return;
    patterns.resize(patterns.size() / static_cast<std::size_t>(cells) * static_cast<std::size_t>(count));
    cells = count;
    keys.resize(count);
    witnesses.resize(count * dim);
    bounded.resize(count);
    facet_start.resize(count + 1);
    const std::int64_t facets = facet_start[count];
    facet_wall.resize(facets);
    neighbour.resize(facets);
    for (auto& cell : neighbour)
        if (cell >= count) cell = not_explored;
    const auto rest =
        std::find_if(shared.begin(), shared.end(), [&](const auto& item) { return item.facet >= facets; });
    shared.resize(rest - shared.begin());
    std::erase_if(exact_witnesses, [&](const ExactWitness& item) { return item.cell >= count; });
}

void GeneratorBlock::append(GeneratorBlock&& other) {
    const auto join = [](auto& to, auto& from) { to.append(from.data(), from.size()); };
    const auto join_starts = [](auto& to, const auto& from, std::size_t before) {
        for (std::size_t i = 1; i < from.size(); ++i) to.push_back(from[i] + static_cast<std::int64_t>(before));
    };
    join_starts(start, other.start, kind.size());
    join_starts(facet_start, other.facet_start, facet.size());
    join(coordinates, other.coordinates);
    join(kind, other.kind);
    join(facet, other.facet);
    other = GeneratorBlock();
}

}  // namespace polyfold
