// The faces of a problem put in order, with orientations.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/faces/face_list.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/walk/run.hpp"

namespace polyfold {

// Faces by dimension, then by name; the order does not depend on threads.
struct FaceComplex {
    int dim = 0;
    int words = 0;                          // a name's
    std::vector<std::int64_t> start;        // by dimension: its first face; and one behind the last
    std::vector<std::uint64_t> names;       // `words` a face
    std::vector<std::uint8_t> bounded;      // one a face
    std::vector<std::int64_t> facet_start;  // one a face, and one behind them
    std::vector<std::int64_t> facet;        // ascending
    std::vector<std::int8_t> incidence;     // one a facet: 1 or -1
    std::vector<std::int64_t> placed;       // faces of which a point or a direction is known, ascending
    std::vector<double> coordinates;        // homogeneous, dim + 1 each
    std::vector<double> error;              // bounds the error of every coordinate
    std::vector<double> lines;              // dim a line
    bool complete = false;
};

FaceComplex list_faces(const Problem& problem, const RunOptions& options);

// Incidence numbers such that the boundary of a boundary is zero.
//
// Two facets of a face that meet in a ridge must pass it in opposite directions. All facets of a face hang together
// through ridges, so its first facet decides the others; what is below the least dimension counts as one ridge.
void orient(FaceComplex& faces);

}  // namespace polyfold
