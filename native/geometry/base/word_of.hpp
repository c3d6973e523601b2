// A few bytes as one word.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace polyfold {

static_assert(std::endian::native == std::endian::little, "bit g of a word is bit g % 8 of byte g / 8");

// One to eight bytes, the first one lowest, and zeros behind them. No other byte is read.
inline std::uint64_t word_of(const std::uint8_t* from, int bytes) {
    const auto read = []<class Word>(const std::uint8_t* at, Word word) {
        std::memcpy(&word, at, sizeof word);
        return static_cast<std::uint64_t>(word);
    };
    if (bytes == 8) return read(from, std::uint64_t{});
    // What is read twice comes to the same place twice.
    if (bytes >= 4) return read(from, std::uint32_t{}) | read(from + bytes - 4, std::uint32_t{}) << (8 * (bytes - 4));
    return from[0] | std::uint64_t{from[bytes / 2]} << (8 * (bytes / 2)) |
           std::uint64_t{from[bytes - 1]} << (8 * (bytes - 1));
}

}  // namespace polyfold
