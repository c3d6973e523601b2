// What can go wrong, whoever finds out.
#pragma once

#include <stdexcept>

namespace polyfold {

// A cell outgrew what the engine keeps.
struct TooLarge : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What was given contradicts itself, or the engine does: a list of cells that are none, or a fault of ours.
struct Contradiction : std::logic_error {
    using std::logic_error::logic_error;
};

}  // namespace polyfold
