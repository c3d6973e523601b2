// Faces of all dimensions, each listed once with its signs and the faces that bound it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/walk/cell_walk.hpp"

namespace polyfold {

// Faces by name, in the order in which they were met.
//
// A face's name is its sign vector: the walls that contain it, as bits, and behind them the other gates that are on.
// All cells around a face give it the same name, so a face is met many times and listed once; names are compared as a
// whole.
class FaceTable {
  public:
    explicit FaceTable(int words = 0) : words_(words) {}

    std::int64_t size() const { return static_cast<std::int64_t>(dim.size()); }
    int words() const { return words_; }
    const std::uint64_t* name(std::int64_t face) const { return names_.data() + face * words_; }

    // The face with this name, and whether it is new. A new one has dimension and boundedness still to be set.
    std::pair<std::int32_t, bool> meet(const std::uint64_t* name);

    std::vector<std::int8_t> dim;
    std::vector<std::uint8_t> bounded;                            // up to the lines that all faces have in common
    std::vector<std::pair<std::int32_t, std::int32_t>> boundary;  // (face, one of its facets)

    // Homogeneous coordinates of the faces with the least dimension (a point of each) and of the rays (their
    // directions).
    struct Placed {
        std::int32_t face;
        std::vector<double> coordinates;
        double error;
    };
    std::vector<Placed> placed;

  private:
    int words_;
    std::vector<std::uint64_t> names_;
    std::vector<std::int32_t> slots_;  // open addressing; -1 where free

    std::size_t slot_of(const std::uint64_t* name) const;
    void grow();
};

// What one thread has met.
struct FaceBlock {
    std::int64_t cells = 0;
    FaceTable table;
    std::vector<std::vector<double>> lines;  // that all faces contain; a basis
};

// The walk that lists faces.
template <int Words>
class FaceListWalk {
  public:
    using CellPointer = std::unique_ptr<Cell<Words>>;
    using Block = FaceBlock;

    FaceListWalk(const Problem& problem, const StopSignal& stop)
        : problem_(problem), stop_(stop), walk_(problem, stop, {.keep_touched = true, .hand_out = true}) {}

    CellPointer root() { return walk_.root(); }
    CellPointer advance(Cell<Words>& cell) { return walk_.advance(cell); }
    void recycle(CellPointer cell) { walk_.recycle(std::move(cell)); }
    void emit(const Cell<Words>& cell, FaceBlock& block);

  private:
    using Bits = std::vector<std::uint64_t>;

    const Problem& problem_;
    const StopSignal& stop_;
    CellWalk<Words> walk_;

    // Of the cell at hand.
    Bits walls_;  // by generator, `stride_` words each: the walls through it
    int stride_ = 0;
    std::vector<Bits> members_;  // by facet: the generators on it
    Bits infinite_;              // the generators at infinity
    Bits on_;                    // the gates that are on
    Bits name_;                  // of the face at hand

    void read(const Cell<Words>& cell);
    void write_name(const Bits& face);
    std::vector<Bits> facets_of(const Bits& face) const;
    void place(const Cell<Words>& cell, const Bits& face, int dim, std::int32_t id, FaceTable& table) const;
};

extern template class FaceListWalk<1>;
extern template class FaceListWalk<4>;
extern template class FaceListWalk<16>;
extern template class FaceListWalk<64>;

}  // namespace polyfold
