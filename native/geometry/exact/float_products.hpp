// What can be told exactly of products of floats, without longer numbers.
#pragma once

#include <cmath>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

// Whether a b = c d; false where floats cannot tell.
inline bool equal_products(double a, double b, double c, double d) {
    const double one = a * b, other = c * d;
    if (one != other) return false;
    if (one == 0.0) return (a == 0.0 || b == 0.0) && (c == 0.0 || d == 0.0);
    // What was rounded off is a float, too.
    return rounding::is_ordinary(std::abs(one)) && std::fma(a, b, -one) == std::fma(c, d, -other);
}

// Whether two vectors, neither of them zero, are multiples of each other; false where floats cannot tell.
// Entries are at(k), other(k) for k below `size`.
template <class Entry, class OtherEntry>
bool are_parallel(Entry at, OtherEntry other, int size) {
    int largest = 0;
    for (int k = 1; k < size; ++k)
        if (std::abs(other(k)) > std::abs(other(largest))) largest = k;
    const double here = at(largest), there = other(largest);
    if (here == 0.0 || there == 0.0) return false;
    for (int k = 0; k < size; ++k)
        if (k != largest && !equal_products(at(k), there, other(k), here)) return false;
    return true;
}

}  // namespace polyfold
