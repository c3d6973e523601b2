// What is checked and proved of cells that were found.
#include <nanobind/stl/vector.h>

#include "bindings/arguments.hpp"
#include "geometry/proof/certify.hpp"
#include "geometry/proof/exact_witnesses.hpp"
#include "geometry/proof/facet_pairs.hpp"
#include "geometry/proof/influence.hpp"
#include "geometry/proof/point_places.hpp"
#include "geometry/proof/witness_proof.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

nb::tuple count_pairing_to_python(const Bytes& patterns, int gates, int rows, const Array<std::int64_t>& facet_start,
                                  const Array<std::int32_t>& facet_wall, const Array<std::int32_t>& neighbour,
                                  const Array<std::int64_t>& shared_facet, const Array<std::int32_t>& shared_wall,
                                  int threads) {
    const FacetArrays atlas =
        facet_arrays(patterns, gates, rows, facet_start, facet_wall, neighbour, shared_facet, shared_wall);
    PairingCount count;
    {
        const nb::gil_scoped_release release;
        count = count_pairing(atlas, threads);
    }
    return nb::make_tuple(count.inner, count.open, count.one_way, count.wrong);
}

// Either way of proving them.
template <auto Prove>
nb::ndarray<nb::numpy, std::uint8_t> prove_witnesses_to_python(const Problem& problem, const Bytes& patterns,
                                                               const Matrix& witnesses, int threads) {
    std::vector<std::uint8_t> proved;
    {
        const nb::gil_scoped_release release;
        proved =
            Prove(problem, static_cast<std::int64_t>(patterns.shape(0)), patterns.data(), witnesses.data(), threads);
    }
    return give(std::move(proved));
}

nb::ndarray<nb::numpy, std::int64_t> place_points_to_python(const Problem& problem, const Bytes& patterns,
                                                            const Matrix& points, int threads) {
    std::vector<std::int64_t> places;
    {
        const nb::gil_scoped_release release;
        places = place_points(problem, static_cast<std::int64_t>(patterns.shape(0)), patterns.data(),
                              static_cast<std::int64_t>(points.shape(0)), points.data(), threads);
    }
    return give(std::move(places));
}

nb::ndarray<nb::numpy, std::uint8_t> certify_to_python(
    const Problem& problem, const Bytes& patterns, const Matrix& witnesses, const Array<std::int64_t>& facet_start,
    const Array<std::int32_t>& facet_wall, const Array<std::int32_t>& neighbour,
    const Array<std::int64_t>& shared_facet, const Array<std::int32_t>& shared_wall, const Array<std::int64_t>& order,
    int threads, const nb::callable& keep_going) {
    const FacetArrays atlas = facet_arrays(patterns, problem.gates, problem.rows(), facet_start, facet_wall, neighbour,
                                           shared_facet, shared_wall);
    CertifyOptions options;
    options.threads = threads;
    options.keep_going = [&](std::int64_t cells) {
        const nb::gil_scoped_acquire gil;
        return nb::cast<bool>(keep_going(cells));
    };
    std::vector<std::uint8_t> proved;
    {
        const nb::gil_scoped_release release;
        proved = certify(problem, atlas, witnesses.data(), order.data(), options);
    }
    return give(std::move(proved));
}

nb::ndarray<nb::numpy, std::uint8_t> compare_maps_to_python(
    const Problem& problem, int outputs, const std::vector<int>& sources, const std::vector<Matrix>& weights,
    const Bytes& patterns, const Array<std::int64_t>& facet_start, const Array<std::int32_t>& facet_wall,
    const Array<std::int32_t>& neighbour, int threads, const nb::callable& still_wanted) {
    FacetArrays atlas;
    atlas.cells = static_cast<std::int64_t>(patterns.shape(0));
    atlas.stride = static_cast<int>(patterns.shape(1));
    atlas.gates = problem.gates;
    atlas.rows = problem.rows();
    atlas.patterns = patterns.data();
    atlas.facet_start = facet_start.data();
    atlas.facet_wall = facet_wall.data();
    atlas.neighbour = neighbour.data();
    OutputRows rows{outputs, {}};
    for (std::size_t b = 0; b < sources.size(); ++b) rows.blocks.push_back(make_block(sources[b], weights[b]));
    const auto wanted = [&still_wanted] {
        const nb::gil_scoped_acquire gil;
        return nb::cast<bool>(still_wanted());
    };
    std::vector<std::uint8_t> found;
    {
        const nb::gil_scoped_release release;
        found = compare_maps(problem, rows, atlas, threads, wanted);
    }
    return give(std::move(found));
}

}  // namespace

void bind_proving(nb::module_& m) {
    m.def("count_pairing", &count_pairing_to_python, "patterns"_a, "gates"_a, "rows"_a, "facet_start"_a, "facet_wall"_a,
          "neighbour"_a, "shared_facet"_a, "shared_wall"_a, "threads"_a,
          nb::sig("def count_pairing(patterns: numpy.typing.NDArray[numpy.uint8], gates: int, rows: int, "
                  "facet_start: numpy.typing.NDArray[numpy.int64], facet_wall: numpy.typing.NDArray[numpy.int32], "
                  "neighbour: numpy.typing.NDArray[numpy.int32], shared_facet: numpy.typing.NDArray[numpy.int64], "
                  "shared_wall: numpy.typing.NDArray[numpy.int32], threads: int) -> tuple[int, int, int, int]"),
          "How many facets are inner, open, one-way and wrong.");
    m.def(
        "count_disorder",
        [](const Bytes& patterns) {
            return count_disorder(static_cast<std::int64_t>(patterns.shape(0)), static_cast<int>(patterns.shape(1)),
                                  patterns.data());
        },
        "patterns"_a, nb::sig("def count_disorder(patterns: numpy.typing.NDArray[numpy.uint8]) -> int"),
        "How many patterns do not come behind the one before them, gate by gate.");
    m.def("prove_witnesses", &prove_witnesses_to_python<prove_witnesses>, "problem"_a, "patterns"_a, "witnesses"_a,
          "threads"_a,
          nb::sig("def prove_witnesses(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], "
                  "witnesses: numpy.typing.NDArray[numpy.float64], threads: int) -> numpy.typing.NDArray[numpy.uint8]"),
          "Which witnesses floats prove to lie strictly inside their cells and the domain.");
    m.def("prove_witnesses_exactly", &prove_witnesses_to_python<prove_witnesses_exactly>, "problem"_a, "patterns"_a,
          "witnesses"_a, "threads"_a,
          nb::sig("def prove_witnesses_exactly(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], "
                  "witnesses: numpy.typing.NDArray[numpy.float64], threads: int) -> numpy.typing.NDArray[numpy.uint8]"),
          "The same by integers where floats cannot tell; gates that vanish on the whole cell are zero there.");
    m.def("place_points", &place_points_to_python, "problem"_a, "patterns"_a, "points"_a, "threads"_a,
          nb::sig("def place_points(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], "
                  "points: numpy.typing.NDArray[numpy.float64], threads: int) -> numpy.typing.NDArray[numpy.int64]"),
          "Which cell each point lies in, where floats prove that it lies strictly inside; -1 where no cell has its "
          "pattern, and -2 where floats cannot tell.");
    m.def("certify", &certify_to_python, "problem"_a, "patterns"_a, "witnesses"_a, "facet_start"_a, "facet_wall"_a,
          "neighbour"_a, "shared_facet"_a, "shared_wall"_a, "order"_a, "threads"_a, "keep_going"_a,
          nb::sig("def certify(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], "
                  "witnesses: numpy.typing.NDArray[numpy.float64], facet_start: numpy.typing.NDArray[numpy.int64], "
                  "facet_wall: numpy.typing.NDArray[numpy.int32], neighbour: numpy.typing.NDArray[numpy.int32], "
                  "shared_facet: numpy.typing.NDArray[numpy.int64], shared_wall: numpy.typing.NDArray[numpy.int32], "
                  "order: numpy.typing.NDArray[numpy.int64], threads: int, "
                  "keep_going: collections.abc.Callable[[int], bool]) -> numpy.typing.NDArray[numpy.uint8]"),
          "Which cells floats prove to be right, with all their facets; empty if `keep_going(cells)` returned False.");
    m.def("compare_maps", &compare_maps_to_python, "problem"_a, "outputs"_a, "sources"_a, "weights"_a, "patterns"_a,
          "facet_start"_a, "facet_wall"_a, "neighbour"_a, "threads"_a, "still_wanted"_a,
          nb::sig("def compare_maps(problem: Problem, outputs: int, sources: collections.abc.Sequence[int], "
                  "weights: collections.abc.Sequence[numpy.typing.NDArray[numpy.float64]], "
                  "patterns: numpy.typing.NDArray[numpy.uint8], facet_start: numpy.typing.NDArray[numpy.int64], "
                  "facet_wall: numpy.typing.NDArray[numpy.int32], neighbour: numpy.typing.NDArray[numpy.int32], "
                  "threads: int, still_wanted: collections.abc.Callable[[], bool]) -> "
                  "numpy.typing.NDArray[numpy.uint8]"),
          "For every facet between two cells, in the list of the one with the smaller number: 1 where their maps are "
          "proved to differ, 2 where they are proved to be the same, 0 where that is open. `still_wanted()` is called "
          "now and then; False raises GivenUp.");
}

}  // namespace polyfold
