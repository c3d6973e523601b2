// Arrays of NumPy's on the way in and on the way out, for the files here: the only ones that know both the geometry
// library and Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "geometry/base/growing_array.hpp"

namespace polyfold {

namespace nb = nanobind;

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline std::vector<double> copy(const Vector& values) {
    return {values.data(), values.data() + values.size()};
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

// What each file adds to the module.
void bind_problem(nb::module_& m);
void bind_listing(nb::module_& m);
void bind_proving(nb::module_& m);
void bind_faces(nb::module_& m);
void bind_slices(nb::module_& m);
void bind_counting(nb::module_& m);
void bind_local_maps(nb::module_& m);

}  // namespace polyfold
