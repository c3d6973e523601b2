// One cell after the other by their patterns, for a search that goes from neighbour to neighbour.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/cell_block.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

// A cell, and points that lead into its neighbours: of each facet that gates hold, a point on it, and one that lies
// farther on the way there from the witness.
struct NamedCell {
    CellBlock cell;
    std::vector<double> on, beyond;
};

class NamedCells {
  public:
    // By linear programs, or by generators. The first throws OpenDomain if the domain is not bounded.
    NamedCells(const Problem& problem, bool by_programs, const std::function<bool()>& still_wanted);

    // The cell with this pattern. Nothing where a facet lies on several walls or a gate vanishes on the whole cell, so
    // that it is not plain what is behind; by programs also where floats do not prove everything, or where no point of
    // the cell is found on the way through two others, which generators do not need. Throws Stopped where it is not
    // wanted any more, and then whenever it is asked again.
    std::optional<NamedCell> look_at(const std::uint8_t* pattern, const double* from, const double* to,
                                     const std::function<bool()>& still_wanted);

  private:
    const Problem& problem_;
    StopSignal stop_;
    std::optional<LpWalk> programs_;
    LpWalk::CellPointer root_;
    std::vector<double> from_, to_;

    std::optional<NamedCell> by_programs(const std::uint8_t* pattern);
    std::optional<NamedCell> by_generators(const std::uint8_t* pattern) const;
    void watch(const std::function<bool()>& still_wanted, const std::function<void()>& work);
};

}  // namespace polyfold
