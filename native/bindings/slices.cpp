// Lines and planes through networks that are too large for the engine.
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "geometry/slice_cut.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

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

}  // namespace

void bind_slices(nb::module_& m) {
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
}

}  // namespace polyfold
