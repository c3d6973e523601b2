// The arrays of an atlas that are handed to the engine: to check them, to prove them, to go on from them.
#pragma once

#include <cstdint>

namespace polyfold {

// The arrays of an atlas, as far as facets are concerned.
struct FacetArrays {
    std::int64_t cells = 0;
    int gates = 0, rows = 0, stride = 0;
    const std::uint8_t* patterns = nullptr;  // stride bytes a cell
    const std::int64_t* facet_start = nullptr;
    const std::int32_t* facet_wall = nullptr;
    const std::int32_t* neighbour = nullptr;
    std::int64_t shared = 0;
    const std::int64_t* shared_facet = nullptr;  // ascending
    const std::int32_t* shared_wall = nullptr;
};

}  // namespace polyfold
