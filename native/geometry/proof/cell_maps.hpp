// The affine forms of all stages on one cell after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/problem/stage_map.hpp"

namespace polyfold {

class CellMaps {
  public:
    explicit CellMaps(const Problem& problem) : problem_(problem), maps_(problem.stages.size()) {}

    // Make them those of the cell with this pattern. Quick if it begins like that of the cell before: stages have the
    // same forms as long as all earlier gates are the same.
    void enter(const std::uint8_t* pattern);

    const std::vector<std::shared_ptr<const StageMap>>& all() const { return maps_; }
    const StageMap& operator[](int stage) const { return *maps_[stage]; }
    const std::vector<std::uint8_t>& pattern() const { return pattern_; }
    bool is_on(int gate) const { return (pattern_[gate / 8] >> (gate % 8)) & 1; }

  private:
    const Problem& problem_;
    std::vector<std::shared_ptr<const StageMap>> maps_;
    std::vector<std::uint8_t> pattern_;

    int first_other_gate(const std::uint8_t* pattern) const;
};

}  // namespace polyfold
