// Cells, what they are made of, and what is proved of them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "bindings/arrays.hpp"
#include "geometry/faces/face_complex.hpp"
#include "geometry/proof/certify.hpp"
#include "geometry/proof/facet_pairs.hpp"
#include "geometry/unfold.hpp"
#include "geometry/walk/known_cells.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

Block make_block(int source, const Matrix& weight) {
    Block block;
    block.source = source;
    const std::size_t rows = weight.shape(0), columns = weight.shape(1);
    block.columns = static_cast<int>(columns);
    block.by_column.resize(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) block.by_column[j * rows + i] = weight(i, j);
    return block;
}

void count_terms(Stage& stage, int dim) {
    stage.terms = dim + 6;
    for (const Block& block : stage.blocks) stage.terms += block.columns;
}

Problem make_problem(const Matrix& frame, const Matrix& input_rows, const Vector& input_offsets,
                     const Matrix& parameter_rows, const Vector& parameter_offsets) {
    Problem problem;
    problem.input_dim = static_cast<int>(frame.shape(0));
    problem.dim = static_cast<int>(frame.shape(1)) - 1;
    problem.frame.assign(frame.data(), frame.data() + frame.size());
    problem.frame_is_identity = problem.input_dim == problem.dim;
    for (std::size_t i = 0; i < frame.shape(0); ++i)
        for (std::size_t k = 0; k < frame.shape(1); ++k)
            problem.frame_is_identity = problem.frame_is_identity && frame(i, k) == (i == k ? 1.0 : 0.0);

    problem.without_constants = true;
    for (std::size_t i = 0; i < frame.shape(0); ++i)
        problem.without_constants = problem.without_constants && frame(i, frame.shape(1) - 1) == 0.0;

    // A row a . x <= b is the form b - a . x >= 0. Behind the user's rows comes infinity: t >= 0.
    const std::size_t over_inputs = input_rows.shape(0), over_parameters = parameter_rows.shape(0);
    const std::size_t size = static_cast<std::size_t>(problem.dim) + 1;
    Stage domain;
    domain.width = static_cast<int>(over_inputs + over_parameters + 1);
    domain.bias.assign(domain.width, 0.0);
    domain.parameter_rows.assign(domain.width * size, 0.0);
    std::vector<double> negated(domain.width * input_rows.shape(1), 0.0);
    for (std::size_t r = 0; r < over_inputs; ++r) {
        for (std::size_t j = 0; j < input_rows.shape(1); ++j) negated[r * input_rows.shape(1) + j] = -input_rows(r, j);
        domain.bias[r] = input_offsets(r);
    }
    for (std::size_t r = 0; r < over_parameters; ++r) {
        for (std::size_t k = 0; k + 1 < size; ++k)
            domain.parameter_rows[(over_inputs + r) * size + k] = -parameter_rows(r, k);
        domain.parameter_rows[(over_inputs + r) * size + size - 1] = parameter_offsets(r);
    }
    domain.parameter_rows[(over_inputs + over_parameters) * size + size - 1] = 1.0;
    const std::size_t shape[2] = {static_cast<std::size_t>(domain.width), input_rows.shape(1)};
    domain.blocks.push_back(make_block(0, Matrix(negated.data(), 2, shape)));
    count_terms(domain, problem.dim);
    problem.stages.push_back(std::move(domain));
    return problem;
}

void add_stage(Problem& problem, const std::vector<int>& sources, const std::vector<Matrix>& weights,
               const Vector& bias, const Vector& slope_on, const Vector& slope_off) {
    Stage stage;
    stage.width = static_cast<int>(bias.size());
    stage.first_wall = problem.gates;
    stage.bias = copy(bias);
    stage.slope_on = copy(slope_on);
    stage.slope_off = copy(slope_off);
    for (std::size_t b = 0; b < sources.size(); ++b) stage.blocks.push_back(make_block(sources[b], weights[b]));
    count_terms(stage, problem.dim);
    for (const double value : stage.bias) problem.without_constants = problem.without_constants && value == 0.0;
    problem.stages.push_back(std::move(stage));
    problem.gates += problem.stages.back().width;
    problem.stages[0].first_wall = problem.gates;
}

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

RunOptions run_options(int threads, std::int64_t max_cells, const nb::callable& keep_going) {
    RunOptions options;
    options.threads = threads;
    options.max_cells = max_cells;
    options.keep_going = [&keep_going](std::int64_t cells) {
        const nb::gil_scoped_acquire gil;
        return nb::cast<bool>(keep_going(cells));
    };
    return options;
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

nb::dict list_faces_to_python(const Problem& problem, int threads, const nb::callable& keep_going) {
    const RunOptions options = run_options(threads, -1, keep_going);
    FaceComplex faces;
    {
        const nb::gil_scoped_release release;
        faces = list_faces(problem, options);
    }
    const auto dim = static_cast<std::size_t>(problem.dim);
    const std::size_t count = faces.bounded.size(), placed = faces.placed.size();
    const std::size_t lines = dim ? faces.lines.size() / dim : 0;
    nb::dict out;
    out["complete"] = faces.complete;
    out["start"] = give(std::move(faces.start));
    out["names"] = give(std::move(faces.names), {count, static_cast<std::size_t>(faces.words)});
    out["bounded"] = give(std::move(faces.bounded));
    out["facet_start"] = give(std::move(faces.facet_start));
    out["facet"] = give(std::move(faces.facet));
    out["incidence"] = give(std::move(faces.incidence));
    out["placed"] = give(std::move(faces.placed));
    out["coordinates"] = give(std::move(faces.coordinates), {placed, dim + 1});
    out["error"] = give(std::move(faces.error));
    out["lines"] = give(std::move(faces.lines), {lines, dim});
    return out;
}

FacetArrays facet_arrays(const Bytes& patterns, int gates, int rows, const Array<std::int64_t>& facet_start,
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

nb::ndarray<nb::numpy, std::uint8_t> prove_witnesses_to_python(const Problem& problem, const Bytes& patterns,
                                                               const Matrix& witnesses, int threads) {
    std::vector<std::uint8_t> proved;
    {
        const nb::gil_scoped_release release;
        proved = prove_witnesses(problem, static_cast<std::int64_t>(patterns.shape(0)), patterns.data(),
                                 witnesses.data(), threads);
    }
    return give(std::move(proved));
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

}  // namespace

// Contradictions come out as errors of the class that Python gives: it is not known here, and never unknown again.
void raise_contradictions_as(const nb::type_object& error) {
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* as) {
            try {
                std::rethrow_exception(thrown);
            } catch (const Contradiction& contradiction) {
                PyErr_SetString(static_cast<PyObject*>(as), contradiction.what());
            }
        },
        error.inc_ref().ptr());
}

void bind_engine(nb::module_& m) {
    nb::exception<FlatDomain>(m, "FlatDomain");
    nb::exception<OpenDomain>(m, "OpenDomain");
    nb::exception<TooLarge>(m, "TooLarge");
    nb::exception<Stopped>(m, "GivenUp");
    m.def("raise_contradictions_as", &raise_contradictions_as, "error"_a,
          nb::sig("def raise_contradictions_as(error: type[Exception]) -> None"),
          "The class of errors by which the core says that a list of cells, or the core itself, contradicts itself.");
    nb::class_<Problem>(m, "Problem", "A program of gates and a domain, as the engine takes them.")
        .def_static("over", &make_problem, "frame"_a, "input_rows"_a, "input_offsets"_a, "parameter_rows"_a,
                    "parameter_offsets"_a, "A problem without gates on the domain x = frame (u, 1).")
        .def("add_stage", &add_stage, "sources"_a, "weights"_a, "bias"_a, "slope_on"_a, "slope_off"_a);
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
    m.def(
        "count_faces",
        [](const Problem& problem, int threads, const nb::callable& keep_going) {
            const RunOptions options = run_options(threads, -1, keep_going);
            const nb::gil_scoped_release release;
            return count_faces(problem, options);
        },
        "problem"_a, "threads"_a, "keep_going"_a,
        nb::sig("def count_faces(problem: Problem, threads: int, "
                "keep_going: collections.abc.Callable[[int], bool]) -> list[int]"),
        "Numbers of faces of dimension 0, 1, ..., d; faces at infinity do not count. Empty if it was stopped.");
    m.def("list_faces", &list_faces_to_python, "problem"_a, "threads"_a, "keep_going"_a,
          nb::sig("def list_faces(problem: Problem, threads: int, "
                  "keep_going: collections.abc.Callable[[int], bool]) -> dict[str, typing.Any]"),
          "All faces of all dimensions with their signs, oriented boundaries and vertices.");
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
    m.def("prove_witnesses", &prove_witnesses_to_python, "problem"_a, "patterns"_a, "witnesses"_a, "threads"_a,
          nb::sig("def prove_witnesses(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], "
                  "witnesses: numpy.typing.NDArray[numpy.float64], threads: int) -> numpy.typing.NDArray[numpy.uint8]"),
          "Which witnesses floats prove to lie strictly inside their cells and the domain.");
    m.def("certify", &certify_to_python, "problem"_a, "patterns"_a, "witnesses"_a, "facet_start"_a, "facet_wall"_a,
          "neighbour"_a, "shared_facet"_a, "shared_wall"_a, "order"_a, "threads"_a, "keep_going"_a,
          nb::sig("def certify(problem: Problem, patterns: numpy.typing.NDArray[numpy.uint8], "
                  "witnesses: numpy.typing.NDArray[numpy.float64], facet_start: numpy.typing.NDArray[numpy.int64], "
                  "facet_wall: numpy.typing.NDArray[numpy.int32], neighbour: numpy.typing.NDArray[numpy.int32], "
                  "shared_facet: numpy.typing.NDArray[numpy.int64], shared_wall: numpy.typing.NDArray[numpy.int32], "
                  "order: numpy.typing.NDArray[numpy.int64], threads: int, "
                  "keep_going: collections.abc.Callable[[int], bool]) -> numpy.typing.NDArray[numpy.uint8]"),
          "Which cells floats prove to be right, with all their facets; empty if `keep_going(cells)` returned False.");
}

}  // namespace polyfold
