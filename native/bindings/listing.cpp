// Cells: how many there are, all of them, and what they are made of.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>

#include "bindings/arguments.hpp"
#include "geometry/unfold.hpp"
#include "geometry/walk/known_cells.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

nb::dict to_python(CellBlock&& cells, bool complete, const Problem& problem) {
    const auto count = static_cast<std::size_t>(cells.cells);
    std::vector<std::int64_t> shared_facet;
    std::vector<std::int32_t> shared_wall;
    for (const SharedWall& item : cells.shared) {
        shared_facet.push_back(item.facet);
        shared_wall.push_back(item.wall);
    }
    nb::list exact;
    for (const ExactWitness& item : cells.exact_witnesses) exact.append(nb::make_tuple(item.cell, item.coordinates));
    nb::dict out;
    out["patterns"] = give(std::move(cells.patterns), {count, static_cast<std::size_t>((problem.gates + 7) / 8)});
    out["witnesses"] = give(std::move(cells.witnesses), {count, static_cast<std::size_t>(problem.dim)});
    out["exact_witnesses"] = exact;
    out["bounded"] = give(std::move(cells.bounded));
    out["facet_start"] = give(std::move(cells.facet_start));
    out["facet_wall"] = give(std::move(cells.facet_wall));
    out["neighbour"] = give(std::move(cells.neighbour));
    out["shared_facet"] = give(std::move(shared_facet));
    out["shared_wall"] = give(std::move(shared_wall));
    out["complete"] = complete;
    return out;
}

KnownCells known_cells(const Problem& problem, const Bytes& patterns, const Matrix& witnesses,
                       const Array<std::uint8_t>& bounded, const Array<std::int64_t>& facet_start,
                       const Array<std::int32_t>& facet_wall, const Array<std::int32_t>& neighbour,
                       const Array<std::int64_t>& shared_facet, const Array<std::int32_t>& shared_wall,
                       const std::vector<std::pair<std::int64_t, std::vector<std::string>>>& exact_witnesses,
                       const std::vector<std::pair<std::int64_t, std::int32_t>>& vanishing) {
    const FacetArrays atlas = facet_arrays(patterns, problem.gates, problem.rows(), facet_start, facet_wall, neighbour,
                                           shared_facet, shared_wall);
    std::vector<ExactWitness> exact;
    for (const auto& [cell, coordinates] : exact_witnesses) exact.push_back({cell, coordinates});
    return {problem, atlas, witnesses.data(), bounded.data(), std::move(exact), vanishing};
}

// What core.find_cells returns: cells that were found, with what it takes to put them together. The Python objects of
// the problem and of the known cells are kept alive by it.
struct FoundCells {
    Found found;
    const Problem* problem;
    RunOptions options;
    bool handed_out = false;
};

FoundCells find_cells_for_python(const Problem& problem, bool by_programs, int threads, std::int64_t max_cells,
                                 const nb::callable& keep_going, const KnownCells* known) {
    RunOptions options = run_options(threads, max_cells, keep_going);
    options.known = known;
    Found found;
    {
        const nb::gil_scoped_release release;
        found = find_cells(problem, by_programs ? Method::programs : Method::generators, options);
    }
    options.keep_going = nullptr;  // it lives no longer than this call
    return {std::move(found), &problem, std::move(options)};
}

nb::dict put_together_for_python(FoundCells& cells, const nb::callable& still_wanted) {
    if (cells.handed_out) throw std::logic_error("these cells have been put together before");
    cells.options.still_wanted = [&still_wanted] {
        const nb::gil_scoped_acquire gil;
        return nb::cast<bool>(still_wanted());
    };
    {
        const nb::gil_scoped_release release;
        put_together(cells.found, *cells.problem, cells.options);
    }
    cells.handed_out = true;
    return to_python(std::move(cells.found.cells), cells.found.complete, *cells.problem);
}

nb::tuple count_to_python(const Problem& problem, bool by_programs, int threads, const nb::callable& keep_going) {
    const RunOptions options = run_options(threads, -1, keep_going);
    Counted result;
    {
        const nb::gil_scoped_release release;
        result = count_cells(problem, by_programs ? Method::programs : Method::generators, options);
    }
    return nb::make_tuple(result.cells, result.complete);
}

nb::tuple measure_to_python(const Problem& problem, const Bytes& patterns, bool covariance) {
    const Selection selection{patterns.data(), static_cast<std::int64_t>(patterns.shape(0)),
                              static_cast<int>(patterns.shape(1))};
    std::vector<Measure> measures;
    {
        const nb::gil_scoped_release release;
        measures = measure_selected(problem, selection, covariance);
    }
    const auto dim = static_cast<std::size_t>(problem.dim);
    const std::size_t entries = covariance ? dim * dim : 0;
    std::vector<double> volumes, centroids, covariances;
    for (const Measure& cell : measures) {
        volumes.push_back(cell.volume);
        for (std::size_t k = 0; k < dim; ++k)
            centroids.push_back(cell.centroid.empty() ? std::nan("") : cell.centroid[k]);
        for (std::size_t k = 0; k < entries; ++k)
            covariances.push_back(cell.covariance.empty() ? std::nan("") : cell.covariance[k]);
    }
    return nb::make_tuple(give(std::move(volumes)), give(std::move(centroids), {measures.size(), dim}),
                          give(std::move(covariances), {covariance ? measures.size() : 0, dim, dim}));
}

nb::dict trace_to_python(const Problem& problem, const Bytes& patterns) {
    const Selection selection{patterns.data(), static_cast<std::int64_t>(patterns.shape(0)),
                              static_cast<int>(patterns.shape(1))};
    GeneratorBlock block;
    {
        const nb::gil_scoped_release release;
        block = trace(problem, selection);
    }
    std::vector<std::int64_t> start(1, 0), facet_start(1, 0);
    start.insert(start.end(), block.stop.begin(), block.stop.end());
    facet_start.insert(facet_start.end(), block.facet_stop.begin(), block.facet_stop.end());
    const std::size_t count = block.kind.size();
    nb::dict out;
    out["start"] = give(std::move(start));
    out["coordinates"] = give(std::move(block.coordinates), {count, static_cast<std::size_t>(problem.dim) + 1});
    out["kind"] = give(std::move(block.kind));
    out["facet_start"] = give(std::move(facet_start));
    out["facet"] = give(std::move(block.facet));
    return out;
}

}  // namespace

void bind_listing(nb::module_& m) {
    nb::class_<KnownCells>(m, "KnownCells", "What an earlier run has found, for another one to go on with.")
        .def_static(
            "of", &known_cells, "problem"_a, "patterns"_a, "witnesses"_a, "bounded"_a, "facet_start"_a, "facet_wall"_a,
            "neighbour"_a, "shared_facet"_a, "shared_wall"_a, "exact_witnesses"_a, "vanishing"_a,
            "The arrays of an atlas in the engine's order, exact witnesses as they are handed out, and pairs of "
            "a cell and a gate that vanishes on all of it, in the order of the cells.");
    // The stub generator cannot know what is in a dictionary; these signatures say so.
    nb::class_<FoundCells>(m, "FoundCells", "Cells that were found and not yet put together.")
        .def_prop_ro(
            "complete", [](const FoundCells& cells) { return cells.found.complete; },
            "Whether the search came to its end.")
        .def("put_together", &put_together_for_python, "still_wanted"_a,
             nb::sig("def put_together(self, still_wanted: collections.abc.Callable[[], bool]) -> dict[str, "
                     "typing.Any]"),
             "The arrays of an atlas, once. `still_wanted()` is called now and then; False raises GivenUp, after which "
             "it can be tried again. Cells that were known are among the result.");
    m.def("find_cells", &find_cells_for_python, "problem"_a, "by_programs"_a, "threads"_a, "max_cells"_a,
          "keep_going"_a, "known"_a = nb::none(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 6>(),
          nb::sig("def find_cells(problem: Problem, by_programs: bool, threads: int, max_cells: int, "
                  "keep_going: collections.abc.Callable[[int], bool], "
                  "known: KnownCells | None = None) -> FoundCells"),
          "All cells; `keep_going(cells)` is called now and then and stops the run by returning False. Cells that are "
          "known are not searched for, and limits hold for the others.");
    m.def("count", &count_to_python, "problem"_a, "by_programs"_a, "threads"_a, "keep_going"_a,
          nb::sig("def count(problem: Problem, by_programs: bool, threads: int, "
                  "keep_going: collections.abc.Callable[[int], bool]) -> tuple[int, bool]"),
          "How many cells there are, and whether these are all.");
    m.def("trace", &trace_to_python, "problem"_a, "patterns"_a,
          nb::sig("def trace(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8]) -> dict[str, "
                  "typing.Any]"),
          "Generators of the cells with these packed patterns, which must be sorted by gate.");
    m.def("measure", &measure_to_python, "problem"_a, "patterns"_a, "covariance"_a,
          nb::sig("def measure(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], covariance: bool) -> "
                  "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64]]"),
          "(volumes, centroids, covariances) of the cells with these packed patterns, which must be sorted by gate. "
          "There are no covariances unless they are asked for.");
}

}  // namespace polyfold
