// Faces of all dimensions, each counted once however many cells it bounds.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/walk/cell_walk.hpp"

namespace polyfold {

// What is known of the faces of some cells; tallies of all cells together give the numbers of faces.
//
// A face that has a simple vertex (no more walls through it than there are dimensions) lies on k gates that cut each
// other there like coordinate planes: it bounds 2^k cells, and each of them counts its 2^k-th part. All other faces are
// remembered by name.
struct FaceTally {
    std::int64_t cells = 0;
    std::vector<std::int64_t> shares;  // by dimension, in units of 2^-dim of the whole space
    struct Hash {
        std::size_t operator()(const FaceKey& key) const { return key.low; }
    };
    std::vector<std::unordered_set<FaceKey, Hash>> named;  // by dimension

    void add(FaceTally&& other);
    // Numbers of faces of dimension 0, 1, ..., dim.
    std::vector<std::int64_t> f_vector() const;
};

// The walk that counts faces.
template <int Words>
class FaceWalk {
  public:
    using CellPointer = std::unique_ptr<Cell<Words>>;
    using Block = FaceTally;

    FaceWalk(const Problem& problem, const StopSignal& stop)
        : problem_(problem), walk_(problem, stop, {.keep_touched = true}), keys_(problem.gates) {}

    CellPointer root() { return walk_.root(); }
    CellPointer advance(Cell<Words>& cell) { return walk_.advance(cell); }
    void recycle(CellPointer cell) { walk_.recycle(std::move(cell)); }
    void emit(const Cell<Words>& cell, FaceTally& tally);

  private:
    const Problem& problem_;
    CellWalk<Words> walk_;
    const PatternKeys keys_;

    // The faces of one cell that were met, by their walls; entries of earlier cells have another stamp.
    struct Met {
        std::uint64_t walls = 0;
        std::int64_t stamp = -1;
    };
    std::vector<Met> met_;
    std::int64_t stamp_ = 0;

    void add_simple(const Cell<Words>& cell, FaceTally& tally);
    void add_any(const Cell<Words>& cell, FaceTally& tally) const;
    bool first_met(std::uint64_t walls);
};

extern template class FaceWalk<1>;
extern template class FaceWalk<4>;
extern template class FaceWalk<16>;
extern template class FaceWalk<64>;

}  // namespace polyfold
