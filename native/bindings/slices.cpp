// Lines and planes through networks that are too large for the engine.
#include <nanobind/stl/pair.h>

#include "bindings/arrays.hpp"
#include "geometry/slices/slice_cut.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

using Table = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

SliceCells slice_cells(const Array<std::int64_t>& start, const Array<std::int64_t>& vertex,
                       const Array<std::int32_t>& wall, const Matrix& form, const Vector& form_error,
                       const Matrix& point, const Vector& off, const Array<std::uint64_t>& name) {
    return {.dim = static_cast<int>(point.shape(1)),
            .count = static_cast<std::int64_t>(start.size()) - 1,
            .start = start.data(),
            .vertex = vertex.data(),
            .wall = wall.data(),
            .form = form.data(),
            .form_error = form_error.data(),
            .point = point.data(),
            .off = off.data(),
            .name = name.data(),
            .vertices = static_cast<std::int64_t>(name.size())};
}

SliceGates slice_gates(const Array<std::int64_t>& row, const Table& value, const Vector& error, const Vector& scale,
                       int plain, int first_wall) {
    return {.gates = static_cast<int>(scale.size()),
            .plain = plain,
            .first_wall = first_wall,
            .row = row.data(),
            .value = value.data(),
            .error = error.data(),
            .scale = scale.data(),
            .pools = {}};
}

nb::tuple corner_signs_to_python(const Array<std::int64_t>& start, const Array<std::int64_t>& vertex,
                                 const Matrix& point, const Vector& off, const Array<std::int64_t>& row,
                                 const Table& value, const Vector& error, const Vector& scale, int first_gate) {
    const SliceCells cells{.dim = static_cast<int>(point.shape(1)),
                           .count = static_cast<std::int64_t>(start.size()) - 1,
                           .start = start.data(),
                           .vertex = vertex.data(),
                           .point = point.data(),
                           .off = off.data()};
    const SliceGates gates = slice_gates(row, value, error, scale, static_cast<int>(scale.size()), 0);
    CornerSigns found;
    {
        const nb::gil_scoped_release release;
        found = corner_signs(cells, gates, first_gate);
    }
    const std::vector<std::size_t> table = {vertex.size(), static_cast<std::size_t>(gates.gates - first_gate)};
    return nb::make_tuple(give(std::move(found.sign), table), give(std::move(found.corner)),
                          give(std::move(found.gate)));
}

// Python's answers: a sign, and a point or None.
Oracle oracle_of(const nb::callable& sign, const nb::callable& place, int dim) {
    Oracle oracle;
    oracle.sign = [&sign](std::int64_t cell, int wall, int other, int gate) {
        const nb::gil_scoped_acquire acquire;
        return nb::cast<std::uint8_t>(sign(cell, wall, other, gate));
    };
    oracle.place = [&place, dim](std::int64_t cell, int wall, int other, double* point) {
        const nb::gil_scoped_acquire acquire;
        const nb::object found = place(cell, wall, other);
        if (found.is_none()) return false;
        for (int k = 0; k < dim; ++k) point[k] = nb::cast<double>(found[k]);
        return true;
    };
    return oracle;
}

nb::dict cut_slice_to_python(const Array<std::int64_t>& start, const Array<std::int64_t>& vertex,
                             const Array<std::int32_t>& wall, const Matrix& form, const Vector& form_error,
                             const Matrix& point, const Vector& off, const Array<std::uint64_t>& name,
                             const Array<std::int64_t>& row, const Table& value, const Vector& error,
                             const Vector& scale, const Bytes& sign, const Array<std::int64_t>& pool_first,
                             const Array<std::int64_t>& pool_members, int first_wall, int first_gate,
                             std::int64_t most_new, const nb::callable& exact_sign, const nb::callable& exact_place) {
    const SliceCells cells = slice_cells(start, vertex, wall, form, form_error, point, off, name);
    const int plain = pool_first.size() ? static_cast<int>(pool_first.data()[0]) : static_cast<int>(scale.size());
    SliceGates gates = slice_gates(row, value, error, scale, plain, first_wall);
    for (std::size_t p = 0; p < pool_first.size(); ++p)
        gates.pools.push_back({static_cast<int>(pool_first.data()[p]), static_cast<int>(pool_members.data()[p])});
    const Oracle oracle = oracle_of(exact_sign, exact_place, cells.dim);
    SliceCut cut;
    {
        const nb::gil_scoped_release release;
        cut = cut_slice(cells, gates, sign.data(), first_gate, most_new, oracle);
    }
    const std::vector<std::size_t> points = {cut.off.size(), static_cast<std::size_t>(cells.dim)};
    const std::vector<std::size_t> bits = {
        cut.parent.size(), static_cast<std::size_t>(std::max(0, std::min(cut.next_gate, plain) - first_gate) + 7) / 8};
    const std::vector<std::size_t> winners = {cut.parent.size(),
                                              cut.parent.empty() ? 0 : cut.winner.size() / cut.parent.size()};
    nb::dict out;
    out["point"] = give(std::move(cut.point), points);
    out["off"] = give(std::move(cut.off));
    out["name"] = give(std::move(cut.name));
    out["parent"] = give(std::move(cut.parent));
    out["start"] = give(std::move(cut.start));
    out["vertex"] = give(std::move(cut.vertex));
    out["facet"] = give(std::move(cut.facet));
    out["wall"] = give(std::move(cut.wall));
    out["next_gate"] = cut.next_gate;
    out["pattern"] = give(std::move(cut.pattern), bits);
    out["vanishing"] = give(std::move(cut.vanishing), bits);
    out["winner"] = give(std::move(cut.winner), winners);
    out["extra_facet"] = give(std::move(cut.extra_facet));
    out["extra_wall"] = give(std::move(cut.extra_wall));
    out["asked"] = cut.asked;
    out["open"] = give(std::move(cut.open));
    out["inconsistent"] = cut.inconsistent;
    return out;
}

}  // namespace

void bind_slices(nb::module_& m) {
    m.def("corner_signs", &corner_signs_to_python, "start"_a, "vertex"_a, "point"_a, "off"_a, "row"_a, "value"_a,
          "error"_a, "scale"_a, "first_gate"_a,
          nb::sig("def corner_signs(start: numpy.typing.NDArray[numpy.int64], "
                  "vertex: numpy.typing.NDArray[numpy.int64], point: numpy.typing.NDArray[numpy.float64], "
                  "off: numpy.typing.NDArray[numpy.float64], row: numpy.typing.NDArray[numpy.int64], "
                  "value: numpy.typing.NDArray[numpy.float64], error: numpy.typing.NDArray[numpy.float64], "
                  "scale: numpy.typing.NDArray[numpy.float64], first_gate: int) -> "
                  "tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], "
                  "numpy.typing.NDArray[numpy.int32]]"),
          "Signs of gates at the corners of cells, and pairs of a corner and a gate that floats leave open.");
    m.def("cut_slice", &cut_slice_to_python, "start"_a, "vertex"_a, "wall"_a, "form"_a, "form_error"_a, "point"_a,
          "off"_a, "name"_a, "row"_a, "value"_a, "error"_a, "scale"_a, "sign"_a, "pool_first"_a, "pool_members"_a,
          "first_wall"_a, "first_gate"_a, "most_new"_a, "exact_sign"_a, "exact_place"_a,
          nb::sig("def cut_slice(start: numpy.typing.NDArray[numpy.int64], "
                  "vertex: numpy.typing.NDArray[numpy.int64], wall: numpy.typing.NDArray[numpy.int32], "
                  "form: numpy.typing.NDArray[numpy.float64], form_error: numpy.typing.NDArray[numpy.float64], "
                  "point: numpy.typing.NDArray[numpy.float64], off: numpy.typing.NDArray[numpy.float64], "
                  "name: numpy.typing.NDArray[numpy.uint64], row: numpy.typing.NDArray[numpy.int64], "
                  "value: numpy.typing.NDArray[numpy.float64], error: numpy.typing.NDArray[numpy.float64], "
                  "scale: numpy.typing.NDArray[numpy.float64], sign: numpy.typing.NDArray[numpy.uint8], "
                  "pool_first: numpy.typing.NDArray[numpy.int64], "
                  "pool_members: numpy.typing.NDArray[numpy.int64], "
                  "first_wall: int, first_gate: int, most_new: int, "
                  "exact_sign: collections.abc.Callable[[int, int, int, int], int], "
                  "exact_place: collections.abc.Callable[[int, int, int], tuple[float, ...] | None]) -> "
                  "dict[str, typing.Any]"),
          "Cells of a line or plane, cut by the gates of a stage from one on; see geometry/slice_cut.hpp.");
}

}  // namespace polyfold
