#include "geometry/face_count.hpp"

#include <algorithm>
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

}  // namespace

// A face's name is the walls that contain it and the other gates that are on: the same for all cells around it.
template <int Words>
void FaceCount::add(const Cell<Words>& cell) {
    const FaceKey inside = cell.key(keys_);
    std::vector<std::vector<std::int32_t>> walls(cell.size());
    for (int v = 0; v < cell.size(); ++v) {
        if (const Walls& touched = cell.frame->generators.touched[cell.generators[v]]) walls[v] = *touched;
        cell.facets_of[v].for_each([&](int s) { walls[v].push_back(cell.slots[s].wall); });
        for (const auto& [slot, wall] : cell.shared)
            if (cell.facets_of[v].has(slot)) walls[v].push_back(wall);
        std::sort(walls[v].begin(), walls[v].end());
        walls[v].erase(std::unique(walls[v].begin(), walls[v].end()), walls[v].end());
    }
    Face whole(cell.size());
    for (int v = 0; v < cell.size(); ++v) whole[v] = v;
    std::set<Face> level{whole};
    for (int dim = problem_.dim; dim >= 0 && !level.empty(); --dim) {
        std::set<Face> below;
        for (const Face& face : level) {
            // Nothing but rays: a face at infinity, which is none of ours.
            if (std::all_of(face.begin(), face.end(), [&](int v) { return cell.at_infinity(v); })) continue;
            std::vector<std::int32_t> common = walls[face[0]];
            for (const int v : face) {
                std::vector<std::int32_t> both;
                std::set_intersection(common.begin(), common.end(), walls[v].begin(), walls[v].end(),
                                      std::back_inserter(both));
                common = std::move(both);
            }
            FaceKey key = inside;
            for (const std::int32_t wall : common) {
                key ^= key_of_gate_vanishing(wall);
                if (wall < problem_.gates && cell.Path::on(wall)) key ^= key_of_gate_on(wall);
            }
            seen_[dim].insert(key);
            for (Face& part : facets_of(face, cell)) below.insert(std::move(part));
        }
        level = std::move(below);
    }
}

std::vector<std::int64_t> FaceCount::f_vector() const {
    std::vector<std::int64_t> counts;
    for (const auto& faces : seen_) counts.push_back(static_cast<std::int64_t>(faces.size()));
    return counts;
}

template void FaceCount::add<1>(const Cell<1>&);
template void FaceCount::add<4>(const Cell<4>&);
template void FaceCount::add<16>(const Cell<16>&);
template void FaceCount::add<64>(const Cell<64>&);

}  // namespace polyfold
