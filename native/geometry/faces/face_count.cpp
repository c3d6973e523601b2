#include "geometry/faces/face_count.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

namespace polyfold {

namespace {

using Face = std::vector<int>;  // its generators, ascending

// The facets of a face: the largest of its meets with the cell's facets.
template <int Words>
std::vector<Face> facets_of(const Face& face, const Cell<Words>& cell) {
    std::vector<Face> parts;
    cell.facets.for_each([&](int slot) {
        Face part;
        for (const int v : face)
            if (cell.facets_of[v].has(slot)) part.push_back(v);
        if (!part.empty() && part.size() < face.size()) parts.push_back(std::move(part));
    });
    std::sort(parts.begin(), parts.end(), [](const Face& a, const Face& b) { return a.size() > b.size(); });
    std::vector<Face> largest;
    for (const Face& part : parts)
        if (std::none_of(largest.begin(), largest.end(), [&](const Face& other) {
                return std::includes(other.begin(), other.end(), part.begin(), part.end());
            }))
            largest.push_back(part);
    return largest;
}

// Whether all walls that pass through a generator, infinity among them, hold facets there.
template <int Words>
bool touches_facets_only(const Cell<Words>& cell, int v, int infinity_wall) {
    const auto holds_facet = [&](std::int32_t wall) {
        bool found = false;
        cell.facets_of[v].for_each([&](int s) { found = found || cell.slots[s].wall == wall; });
        return found;
    };
    const Walls& touched = cell.frame->generators.touched[cell.generators[v]];
    return (!cell.at_infinity(v) || holds_facet(infinity_wall)) &&
           (!touched || std::all_of(touched->begin(), touched->end(), holds_facet));
}

}  // namespace

void FaceTally::add(FaceTally&& other) {
    cells += other.cells;
    shares.resize(std::max(shares.size(), other.shares.size()), 0);
    named.resize(shares.size());
    for (std::size_t k = 0; k < other.shares.size(); ++k) {
        shares[k] += other.shares[k];
        named[k].merge(other.named[k]);
    }
}

std::vector<std::int64_t> FaceTally::f_vector() const {
    std::vector<std::int64_t> counts;
    for (std::size_t k = 0; k < shares.size(); ++k)
        counts.push_back((shares[k] >> (shares.size() - 1)) + static_cast<std::int64_t>(named[k].size()));
    return counts;
}

template <int Words>
void FaceWalk<Words>::emit(const Cell<Words>& cell, FaceTally& tally) {
    tally.shares.resize(problem_.dim + 1, 0);
    tally.named.resize(problem_.dim + 1);
    bool simple = Words == 1 && cell.lines.empty() && cell.shared.empty() && cell.vanishing_key == FaceKey{};
    for (int v = 0; v < cell.size() && simple; ++v)
        simple = cell.facets_of[v].size() == problem_.dim && touches_facets_only(cell, v, problem_.infinity_wall());
    simple ? add_simple(cell, tally) : add_any(cell, tally);
    ++tally.cells;
}

// All vertices are simple: any of the walls through a vertex make a face.
template <int Words>
void FaceWalk<Words>::add_simple(const Cell<Words>& cell, FaceTally& tally) {
    const int d = problem_.dim;
    std::uint64_t gates = 0, infinity = 0;
    cell.facets.for_each([&](int s) {
        if (cell.slots[s].wall < problem_.gates) gates |= std::uint64_t{1} << s;
        if (cell.slots[s].wall == problem_.infinity_wall()) infinity |= std::uint64_t{1} << s;
    });
    const std::size_t wanted = std::bit_ceil(static_cast<std::size_t>(cell.size()) << (d + 1));
    if (met_.size() < wanted) met_.assign(wanted, Met{});
    ++stamp_;
    for (int v = 0; v < cell.size(); ++v) {
        const std::uint64_t through = cell.facets_of[v].words[0];
        for (std::uint64_t walls = through;; walls = (walls - 1) & through) {
            if (!(walls & infinity) && first_met(walls))
                tally.shares[d - std::popcount(walls)] += std::int64_t{1} << (d - std::popcount(walls & gates));
            if (walls == 0) break;
        }
    }
}

template <int Words>
bool FaceWalk<Words>::first_met(std::uint64_t walls) {
    const std::size_t mask = met_.size() - 1;
    for (std::size_t at = face_key::scramble(walls) & mask;; at = (at + 1) & mask) {
        if (met_[at].stamp != stamp_) {
            met_[at] = {walls, stamp_};
            return true;
        }
        if (met_[at].walls == walls) return false;
    }
}

// A face's name is the walls that contain it and the other gates that are on: the same for all cells around it.
template <int Words>
void FaceWalk<Words>::add_any(const Cell<Words>& cell, FaceTally& tally) const {
    const FaceKey inside = cell.key(keys_);
    std::vector<std::vector<std::int32_t>> walls(cell.size());
    for (int v = 0; v < cell.size(); ++v) {
        if (const Walls& touched = cell.frame->generators.touched[cell.generators[v]]) walls[v] = *touched;
        cell.facets_of[v].for_each([&](int s) { walls[v].push_back(cell.slots[s].wall); });
        if (cell.at_infinity(v)) walls[v].push_back(problem_.infinity_wall());
        for (const auto& [slot, wall] : cell.shared)
            if (cell.facets_of[v].has(slot)) walls[v].push_back(wall);
        std::sort(walls[v].begin(), walls[v].end());
        walls[v].erase(std::unique(walls[v].begin(), walls[v].end()), walls[v].end());
    }
    // Gates that vanish on the whole cell pass through all its vertices.
    const bool may_be_simple = cell.lines.empty() && cell.vanishing_key == FaceKey{};
    Face whole(cell.size());
    for (int v = 0; v < cell.size(); ++v) whole[v] = v;
    std::set<Face> level{whole};
    for (int dim = problem_.dim; dim >= 0 && !level.empty(); --dim) {
        std::set<Face> below;
        for (const Face& face : level) {
            // Nothing but rays: a face at infinity, which is none of ours.
            if (std::all_of(face.begin(), face.end(), [&](int v) { return cell.at_infinity(v); })) continue;
            bool simple = false;
            std::vector<std::int32_t> common = walls[face[0]];
            for (const int v : face) {
                simple = simple || (may_be_simple && static_cast<int>(walls[v].size()) == problem_.dim);
                std::vector<std::int32_t> both;
                std::set_intersection(common.begin(), common.end(), walls[v].begin(), walls[v].end(),
                                      std::back_inserter(both));
                common = std::move(both);
            }
            if (simple) {
                const auto gates = std::count_if(common.begin(), common.end(),
                                                 [&](std::int32_t wall) { return wall < problem_.gates; });
                tally.shares[dim] += std::int64_t{1} << (problem_.dim - gates);
            } else {
                FaceKey key = inside;
                for (const std::int32_t wall : common) {
                    key ^= key_of_gate_vanishing(wall);
                    if (wall < problem_.gates && cell.Path::on(wall)) key ^= key_of_gate_on(wall);
                }
                tally.named[dim].insert(key);
            }
            for (Face& part : facets_of(face, cell)) below.insert(std::move(part));
        }
        level = std::move(below);
    }
}

template class FaceWalk<1>;
template class FaceWalk<4>;
template class FaceWalk<16>;
template class FaceWalk<64>;

}  // namespace polyfold
