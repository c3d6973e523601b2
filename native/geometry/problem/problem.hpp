// What the engine is asked: a program of gates and a domain, as plain numbers.
#pragma once

#include <vector>

namespace polyfold {

// A matrix applied to one source. Source 0 is the network's input, source s the output of stage s.
struct Block {
    int source = 0;
    int columns = 0;
    std::vector<double> by_column;  // entry (i, j) at [j * width + i]: the engine walks columns
    // The rows of the entries that are not zero, column by column, and where each column's begin, with their count
    // behind the last; nothing where these are not few (see row_facts.hpp).
    std::vector<int> rows, start;
};

// Gates that are decided together. Stage 0 is the domain: its "gates" are the rows that must be >= 0.
struct Stage {
    int width = 0;
    int first_wall = 0;  // wall id of its first row
    int terms = 0;       // bounds the roundings behind one entry of a form: products, sums, the slope, the bias
    std::vector<Block> blocks;
    std::vector<double> bias;
    std::vector<double> slope_on, slope_off;
    std::vector<double> parameter_rows;  // added to the affine forms; width x (dim + 1), empty if there are none
    // What is known of its rows beforehand (see row_facts.hpp), or nothing: powers of two that divide all entries of a
    // row's form on every cell, and of what it puts out, 0 where there is none; and the first gate with the same wall.
    std::vector<double> grid, grid_out;
    std::vector<int> twin;
};

struct Problem {
    int dim = 0;                // d: parameters
    int input_dim = 0;          // n: network inputs
    std::vector<double> frame;  // x = frame . (u, 1): n x (d + 1), row-major
    bool frame_is_identity = false;
    std::vector<Stage> stages;  // [0] is the domain, its last row is infinity: t >= 0
    int gates = 0;
    bool without_constants =
        false;  // all biases are zero and the frame is linear: every wall passes through the origin

    int rows() const {  // domain rows that the user knows of
        return stages[0].width - 1;
    }
    int infinity_wall() const { return gates + rows(); }
};

}  // namespace polyfold
