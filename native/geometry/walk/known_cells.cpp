#include "geometry/walk/known_cells.hpp"

#include <algorithm>

namespace polyfold {

namespace {

// Copies cells of other blocks behind each other. Exact witnesses and further walls come in the order of the cells.
class CellCopier {
  public:
    CellCopier(const CellBlock& from, int stride, int dim) : from_(from), stride_(stride), dim_(dim) {}

    void copy(std::int64_t cell, CellBlock& to) {
        to.patterns.append(from_.patterns.data() + cell * stride_, stride_);
        to.keys.push_back(from_.keys[cell]);
        to.witnesses.append(from_.witnesses.data() + cell * dim_, dim_);
        to.bounded.push_back(from_.bounded[cell]);
        const auto& exact = from_.exact_witnesses;
        while (exact_ < exact.size() && exact[exact_].cell < cell) ++exact_;
        if (exact_ < exact.size() && exact[exact_].cell == cell)
            to.exact_witnesses.push_back({to.cells, exact[exact_].coordinates});
        for (std::int64_t facet = from_.facet_start[cell]; facet < from_.facet_start[cell + 1]; ++facet) {
            while (shared_ < from_.shared.size() && from_.shared[shared_].facet < facet) ++shared_;
            for (std::size_t s = shared_; s < from_.shared.size() && from_.shared[s].facet == facet; ++s)
                to.shared.push_back({static_cast<std::int64_t>(to.facet_wall.size()), from_.shared[s].wall});
            to.facet_wall.push_back(from_.facet_wall[facet]);
            to.neighbour.push_back(not_explored);
        }
        to.facet_start.push_back(static_cast<std::int64_t>(to.facet_wall.size()));
        ++to.cells;
    }

  private:
    const CellBlock& from_;
    const int stride_, dim_;
    std::size_t exact_ = 0, shared_ = 0;
};

}  // namespace

KnownCells::KnownCells(const Problem& problem, const FacetArrays& atlas, const double* witnesses,
                       const std::uint8_t* bounded, std::vector<ExactWitness> exact_witnesses,
                       const std::vector<std::pair<std::int64_t, std::int32_t>>& vanishing)
    : stride_(atlas.stride), dim_(problem.dim), last_open_(atlas.cells, -1) {
    const PatternKeys keys(problem.gates);
    cells_.cells = atlas.cells;
    cells_.patterns.append(atlas.patterns, atlas.cells * stride_);
    cells_.witnesses.append(witnesses, atlas.cells * dim_);
    cells_.bounded.append(bounded, atlas.cells);
    cells_.exact_witnesses = std::move(exact_witnesses);
    auto first_vanishing = vanishing.begin();
    std::int64_t shared = 0;
    std::vector<std::int32_t> walls;
    for (std::int64_t cell = 0; cell < atlas.cells; ++cell) {
        FaceKey key = keys.of(atlas.patterns + cell * stride_);
        auto last_vanishing = first_vanishing;
        for (; last_vanishing != vanishing.end() && last_vanishing->first == cell; ++last_vanishing)
            key ^= key_of_gate_vanishing(last_vanishing->second);
        cells_.keys.push_back(key);
        for (std::int64_t facet = atlas.facet_start[cell]; facet < atlas.facet_start[cell + 1]; ++facet) {
            // Walls of gates that vanish here came from the other side when the facet was paired.
            const auto own = [&](std::int32_t wall) {
                return std::none_of(first_vanishing, last_vanishing,
                                    [&](const auto& item) { return item.second == wall; });
            };
            walls.clear();
            if (own(atlas.facet_wall[facet])) walls.push_back(atlas.facet_wall[facet]);
            for (; shared < atlas.shared && atlas.shared_facet[shared] == facet; ++shared)
                if (own(atlas.shared_wall[shared])) walls.push_back(atlas.shared_wall[shared]);
            Path::emit_facet(walls, cells_);
            if (atlas.neighbour[facet] != not_explored) continue;
            for (const std::int32_t wall : walls)
                if (wall < problem.gates) last_open_[cell] = std::max(last_open_[cell], wall);
        }
        cells_.facet_start.push_back(static_cast<std::int64_t>(cells_.facet_wall.size()));
        first_vanishing = last_vanishing;
    }
}

// By their first gates: negative if the first gate in which they differ is on in the other one.
int KnownCells::compare(const std::uint8_t* one, const std::uint8_t* other, int gates) const {
    for (int byte = 0; 8 * byte < gates; ++byte) {
        const int looked_at = std::min(8, gates - 8 * byte);
        const unsigned differ = static_cast<unsigned>(one[byte] ^ other[byte]) & ((1U << looked_at) - 1);
        if (differ) return one[byte] & differ & -differ ? 1 : -1;
    }
    return 0;
}

// The cells below a path share walls with each other, and all gates that change across these are still undecided: if
// one of them is known and another one is not, then behind such a wall nobody has looked.
bool KnownCells::all_below(Path& path, int decided) const {
    if (path.known_first == path.known_last) return false;
    const auto pattern = [&](std::int64_t cell) { return cells_.patterns.data() + cell * stride_; };
    const auto first_with = [&](int least) {
        std::int64_t first = path.known_first, last = path.known_last;
        while (first < last) {
            const std::int64_t middle = first + (last - first) / 2;
            if (compare(pattern(middle), path.pattern.data(), decided) < least)
                first = middle + 1;
            else
                last = middle;
        }
        return first;
    };
    const std::int64_t first = first_with(0), last = first_with(1);
    path.known_first = first;
    path.known_last = last;
    return first < last && std::all_of(
                               last_open_.begin() + first, last_open_.begin() + last,
                               [&](std::int32_t open) { return open < decided; });
}

std::pair<CellBlock, bool> KnownCells::with(const CellBlock& fresh, std::int64_t most) const {
    CellBlock all;
    CellCopier known(cells_, stride_, dim_), added(fresh, stride_, dim_);
    const int gates = 8 * stride_;
    std::int64_t at = 0, taken = 0;
    bool left_out = false;
    for (std::int64_t cell = 0; cell < fresh.cells; ++cell) {
        const std::uint8_t* pattern = fresh.patterns.data() + cell * stride_;
        int order = 1;
        while (at < cells_.cells && (order = compare(cells_.patterns.data() + at * stride_, pattern, gates)) < 0)
            known.copy(at++, all);
        if (at < cells_.cells && order == 0) continue;
        if (most >= 0 && taken == most) {
            left_out = true;
            break;
        }
        added.copy(cell, all);
        ++taken;
    }
    while (at < cells_.cells) known.copy(at++, all);
    return {std::move(all), left_out};
}

}  // namespace polyfold
