// The compiled module, put together from the files beside this one.
#include "bindings/arrays.hpp"

NB_MODULE(POLYFOLD_EXTENSION, m) {
    // Work that somebody stopped waiting for may still run when Python ends, with its problem: no leak of ours.
    nanobind::set_leak_warnings(false);
    m.doc() = "The compiled core of polyfold; use it through polyfold._core.";
    m.attr("instructions") = POLYFOLD_INSTRUCTIONS;
    polyfold::bind_problem(m);
    polyfold::bind_listing(m);
    polyfold::bind_proving(m);
    polyfold::bind_faces(m);
    polyfold::bind_slices(m);
    polyfold::bind_counting(m);
    polyfold::bind_local_maps(m);
}
