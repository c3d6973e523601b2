// Whether the maps of two neighbouring cells differ, by how much the outputs hear of the gate that flips between them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "geometry/problem/facet_arrays.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

// What floats prove of the maps on both sides of a facet.
enum Likeness : std::uint8_t { open_question = 0, maps_differ = 1, maps_agree = 2 };

// The network's outputs, written out: a matrix with `outputs` rows on each source that they read.
struct OutputRows {
    int outputs = 0;
    std::vector<Block> blocks;
};

// For every facet between two cells, listed by the one with the smaller number, what is proved; open for all others.
//
// If one gate alone flips between the cells, their maps differ by a multiple of its value, which is not zero
// everywhere, or the gate would not flip. The factor is the outputs' change with what the gate puts out, times the
// difference of its slopes. So one output that hears it for certain proves that the maps differ; and if no way to any
// output has all of its factors, they agree. Throws Stopped where the answer is not wanted any more.
std::vector<std::uint8_t> compare_maps(const Problem& problem, const OutputRows& outputs, const FacetArrays& atlas,
                                       int threads, const std::function<bool()>& still_wanted);

}  // namespace polyfold
