// Cells that are named by their patterns.
#pragma once

#include <cstdint>

namespace polyfold {

// The cells that are wanted, for a walk that visits only those: packed patterns in lexicographic order of their gates.
struct Selection {
    const std::uint8_t* patterns = nullptr;
    std::int64_t count = 0;
    int stride = 0;

    bool on(std::int64_t cell, int gate) const { return (patterns[cell * stride + gate / 8] >> (gate % 8)) & 1; }

    // Where the gate goes on among cells first .. last - 1, which agree in all earlier gates.
    std::int64_t first_on(std::int64_t first, std::int64_t last, int gate) const {
        while (first < last) {
            const std::int64_t middle = first + (last - first) / 2;
            if (on(middle, gate)) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        return first;
    }
};

}  // namespace polyfold
