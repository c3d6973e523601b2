// A few numbers side by side, as one vector register holds them.
#pragma once

#include <cstdint>

namespace polyfold {

inline constexpr int lanes = 4;  // what one AVX register holds

// Vector types, because compilers would rather vectorise another loop.
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
using Choice = std::int64_t __attribute__((vector_size(lanes * sizeof(std::int64_t))));  // all bits set, or none
using BitLanes = std::uint64_t __attribute__((vector_size(lanes * sizeof(std::uint64_t))));

inline Lanes size_of(Lanes x) {
    return x < 0 ? -x : x;
}
inline Lanes larger(Lanes a, Lanes b) {
    return a > b ? a : b;
}

// How many registers so many numbers fill.
constexpr int registers_for(int numbers) {
    return (numbers + lanes - 1) / lanes;
}

}  // namespace polyfold
