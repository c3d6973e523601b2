// Arguments that several files here take from Python.
#pragma once

#include "bindings/arrays.hpp"
#include "geometry/problem/facet_arrays.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/walk/run.hpp"

namespace polyfold {

// The callable is asked with the interpreter's lock, and has to outlive the run.
inline RunOptions run_options(int threads, std::int64_t max_cells, const nb::callable& keep_going) {
    RunOptions options;
    options.threads = threads;
    options.max_cells = max_cells;
    options.keep_going = [&keep_going](std::int64_t cells) {
        const nb::gil_scoped_acquire gil;
        return nb::cast<bool>(keep_going(cells));
    };
    return options;
}

inline Block make_block(int source, const Matrix& weight) {
    Block block;
    block.source = source;
    const std::size_t rows = weight.shape(0), columns = weight.shape(1);
    block.columns = static_cast<int>(columns);
    block.by_column.resize(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) block.by_column[j * rows + i] = weight(i, j);
    return block;
}

inline FacetArrays facet_arrays(const Bytes& patterns, int gates, int rows, const Array<std::int64_t>& facet_start,
                                const Array<std::int32_t>& facet_wall, const Array<std::int32_t>& neighbour,
                                const Array<std::int64_t>& shared_facet, const Array<std::int32_t>& shared_wall) {
    FacetArrays atlas;
    atlas.cells = static_cast<std::int64_t>(patterns.shape(0));
    atlas.stride = static_cast<int>(patterns.shape(1));
    atlas.gates = gates;
    atlas.rows = rows;
    atlas.patterns = patterns.data();
    atlas.facet_start = facet_start.data();
    atlas.facet_wall = facet_wall.data();
    atlas.neighbour = neighbour.data();
    atlas.shared = static_cast<std::int64_t>(shared_facet.size());
    atlas.shared_facet = shared_facet.data();
    atlas.shared_wall = shared_wall.data();
    return atlas;
}

}  // namespace polyfold
