// Finished cells in the order in which they were found: what the walk hands to the outside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "geometry/base/growing_array.hpp"
#include "geometry/cells/face_key.hpp"

namespace polyfold {

// A witness that needs more than 53 bits: homogeneous integer coordinates in hexadecimal, the last one
// positive.
struct ExactWitness {
    std::int64_t cell;
    std::vector<std::string> coordinates;
};

// A further wall that a facet lies on, beside its first one.
struct SharedWall {
    std::int64_t facet;
    std::int32_t wall;
};

// What is behind a facet, if no cell.
inline constexpr std::int32_t domain_boundary = -1;
inline constexpr std::int32_t not_explored = -2;

struct CellBlock {
    std::int64_t cells = 0;
    GrowingArray<std::uint8_t> patterns;     // packed, (gates + 7) / 8 bytes a cell, lowest bit first
    GrowingArray<FaceKey> keys;              // one a cell: of the gates that are on, and of those that vanish on it
    GrowingArray<double> witnesses;          // dim a cell
    GrowingArray<std::uint8_t> bounded;      // one a cell
    GrowingArray<std::int64_t> facet_start;  // one a cell, and one behind them
    GrowingArray<std::int32_t> facet_wall;   // one a facet
    GrowingArray<std::int32_t> neighbour;    // one a facet: the cell behind it as far as it is known, or not_explored
    GrowingArray<SharedWall> shared;         // by facet
    std::vector<ExactWitness> exact_witnesses;

    CellBlock() { facet_start.push_back(0); }

    void truncate(std::int64_t count, int dim);
};

// The cells of all blocks in one, in order; nothing is left of the blocks.
CellBlock joined(std::vector<CellBlock>&& blocks, int threads);

// The generators of cells, for those that are asked for: ragged lists.
struct GeneratorBlock {
    GrowingArray<std::int64_t> start;        // one a cell, and one behind them
    GrowingArray<double> coordinates;        // dim a generator: a vertex, or the direction of a ray or line
    GrowingArray<std::uint8_t> kind;         // 0 vertex, 1 ray, 2 line
    GrowingArray<std::int64_t> facet_start;  // one a generator, and one behind them
    GrowingArray<std::int32_t> facet;        // local facet numbers of the cell that the generator lies on

    GeneratorBlock() {
        start.push_back(0);
        facet_start.push_back(0);
    }

    // Those of further cells, behind these; nothing is left of the other block.
    void append(GeneratorBlock&& other);
};

}  // namespace polyfold
