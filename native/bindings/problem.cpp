// Problems as the engine takes them, and the errors that it raises.
#include "geometry/problem/problem.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/arguments.hpp"
#include "geometry/base/errors.hpp"
#include "geometry/base/stop_signal.hpp"
#include "geometry/problem/row_facts.hpp"
#include "geometry/walk/unfit_domain.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

void count_terms(Stage& stage, int dim) {
    stage.terms = dim + 6;
    for (const Block& block : stage.blocks) stage.terms += block.columns;
}

// The rows of a box are a view of a vector, which has strides of its own.
using AnyRows = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

Problem make_problem(const Matrix& frame, const AnyRows& input_rows, const Vector& input_offsets,
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
    Block block;
    block.columns = problem.input_dim;
    block.by_column.resize(static_cast<std::size_t>(domain.width) * input_rows.shape(1));
    double* entry = block.by_column.data();
    for (std::size_t j = 0; j < input_rows.shape(1); ++j) {
        for (std::size_t r = 0; r < over_inputs; ++r) *entry++ = -input_rows(r, j);
        entry += over_parameters + 1;
    }
    domain.blocks.push_back(std::move(block));
    for (std::size_t r = 0; r < over_inputs; ++r) domain.bias[r] = input_offsets(r);
    if (problem.frame_is_identity && over_parameters == 0) {
        domain.bias.back() = 1.0;
    } else {
        domain.parameter_rows.assign(domain.width * size, 0.0);
        double* row = domain.parameter_rows.data() + over_inputs * size;
        for (std::size_t r = 0; r < over_parameters; ++r, row += size) {
            for (std::size_t k = 0; k + 1 < size; ++k) row[k] = -parameter_rows(r, k);
            row[size - 1] = parameter_offsets(r);
        }
        row[size - 1] = 1.0;
    }
    count_terms(domain, problem.dim);
    problem.stages.push_back(std::move(domain));
    find_row_facts(problem);
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
    find_row_facts(problem);
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

void bind_problem(nb::module_& m) {
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
}

}  // namespace polyfold
