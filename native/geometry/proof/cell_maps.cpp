#include "geometry/proof/cell_maps.hpp"

#include <bit>

namespace polyfold {

void CellMaps::enter(const std::uint8_t* pattern) {
    int stage = 0;  // the first one that is another
    if (maps_[0]) {
        const int gate = first_other_gate(pattern);
        const auto is_behind = [&](int s) { return problem_.stages[s].first_wall > gate; };
        for (stage = 1; stage < static_cast<int>(maps_.size()) && !is_behind(stage);) ++stage;
    }
    pattern_.assign(pattern, pattern + (problem_.gates + 7) / 8);
    for (int s = stage; s < static_cast<int>(maps_.size()); ++s)
        maps_[s] = std::make_shared<const StageMap>(problem_, s, s > 0 ? maps_[s - 1] : nullptr, pattern_);
}

// As many as there are gates if there is none.
int CellMaps::first_other_gate(const std::uint8_t* pattern) const {
    for (std::size_t byte = 0; byte < pattern_.size(); ++byte)
        if (pattern_[byte] != pattern[byte])
            return static_cast<int>(8 * byte) + std::countr_zero(static_cast<unsigned>(pattern_[byte] ^ pattern[byte]));
    return problem_.gates;
}

}  // namespace polyfold
