// A few numbers side by side, as one vector register holds them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace polyfold {

inline constexpr int lanes = 4;  // what one AVX register holds

// Vector types, because compilers would rather vectorise another loop.
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
using Choice = std::int64_t __attribute__((vector_size(lanes * sizeof(std::int64_t))));  // all bits set, or none
using BitLanes = std::uint64_t __attribute__((vector_size(lanes * sizeof(std::uint64_t))));

inline Lanes size_of(Lanes x) {
    return reinterpret_cast<Lanes>(reinterpret_cast<Choice>(x) & INT64_MAX);
}
inline Lanes larger(Lanes a, Lanes b) {
    return a > b ? a : b;
}
inline Lanes smaller(Lanes a, Lanes b) {
    return a < b ? a : b;
}
// Other signs where the first bit of a lane is set.
inline Lanes flipped(Lanes x, BitLanes where) {
    return reinterpret_cast<Lanes>(reinterpret_cast<BitLanes>(x) ^ (where & (std::uint64_t{1} << 63)));
}

// The last number first.
inline Lanes reversed(Lanes x) {
    return Lanes{x[3], x[2], x[1], x[0]};
}

inline Lanes load(const double* from) {
    Lanes x;
    std::memcpy(&x, from, sizeof x);
    return x;
}
inline void store(double* to, Lanes x) {
    std::memcpy(to, &x, sizeof x);
}

#ifdef __AVX__
// All bits of the first `count` lanes.
inline __m256i first_lanes(int count) {
    static constexpr std::int64_t bits[2 * lanes] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + lanes - count));
}
#endif

// Only the first `count` numbers, as at the end of an array, and zeros behind them.
inline Lanes load(const double* from, int count) {
    if (count >= lanes) return load(from);
#ifdef __AVX__
    return _mm256_maskload_pd(from, first_lanes(count));
#else
    Lanes x{};
    for (int i = 0; i < count; ++i) x[i] = from[i];
    return x;
#endif
}
inline void store(double* to, Lanes x, int count) {
    if (count >= lanes) return store(to, x);
#ifdef __AVX__
    _mm256_maskstore_pd(to, first_lanes(count), x);
#else
    for (int i = 0; i < count; ++i) to[i] = x[i];
#endif
}

// Where an array goes on: registers that are full, or one of which only the first lanes are looked at.
struct WholeLanes {
    static constexpr int lanes_of(int step) { return step; }
    Lanes get(const double* from) const { return load(from); }
    void put(double* to, Lanes x) const { store(to, x); }
};
struct FirstLanes {
    int count;
    int lanes_of(int) const { return count; }
    Lanes get(const double* from) const { return load(from, count); }
    void put(double* to, Lanes x) const { store(to, x, count); }
};

// One bit for each lane, the first one lowest.
inline unsigned bits_of(Choice choice) {
#ifdef __AVX__
    return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(choice)));
#else
    unsigned bits = 0;
    for (int i = 0; i < lanes; ++i) bits |= static_cast<unsigned>(choice[i] & 1) << i;
    return bits;
#endif
}

// By the first bits, one a lane: one where it is set, else minus one.
inline constexpr auto sides_by_bits = [] {
    std::array<Lanes, 1 << lanes> sides{};
    for (std::size_t bits = 0; bits < sides.size(); ++bits) {
        const auto side = [&](std::size_t lane) { return bits >> lane & 1 ? 1.0 : -1.0; };
        sides[bits] = Lanes{side(0), side(1), side(2), side(3)};
    }
    return sides;
}();
inline const Lanes& sides_by(std::uint64_t bits) {
    return sides_by_bits[bits % sides_by_bits.size()];
}

// How many registers so many numbers fill.
constexpr int registers_for(int numbers) {
    return (numbers + lanes - 1) / lanes;
}

}  // namespace polyfold
