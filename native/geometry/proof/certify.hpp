// Proving, in floats with error bounds, that the cells of an atlas are what they are said to be and lead to each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "geometry/problem/facet_arrays.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

struct CertifyOptions {
    int threads = 1;
    std::function<bool(std::int64_t)> keep_going;  // called now and then with the number of cells looked at
};

// For each cell, as a number of `Proved`, whether floats prove all of: its witness lies strictly inside; its listed
// facets are facets and all of them; no other gate vanishes on a facet; behind each facet lies the cell listed, or the
// domain's boundary. `order` lists all cells so that neighbours in it share many leading gates. A cell that is not
// proved need not be wrong. Of a cell that is, it may be proved as well that it is bounded, or that it is not. Empty if
// the run was stopped.
std::vector<std::uint8_t> certify(const Problem& problem, const FacetArrays& atlas, const double* witnesses,
                                  const std::int64_t* order, const CertifyOptions& options);

}  // namespace polyfold
