// What is counted on what has been found: hops between cells, ranks of matrices of incidences.
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "geometry/graph/hops.hpp"
#include "geometry/graph/sparse_rank.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

nb::dict sparse_rank_to_python(std::int64_t rows, const Array<std::int64_t>& start, const Array<std::int64_t>& row,
                               const Array<std::int8_t>& value, const Array<std::uint8_t>& skipped, bool modulo_two) {
    const SparseColumns matrix{
        rows, static_cast<std::int64_t>(skipped.size()), start.data(), row.data(), value.data(), skipped.data()};
    SparseRank found;
    {
        const nb::gil_scoped_release release;
        found = sparse_rank(matrix, modulo_two);
    }
    nb::dict out;
    out["pivot_rows"] = give(std::move(found.pivot_rows));
    out["rest_start"] = give(std::move(found.rest_start));
    out["rest_row"] = give(std::move(found.rest_row));
    out["rest_value"] = give(std::move(found.rest_value));
    out["overflow"] = found.overflow;
    return out;
}

Graph graph_of(const Array<std::int64_t>& start, const Array<std::int32_t>& neighbour) {
    return {static_cast<std::int32_t>(start.size()) - 1, start.data(), neighbour.data()};
}

nb::ndarray<nb::numpy, std::int32_t> hop_distances_to_python(const Array<std::int64_t>& start,
                                                             const Array<std::int32_t>& neighbour,
                                                             const Array<std::int32_t>& sources) {
    const Graph graph = graph_of(start, neighbour);
    const auto nodes = static_cast<std::size_t>(graph.nodes);
    std::vector<std::int32_t> distance(sources.size() * nodes);
    {
        const nb::gil_scoped_release release;
        for (std::size_t k = 0; k < sources.size(); ++k)
            hop_distances(graph, sources.data()[k], distance.data() + k * nodes);
    }
    return give(std::move(distance), {sources.size(), nodes});
}

nb::ndarray<nb::numpy, std::int32_t> eccentricities_to_python(const Array<std::int64_t>& start,
                                                              const Array<std::int32_t>& neighbour,
                                                              const Array<std::int32_t>& sources, int threads) {
    const std::vector<std::int32_t> from(sources.data(), sources.data() + sources.size());
    std::vector<std::int32_t> farthest;
    {
        const nb::gil_scoped_release release;
        farthest = eccentricities(graph_of(start, neighbour), from, threads);
    }
    return give(std::move(farthest));
}

}  // namespace

void bind_counting(nb::module_& m) {
    m.def("sparse_rank", &sparse_rank_to_python, "rows"_a, "start"_a, "row"_a, "value"_a, "skipped"_a, "modulo_two"_a,
          nb::sig("def sparse_rank(rows: int, start: numpy.typing.NDArray[numpy.int64], "
                  "row: numpy.typing.NDArray[numpy.int64], value: numpy.typing.NDArray[numpy.int8], "
                  "skipped: numpy.typing.NDArray[numpy.uint8], modulo_two: bool) -> dict[str, typing.Any]"),
          "Pivot rows of a matrix of small integers given by columns, and what is left without entries 1 or -1.");
    m.def("hop_distances", &hop_distances_to_python, "start"_a, "neighbour"_a, "sources"_a,
          nb::sig("def hop_distances(start: numpy.typing.NDArray[numpy.int64], "
                  "neighbour: numpy.typing.NDArray[numpy.int32], sources: numpy.typing.NDArray[numpy.int32]) -> "
                  "numpy.typing.NDArray[numpy.int32]"),
          "Distances from each source to all nodes, a row a source; -1 where there is no way.");
    m.def("eccentricities", &eccentricities_to_python, "start"_a, "neighbour"_a, "sources"_a, "threads"_a,
          nb::sig("def eccentricities(start: numpy.typing.NDArray[numpy.int64], "
                  "neighbour: numpy.typing.NDArray[numpy.int32], sources: numpy.typing.NDArray[numpy.int32], "
                  "threads: int) -> numpy.typing.NDArray[numpy.int32]"),
          "The largest distance from each source; neighbouring sources should follow each other.");
}

}  // namespace polyfold
