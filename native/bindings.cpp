// The one file that knows both the geometry library and Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "geometry/certify.hpp"
#include "geometry/face_complex.hpp"
#include "geometry/hops.hpp"
#include "geometry/known_cells.hpp"
#include "geometry/slice_cut.hpp"
#include "geometry/sparse_rank.hpp"
#include "geometry/unfold.hpp"
#include "geometry/verify.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace polyfold;

namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<double> copy(const Vector& values) {
    return {values.data(), values.data() + values.size()};
}

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

// Hand a vector over to NumPy without copying it.
template <class T>
nb::ndarray<nb::numpy, T> give(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
    auto* kept = new std::vector<T>(std::move(values));
    if (shape.empty()) shape = {kept->size()};
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class T>
nb::ndarray<nb::numpy, T> give(GrowingArray<T>&& values, std::vector<std::size_t> shape = {}) {
    if (shape.empty()) shape = {values.size()};
    values.reserve(values.size());  // give back what is not needed
    T* data = values.release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
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

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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

SliceCells slice_cells(int dim, const Array<std::int64_t>& start, const Array<std::int64_t>& vertex) {
    return {dim, static_cast<std::int64_t>(start.size()) - 1, start.data(), vertex.data()};
}

nb::dict cut_slice_to_python(int dim, const Array<std::int64_t>& start, const Array<std::int64_t>& vertex,
                             const Array<std::uint64_t>& name, const Matrix& value, const Bytes& sign,
                             const Vector& doubt, const Vector& scale, int first_wall, int first_gate,
                             std::int64_t most_new) {
    const auto gates = static_cast<int>(scale.size());
    SliceCut cut;
    {
        const nb::gil_scoped_release release;
        cut = cut_slice(slice_cells(dim, start, vertex),
                        {static_cast<std::int64_t>(name.size()), gates, first_wall, value.data(), sign.data(),
                         doubt.data(), scale.data(), name.data()},
                        first_gate, most_new);
    }
    const std::vector<std::size_t> table = {cut.made.low.size(), static_cast<std::size_t>(gates)};
    nb::dict out;
    out["low"] = give(std::move(cut.made.low));
    out["high"] = give(std::move(cut.made.high));
    out["share"] = give(std::move(cut.made.share));
    out["name"] = give(std::move(cut.made.name));
    out["value"] = give(std::move(cut.made.value), table);
    out["sign"] = give(std::move(cut.made.sign), table);
    out["doubt"] = give(std::move(cut.made.doubt));
    out["parent"] = give(std::move(cut.parent));
    out["start"] = give(std::move(cut.start));
    out["vertex"] = give(std::move(cut.vertex));
    out["facet"] = give(std::move(cut.facet));
    out["wall"] = give(std::move(cut.wall));
    out["next_gate"] = cut.next_gate;
    out["undecided"] = give(std::move(cut.undecided));
    out["inconsistent"] = cut.inconsistent;
    return out;
}

nb::tuple read_slice_to_python(int dim, const Array<std::int64_t>& start, const Array<std::int64_t>& vertex,
                               const Bytes& sign) {
    const SliceCells cells = slice_cells(dim, start, vertex);
    const auto gates = static_cast<int>(sign.shape(1));
    SliceSigns found;
    {
        const nb::gil_scoped_release release;
        found = read_slice(cells, gates, sign.data());
    }
    const std::vector<std::size_t> table = {static_cast<std::size_t>(cells.count),
                                            static_cast<std::size_t>((gates + 7) / 8)};
    return nb::make_tuple(give(std::move(found.patterns), table), give(std::move(found.facet)),
                          give(std::move(found.wall)));
}

nb::tuple blend_rows_to_python(const Matrix& values, const Vector& errors, const Array<std::int64_t>& low,
                               const Array<std::int64_t>& high, const Vector& share) {
    NewVertices made;
    made.low.assign(low.data(), low.data() + low.size());
    made.high.assign(high.data(), high.data() + high.size());
    made.share = copy(share);
    const auto rows = static_cast<std::int64_t>(values.shape(0));
    std::vector<double> blended, blended_errors;
    {
        const nb::gil_scoped_release release;
        blended = blend_rows(values.data(), rows, static_cast<int>(values.shape(1)), made);
        blended_errors = blend_errors(errors.data(), rows, made);
    }
    return nb::make_tuple(give(std::move(blended), {low.size(), values.shape(1)}), give(std::move(blended_errors)));
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

NB_MODULE(_native, m) {
    m.doc() = "The compiled core of polyfold; use it through polyfold.core.";
    nb::exception<FlatDomain>(m, "FlatDomain");
    nb::exception<OpenDomain>(m, "OpenDomain");
    nb::exception<TooLarge>(m, "TooLarge");
    nb::exception<Stopped>(m, "GivenUp");
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
    m.def("sparse_rank", &sparse_rank_to_python, "rows"_a, "start"_a, "row"_a, "value"_a, "skipped"_a, "modulo_two"_a,
          nb::sig("def sparse_rank(rows: int, start: numpy.typing.NDArray[numpy.int64], "
                  "row: numpy.typing.NDArray[numpy.int64], value: numpy.typing.NDArray[numpy.int8], "
                  "skipped: numpy.typing.NDArray[numpy.uint8], modulo_two: bool) -> dict[str, typing.Any]"),
          "Pivot rows of a matrix of small integers given by columns, and what is left without entries 1 or -1.");
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
    m.def("cut_slice", &cut_slice_to_python, "dim"_a, "start"_a, "vertex"_a, "name"_a, "value"_a, "sign"_a, "doubt"_a,
          "scale"_a, "first_wall"_a, "first_gate"_a, "most_new"_a,
          nb::sig("def cut_slice(dim: int, start: numpy.typing.NDArray[numpy.int64], "
                  "vertex: numpy.typing.NDArray[numpy.int64], name: numpy.typing.NDArray[numpy.uint64], "
                  "value: numpy.typing.NDArray[numpy.float64], sign: numpy.typing.NDArray[numpy.uint8], "
                  "doubt: numpy.typing.NDArray[numpy.float64], scale: numpy.typing.NDArray[numpy.float64], "
                  "first_wall: int, first_gate: int, most_new: int) -> dict[str, typing.Any]"),
          "Cells of a line or plane, cut by the gates of a stage from one on; see geometry/slice_cut.hpp.");
    m.def("read_slice", &read_slice_to_python, "dim"_a, "start"_a, "vertex"_a, "sign"_a,
          nb::sig("def read_slice(dim: int, start: numpy.typing.NDArray[numpy.int64], "
                  "vertex: numpy.typing.NDArray[numpy.int64], sign: numpy.typing.NDArray[numpy.uint8]) -> "
                  "tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], "
                  "numpy.typing.NDArray[numpy.int32]]"),
          "Packed patterns, and pairs of a facet and a gate of the stage that vanishes on it.");
    m.def("blend_rows", &blend_rows_to_python, "values"_a, "errors"_a, "low"_a, "high"_a, "share"_a,
          nb::sig("def blend_rows(values: numpy.typing.NDArray[numpy.float64], "
                  "errors: numpy.typing.NDArray[numpy.float64], low: numpy.typing.NDArray[numpy.int64], "
                  "high: numpy.typing.NDArray[numpy.int64], share: numpy.typing.NDArray[numpy.float64]) -> "
                  "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"),
          "Rows (1 - share) low + share high, and bounds on their errors.");
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
