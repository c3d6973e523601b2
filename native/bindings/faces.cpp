// Faces of all dimensions.
#include <nanobind/stl/vector.h>

#include "bindings/arguments.hpp"
#include "geometry/faces/face_complex.hpp"
#include "geometry/unfold.hpp"

namespace polyfold {

using namespace nb::literals;

namespace {

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

}  // namespace

void bind_faces(nb::module_& m) {
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
}

}  // namespace polyfold
