// What is wanted of a walk over cells.
#pragma once

#include "geometry/walk/selection.hpp"

namespace polyfold {

struct WalkOptions {
    const Selection* selection = nullptr;  // visit these cells only
    bool keep_touched = false;             // every generator knows all walls through it, as counting faces needs
    bool hand_out = false;                 // generators are handed out too, so they are wanted to be known well
    int stages = -1;                       // hand cells out when they enter this stage; negative: when all are done
};

}  // namespace polyfold
