// Rows of coefficients pulled back through sparse linear maps.
#include <nanobind/stl/optional.h>

#include <optional>
#include <string>

#include "bindings/arrays.hpp"
#include "geometry/maps/pull_rows.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Result = nb::ndarray<T, nb::ndim<3>, nb::device::cpu>;

// The caller has made sure that all rows and columns that are named exist, and that numbers of a row of the result lie
// next to each other.
template <class T>
void pull_rows_from_python(const Rows<T>& rows, const std::optional<Table<std::int32_t>>& which,
                           const std::optional<Table<T>>& factor, const Table<std::int64_t>& start,
                           const Array<std::int32_t>& column, const Array<T>& value, std::int64_t block,
                           const Result<T>& result, int threads) {
    const auto length = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    const Coefficients<T> coefficients{length(rows.shape(0)),           length(rows.shape(1)),
                                       length(rows.shape(2)),           rows.data(),
                                       which ? which->data() : nullptr, factor ? factor->data() : nullptr};
    const SparseRows<T> matrix{
        length(start.shape(1)) - 1, length(result.shape(2)), block, start.data(), column.data(), value.data()};
    const Destination<T> destination{result.data(), result.stride(0), result.stride(1)};
    const nb::gil_scoped_release release;
    pull_rows(coefficients, matrix, destination, threads);
}

template <class T>
void bind(nb::module_& m, const char* name, const std::string& type) {
    const std::string floats = "numpy.typing.NDArray[numpy." + type + "]";
    const std::string signature = "def " + std::string(name) + "(rows: " + floats +
                                  ", which: numpy.typing.NDArray[numpy.int32] | None, factor: " + floats +
                                  " | None, start: numpy.typing.NDArray[numpy.int64], "
                                  "column: numpy.typing.NDArray[numpy.int32], value: " +
                                  floats + ", block: int, result: " + floats + ", threads: int) -> None";
    m.def(name, &pull_rows_from_python<T>, "rows"_a, "which"_a.none(), "factor"_a.none(), "start"_a, "column"_a,
          "value"_a, "block"_a, "result"_a.noconvert(), "threads"_a, nb::sig(signature.c_str()),
          "Blocks of rows times a sparse matrix, written into `result`; see geometry/pull_rows.hpp.");
}

}  // namespace

void bind_local_maps(nb::module_& m) {
    bind<float>(m, "pull_rows_single", "float32");
    bind<double>(m, "pull_rows_double", "float64");
}

}  // namespace polyfold
