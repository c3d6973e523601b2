#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "geometry/cells/face_key.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

TEST_CASE("numbers are scrambled as SplitMix64 does it") {
    // The first outputs for the seed 1234567, as published with the generator.
    std::uint64_t state = 1234567;
    for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u}) {
        CHECK_EQ(face_key::scramble(state), expected);
        state += 0x9e3779b97f4a7c15;
    }
}

TEST_CASE("the key of a pattern is made of the keys of its gates") {
    Numbers numbers(1);
    for (const int gates : {1, 7, 8, 9, 40, 129}) {
        const PatternKeys keys(gates);
        for (int trial = 0; trial < 200; ++trial) {
            std::vector<std::uint8_t> pattern(static_cast<std::size_t>(gates + 7) / 8, 0);
            FaceKey expected;
            for (int gate = 0; gate < gates; ++gate) {
                if (numbers.below(2)) continue;
                pattern[static_cast<std::size_t>(gate) / 8] |= static_cast<std::uint8_t>(1 << (gate % 8));
                expected ^= key_of_gate_on(gate);
            }
            CHECK(keys.of(pattern.data()) == expected);
        }
    }
}

TEST_CASE("all faces of sixteen gates have keys of their own") {
    const PatternKeys keys(16);
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const std::uint8_t pattern[] = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8)};
        FaceKey key = keys.of(pattern);
        CHECK(seen.emplace(key.high, key.low).second);
        // One gate vanishes instead of being on.
        if (bits & 1) {
            key ^= key_of_gate_on(0);
            key ^= key_of_gate_vanishing(0);
            CHECK(seen.emplace(key.high, key.low).second);
        }
    }
    CHECK_EQ(seen.size(), 65536 + 32768);
}

}  // namespace polyfold::tests
