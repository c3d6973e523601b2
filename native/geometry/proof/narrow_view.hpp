// A cell as a narrow stage sees it: fewer numbers leave the stage than the cell has dimensions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/problem/stage_map.hpp"
#include "geometry/proof/cone_bound.hpp"

namespace polyfold {

// The form of a wall with the sign `side`, scaled by a power of two, with a bound on the errors of its entries. False
// if it has no ordinary linear coefficient.
bool scaled_form(const StageMap& map, int row, double side, int dim, std::vector<double>& form, double& error);

// Every later gate depends on what leaves the stage alone, so it is constant along directions that leave these numbers
// as they are. Where the cell is unbounded in such a direction, the gate's form is zero at infinity, and floats over
// the inputs cannot tell. Over these numbers they can: the stage's own signs and the later facets are the rows of a
// cone.
class NarrowView {
  public:
    explicit NarrowView(const StopSignal& stop) : cone_(stop) {}

    // Whether a gate depends on nothing but what leaves a stage at or before its own, and that is less than there are
    // dimensions.
    static bool is_narrow(const Problem& problem, int stage, int gate_stage, int row,
                          const std::vector<std::uint8_t>& pattern);

    // Look at a cell from behind a stage. `maps` are those of the cell, `inside` a point of it, and `known` says of
    // each gate whether it has its sign on the whole cell, because it is listed or proved. False if nothing can be
    // proved.
    bool enter(const Problem& problem, int stage, const std::vector<std::shared_ptr<const StageMap>>& maps,
               const std::vector<std::uint8_t>& pattern, const std::vector<char>& known, const double* inside);

    // Whether the form of a gate of this stage or a later one, with the sign `side`, is proved to be positive on the
    // cell.
    bool proves_positive(int stage, int row, double side);

  private:
    int stage_ = 0, dim_ = 0;
    std::vector<int> outputs_;  // gates of the stage that put something out
    Problem behind_;
    std::vector<std::shared_ptr<const StageMap>> maps_;  // of the stages behind
    ConeBound cone_;
    std::vector<double> output_signs_;  // of the outputs on the cell
    std::vector<double> form_, height_, inner_;

    void look_behind(const Problem& problem);
};

}  // namespace polyfold
