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
//
// The factor is made backwards. If v_i is the coefficient on what gate i of a stage puts out and e_i bounds its error,
// the gates before it get sum_i fl(v_i a_i) w_ij with slopes a and weights w, as they were given. Each term has two
// rounded products, and all sums on the way to a coefficient have at most one term for each gate and output: with n
// more than their number and these products', the sum is off by at most
// sum_i (e_i |a_i| + n u |v_i a_i|) |w_ij| / (1 - n u), u = 2^-53. That is what is added up beside it, times a margin
// for its own roundings, and a tiny number for each product that may have underflowed.
std::vector<std::uint8_t> compare_maps(const Problem& problem, const OutputRows& outputs, const FacetArrays& atlas,
                                       int threads, const std::function<bool()>& still_wanted);

}  // namespace polyfold
