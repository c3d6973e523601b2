#include "geometry/cell_block.hpp"

#include <iterator>

namespace polyfold {

namespace {

template <class T>
void move_to_end(std::vector<T>& to, std::vector<T>& from) {
    if (to.empty()) {
        to = std::move(from);
    } else {
        to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    }
    from = {};
}

}  // namespace

void CellBlock::append(CellBlock&& other) {
    const auto facets = static_cast<std::int64_t>(facet_wall.size());
    for (auto& stop : other.facet_stop) stop += facets;
    for (auto& item : other.shared) item.facet += facets;
    for (auto& item : other.exact_witnesses) item.cell += cells;
    cells += other.cells;
    move_to_end(patterns, other.patterns);
    move_to_end(witnesses, other.witnesses);
    move_to_end(bounded, other.bounded);
    move_to_end(facet_stop, other.facet_stop);
    move_to_end(facet_wall, other.facet_wall);
    move_to_end(facet_key, other.facet_key);
    move_to_end(shared, other.shared);
    move_to_end(exact_witnesses, other.exact_witnesses);
}

void CellBlock::truncate(std::int64_t count, int dim) {
    if (count >= cells) return;
    patterns.resize(patterns.size() / static_cast<std::size_t>(cells) * static_cast<std::size_t>(count));
    cells = count;
    witnesses.resize(count * dim);
    bounded.resize(count);
    facet_stop.resize(count);
    const std::int64_t facets = count ? facet_stop.back() : 0;
    facet_wall.resize(facets);
    facet_key.resize(facets);
    std::erase_if(shared, [&](const SharedWall& item) { return item.facet >= facets; });
    std::erase_if(exact_witnesses, [&](const ExactWitness& item) { return item.cell >= count; });
}

}  // namespace polyfold
