// What is known of a stage's rows before there is any cell.
#pragma once

#include "geometry/problem/problem.hpp"

namespace polyfold {

// Finds the grids and the twins of the last stage, what is known of those before it being there, and lists the entries
// of its sparse matrices. See decision 54.
void find_row_facts(Problem& problem);

}  // namespace polyfold
