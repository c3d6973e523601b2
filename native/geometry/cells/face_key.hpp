// Names for faces of the complex that all cells around a face agree on.
#pragma once

#include <cstdint>
#include <vector>

namespace polyfold {

// 128 bits that name a face: which gates vanish on it and which of the others are on.
struct FaceKey {
    std::uint64_t high = 0, low = 0;

    FaceKey& operator^=(const FaceKey& other) {
        high ^= other.high;
        low ^= other.low;
        return *this;
    }
    friend bool operator==(const FaceKey&, const FaceKey&) = default;
};

namespace face_key {

constexpr std::uint64_t scramble(std::uint64_t x) {  // a bijection with good avalanche: distinct inputs stay distinct
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

constexpr FaceKey from_seed(std::uint64_t seed) {
    const std::uint64_t high = scramble(seed);
    return {high, scramble(high ^ 0x6a09e667f3bcc908)};
}

}  // namespace face_key

constexpr FaceKey key_of_gate_on(int gate) {
    return face_key::from_seed(2 * static_cast<std::uint64_t>(gate));
}

constexpr FaceKey key_of_gate_vanishing(int gate) {
    return face_key::from_seed(2 * static_cast<std::uint64_t>(gate) + 1);
}

// Keys of whole patterns, half a byte at a time.
class PatternKeys {
  public:
    explicit PatternKeys(int gates) : stride_((gates + 7) / 8), parts_(static_cast<std::size_t>(stride_) * 32) {
        for (int half = 0; half < 2 * stride_; ++half)
            for (int bits = 0; bits < 16; ++bits)
                for (int b = 0; b < 4; ++b)
                    if ((bits >> b) & 1) parts_[half * 16 + bits] ^= key_of_gate_on(half * 4 + b);
    }

    // Of the gates that are on.
    FaceKey of(const std::uint8_t* pattern) const {
        FaceKey key;
        for (int b = 0; b < stride_; ++b) {
            key ^= parts_[b * 32 + pattern[b] % 16];
            key ^= parts_[b * 32 + 16 + pattern[b] / 16];
        }
        return key;
    }

  private:
    int stride_;
    std::vector<FaceKey> parts_;
};

}  // namespace polyfold
