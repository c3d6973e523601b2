// Cells: how many there are, all of them, and what they are made of.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bindings/arguments.hpp"
#include "geometry/lp/balls.hpp"
#include "geometry/unfold.hpp"
#include "geometry/walk/known_cells.hpp"
#include "geometry/walk/named_cells.hpp"

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

// The callable is asked with the interpreter's lock, and has to outlive what is looked for.
std::function<bool()> asking(const nb::callable& still_wanted) {
    return [&still_wanted] {
        const nb::gil_scoped_acquire gil;
        return nb::cast<bool>(still_wanted());
    };
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
    cells.options.still_wanted = asking(still_wanted);
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

Selection selection_of(const Bytes& patterns) {
    return {patterns.data(), static_cast<std::int64_t>(patterns.shape(0)), static_cast<int>(patterns.shape(1))};
}

LookOptions look_options(int threads, const nb::callable& still_wanted) {
    return {threads, asking(still_wanted)};
}

nb::tuple measure_to_python(const Problem& problem, const Bytes& patterns, bool covariance, int threads,
                            const nb::callable& still_wanted) {
    const LookOptions options = look_options(threads, still_wanted);
    MeasureBlock found;
    {
        const nb::gil_scoped_release release;
        found = measure_selected(problem, selection_of(patterns), covariance, options);
    }
    const auto dim = static_cast<std::size_t>(problem.dim);
    const std::size_t cells = found.volumes.size();
    return nb::make_tuple(give(std::move(found.volumes)), give(std::move(found.centroids), {cells, dim}),
                          give(std::move(found.covariances), {covariance ? cells : 0, dim, dim}),
                          give(std::move(found.facets)));
}

nb::dict trace_to_python(const Problem& problem, const Bytes& patterns, int threads, const nb::callable& still_wanted) {
    const LookOptions options = look_options(threads, still_wanted);
    GeneratorBlock block;
    {
        const nb::gil_scoped_release release;
        block = trace(problem, selection_of(patterns), options);
    }
    const std::size_t count = block.kind.size();
    nb::dict out;
    out["start"] = give(std::move(block.start));
    out["points"] = give(std::move(block.coordinates), {count, static_cast<std::size_t>(problem.dim)});
    out["kind"] = give(std::move(block.kind));
    out["facet_start"] = give(std::move(block.facet_start));
    out["facet"] = give(std::move(block.facet));
    return out;
}

nb::tuple largest_balls_to_python(const Array<std::int64_t>& start, const Matrix& A, const Vector& b, int threads) {
    BallProblems problems;
    problems.dim = static_cast<int>(A.shape(1));
    problems.cells = static_cast<std::int64_t>(start.size()) - 1;
    problems.start = start.data();
    problems.A = A.data();
    problems.b = b.data();
    Balls found;
    {
        const nb::gil_scoped_release release;
        found = largest_balls(problems, threads);
    }
    const std::size_t cells = found.status.size();
    return nb::make_tuple(give(std::move(found.numbers), {cells, A.shape(1) + 1}), give(std::move(found.status)));
}

std::unique_ptr<NamedCells> named_cells(const Problem& problem, bool by_programs, const nb::callable& still_wanted) {
    const auto asked = asking(still_wanted);
    const nb::gil_scoped_release release;
    return std::make_unique<NamedCells>(problem, by_programs, asked);
}

nb::object look_at_for_python(NamedCells& cells, const Array<std::uint8_t>& pattern, const Vector& from,
                              const Vector& to, const nb::callable& still_wanted) {
    std::optional<NamedCell> found;
    {
        const auto asked = asking(still_wanted);
        const nb::gil_scoped_release release;
        found = cells.look_at(pattern.data(), from.data(), to.data(), asked);
    }
    if (!found) return nb::none();
    nb::object exact = nb::none();
    for (const ExactWitness& witness : found->cell.exact_witnesses) exact = nb::cast(witness.coordinates);
    const std::size_t dim = found->cell.witnesses.size(), points = found->on.size() / dim;
    nb::dict out;
    out["witness"] = give(std::move(found->cell.witnesses));
    out["exact_witness"] = exact;
    out["bounded"] = found->cell.bounded[0] != 0;
    out["facet_wall"] = give(std::move(found->cell.facet_wall));
    out["on"] = give(std::move(found->on), {points, dim});
    out["beyond"] = give(std::move(found->beyond), {points, dim});
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
    nb::class_<NamedCells>(m, "NamedCells", "Cells that are looked at one by one, by their patterns.")
        .def_static("of", &named_cells, "problem"_a, "by_programs"_a, "still_wanted"_a, nb::keep_alive<0, 1>(),
                    nb::sig("def of(problem: Problem, by_programs: bool, "
                            "still_wanted: collections.abc.Callable[[], bool]) -> NamedCells"),
                    "By linear programs, which want a bounded domain (OpenDomain), or by generators. "
                    "`still_wanted()` is called now and then; False raises GivenUp.")
        .def("look_at", &look_at_for_python, "pattern"_a, "start"_a, "end"_a, "still_wanted"_a,
             nb::sig("def look_at(self, pattern: numpy.typing.NDArray[numpy.uint8], "
                     "start: numpy.typing.NDArray[numpy.float64], end: numpy.typing.NDArray[numpy.float64], "
                     "still_wanted: collections.abc.Callable[[], bool]) -> dict[str, typing.Any] | None"),
             "The cell with this packed pattern: its witness, its facets' walls, and for those that gates hold a point "
             "on each and one beyond. None where it takes exact arithmetic to say what its facets are or what is "
             "behind them; by programs also if no point of the cell is found on the way through the two points.");
    m.def("count", &count_to_python, "problem"_a, "by_programs"_a, "threads"_a, "keep_going"_a,
          nb::sig("def count(problem: Problem, by_programs: bool, threads: int, "
                  "keep_going: collections.abc.Callable[[int], bool]) -> tuple[int, bool]"),
          "How many cells there are, and whether these are all.");
    m.def(
        "trace", &trace_to_python, "problem"_a, "patterns"_a, "threads"_a, "still_wanted"_a,
        nb::sig("def trace(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], threads: int, "
                "still_wanted: collections.abc.Callable[[], bool]) -> dict[str, typing.Any]"),
        "Generators of the cells with these packed patterns, which must be sorted by gate. `still_wanted()` is called "
        "now and then; False raises GivenUp.");
    m.def("measure", &measure_to_python, "problem"_a, "patterns"_a, "covariance"_a, "threads"_a, "still_wanted"_a,
          nb::sig("def measure(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], covariance: bool, "
                  "threads: int, still_wanted: collections.abc.Callable[[], bool]) -> "
                  "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]"),
          "(volumes, centroids, covariances, numbers of facets) of the cells with these packed patterns, which must be "
          "sorted by gate. There are no covariances unless they are asked for. `still_wanted` as for `trace`.");
    m.def("largest_balls", &largest_balls_to_python, "start"_a, "A"_a, "b"_a, "threads"_a,
          nb::sig("def largest_balls(start: numpy.typing.NDArray[numpy.int64], A: numpy.typing.NDArray[numpy.float64], "
                  "b: numpy.typing.NDArray[numpy.float64], threads: int) -> tuple[numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.uint8]]"),
          "The largest balls (centre and radius) in cells A v <= b, b >= 0, whose rows have length one; and for each 0 "
          "if it was found, 1 if there is no largest one, 2 if floats found none.");
}

}  // namespace polyfold
