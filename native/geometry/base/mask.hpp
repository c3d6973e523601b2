// A small set of facet slots as bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace polyfold {

template <int Words>
struct Mask {
    std::array<std::uint64_t, Words> words{};

    static constexpr int capacity = 64 * Words;

    bool has(int bit) const { return (words[bit / 64] >> (bit % 64)) & 1; }
    void set(int bit) { words[bit / 64] |= std::uint64_t{1} << (bit % 64); }
    int size() const {
        int total = 0;
        for (const auto word : words) total += std::popcount(word);
        return total;
    }
    bool contains(const Mask& other) const {
        for (std::size_t w = 0; w < Words; ++w)
            if (other.words[w] & ~words[w]) return false;
        return true;
    }
    // The lowest bit that is not in the set, or -1.
    int first_free() const {
        for (std::size_t w = 0; w < Words; ++w)
            if (~words[w]) return static_cast<int>(w) * 64 + std::countr_one(words[w]);
        return -1;
    }
    friend Mask operator&(Mask a, const Mask& b) {
        for (std::size_t w = 0; w < Words; ++w) a.words[w] &= b.words[w];
        return a;
    }
    friend Mask operator|(Mask a, const Mask& b) {
        for (std::size_t w = 0; w < Words; ++w) a.words[w] |= b.words[w];
        return a;
    }
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t w = 0; w < Words; ++w)
            for (std::uint64_t rest = words[w]; rest; rest &= rest - 1)
                visit(static_cast<int>(w) * 64 + std::countr_zero(rest));
    }
};

}  // namespace polyfold
