#include "geometry/pairing.hpp"

#include <algorithm>
#include <bit>

namespace polyfold {

namespace {

// Facet numbers by key; open addressing, at most half full.
class FacetTable {
  public:
    FacetTable(const std::vector<FaceKey>& keys, std::size_t expected)
        : keys_(keys), slots_(std::bit_ceil(2 * expected + 16), -1), mask_(slots_.size() - 1) {}

    // The facet that waits under the same key, or -1 after this one has been left to wait.
    std::int64_t find_or_add(std::int64_t facet) {
        for (std::size_t at = keys_[facet].low & mask_;; at = (at + 1) & mask_) {
            if (slots_[at] < 0) {
                slots_[at] = facet;
                return -1;
            }
            if (keys_[slots_[at]] == keys_[facet]) return slots_[at];
        }
    }

  private:
    const std::vector<FaceKey>& keys_;
    std::vector<std::int64_t> slots_;
    std::size_t mask_;
};

}  // namespace

void pair_facets(Unfolded& result, int gates) {
    CellBlock& cells = result.cells;
    const auto facets = static_cast<std::int64_t>(cells.facet_wall.size());
    std::vector<std::int32_t> owner(facets);
    std::int64_t facet = 0;
    for (std::int64_t c = 0; c < cells.cells; ++c)
        for (; facet < cells.facet_stop[c]; ++facet) owner[facet] = static_cast<std::int32_t>(c);

    // Domain rows are inserted before all gates, so a boundary facet's first wall is a domain row.
    result.neighbour.assign(facets, not_explored);
    std::vector<std::int64_t> partner(facets, -1);
    FacetTable table(cells.facet_key, static_cast<std::size_t>(facets / 2));
    for (facet = 0; facet < facets; ++facet) {
        if (cells.facet_wall[facet] >= gates) {
            result.neighbour[facet] = domain_boundary;
            continue;
        }
        const std::int64_t other = table.find_or_add(facet);
        if (other < 0) continue;
        partner[facet] = other;
        partner[other] = facet;
        result.neighbour[facet] = owner[other];
        result.neighbour[other] = owner[facet];
    }

    // A gate may vanish on one side of a facet altogether: only the other side lists it as a wall. Both get
    // the union.
    bool differ = !cells.shared.empty();
    for (facet = 0; facet < facets && !differ; ++facet)
        differ = partner[facet] >= 0 && cells.facet_wall[facet] != cells.facet_wall[partner[facet]];
    if (!differ) return;
    std::vector<std::int64_t> shared_start(facets + 1, 0);
    for (const SharedWall& item : cells.shared) ++shared_start[item.facet + 1];
    for (facet = 0; facet < facets; ++facet) shared_start[facet + 1] += shared_start[facet];
    const std::vector<SharedWall> before = std::move(cells.shared);
    const std::vector<std::int32_t> first_wall = cells.facet_wall;
    cells.shared.clear();
    std::vector<std::int32_t> walls;
    for (facet = 0; facet < facets; ++facet) {
        walls.clear();
        for (const std::int64_t f : {facet, partner[facet]}) {
            if (f < 0) continue;
            walls.push_back(first_wall[f]);
            for (std::int64_t at = shared_start[f]; at < shared_start[f + 1]; ++at) walls.push_back(before[at].wall);
        }
        std::sort(walls.begin(), walls.end());
        walls.erase(std::unique(walls.begin(), walls.end()), walls.end());
        // A boundary facet is known by its domain row, which comes behind the gates.
        const bool boundary = first_wall[facet] >= gates;
        const auto first = boundary ? std::lower_bound(walls.begin(), walls.end(), gates) : walls.begin();
        cells.facet_wall[facet] = *first;
        for (auto wall = walls.begin(); wall != walls.end(); ++wall)
            if (wall != first) cells.shared.push_back({facet, *wall});
    }
}

}  // namespace polyfold
