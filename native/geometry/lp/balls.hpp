// The largest ball in each of many cells, by small linear programs.
#pragma once

#include <cstdint>
#include <vector>

namespace polyfold {

// Cells {v : A v <= b} with dim coordinates; the rows of cell i are start[i] .. start[i + 1] - 1. A ball of radius r
// around v fits into it where A v + r <= b: rows have length one. All b are at least 0, so that v = 0 lies inside.
struct BallProblems {
    int dim = 0;
    std::int64_t cells = 0;
    const std::int64_t* start = nullptr;
    const double *A = nullptr, *b = nullptr;
};

enum class BallStatus : std::uint8_t { found, endless, failed };

struct Balls {
    std::vector<double>
        numbers;  // dim + 1 for each cell: the centre and the radius; nothing is said where none was found
    std::vector<std::uint8_t> status;
};

// What is found is as good as floats are: its radius is that of a ball that fits, and the multipliers of the program
// say that no larger one does, up to `rounding::fair` of it; where they do not, it has failed.
Balls largest_balls(const BallProblems& problems, int threads);

}  // namespace polyfold
