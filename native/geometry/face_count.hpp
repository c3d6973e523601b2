// Faces of all dimensions, each counted once however many cells it bounds.
#pragma once

#include <unordered_set>
#include <vector>

#include "geometry/cell.hpp"
#include "geometry/problem.hpp"

namespace polyfold {

class FaceCount {
  public:
    explicit FaceCount(const Problem& problem) : problem_(problem), keys_(problem.gates), seen_(problem.dim + 1) {}

    // Add the faces of a finished cell whose generators know all their walls.
    template <int Words>
    void add(const Cell<Words>& cell);

    // Numbers of faces of dimension 0, 1, ..., dim.
    std::vector<std::int64_t> f_vector() const;

  private:
    struct Hash {
        std::size_t operator()(const FaceKey& key) const { return key.low; }
    };
    const Problem& problem_;
    const PatternKeys keys_;
    std::vector<std::unordered_set<FaceKey, Hash>> seen_;  // by dimension
};

extern template void FaceCount::add<1>(const Cell<1>&);
extern template void FaceCount::add<4>(const Cell<4>&);
extern template void FaceCount::add<16>(const Cell<16>&);
extern template void FaceCount::add<64>(const Cell<64>&);

}  // namespace polyfold
