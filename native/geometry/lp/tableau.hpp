// A corner of a cell (a box and rows that are at least 0 in it), with everything as it looks from there.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "geometry/lp/box.hpp"

namespace polyfold {

// Variables are the coordinates, numbered from 0, and then the slack of every row. As many as there are coordinates are
// tight, at one of their bounds: each is an edge, along which it alone moves. The others are a line each: their value
// here, their bounds, and their rates along the edges. A table belongs to its cell and goes on from where it stands,
// whatever is added to the cell.
struct Tableau {
    int dim = 0;
    int lines = 0;
    int stride = 0;               // the lines, and room for more: a multiple of the lanes
    std::vector<double> numbers;  // a column of rates for each edge, then values, lower and upper bounds
    std::vector<int> tight;       // variable, by edge
    std::vector<char> high;       // by edge: whether it is at its upper bound
    std::vector<int> loose;       // variable, by line
    std::vector<int> place;       // by variable: its line, or -1 - its edge
    int pivots = 0;               // since it was made from the rows

    bool stands() const { return dim > 0; }
    void leave() { dim = 0; }

    // A corner of the box, and no rows; with room for so many.
    void start(const Box& box, int rows = 0) {
        dim = box.dim();
        lines = pivots = 0;
        stride = padded(rows);
        numbers.assign(static_cast<std::size_t>(stride) * (dim + 3), 0.0);
        for (int line = 0; line < stride; ++line) make_empty(line);
        tight.resize(dim);
        place.resize(dim);
        high.assign(dim, 0);
        loose.clear();
        for (int k = 0; k < dim; ++k) {
            tight[k] = k;
            place[k] = -1 - k;
        }
    }

    double* rates(int edge) { return numbers.data() + static_cast<std::size_t>(edge) * stride; }
    const double* rates(int edge) const { return numbers.data() + static_cast<std::size_t>(edge) * stride; }
    double* values() { return rates(dim); }
    const double* values() const { return rates(dim); }
    double* lower() { return rates(dim + 1); }
    const double* lower() const { return rates(dim + 1); }
    double* upper() { return rates(dim + 2); }
    const double* upper() const { return rates(dim + 2); }

    int variables() const { return dim + lines; }

    // The slack of one more row, whose rates and value are known.
    void add_row(const double* rates_by_edge, double value, double sign) {
        if (lines == stride) widen(stride + lanes);
        for (int k = 0; k < dim; ++k) rates(k)[lines] = sign * rates_by_edge[k];
        values()[lines] = sign * value;
        lower()[lines] = 0;
        upper()[lines] = std::numeric_limits<double>::infinity();
        loose.push_back(variables());
        place.push_back(lines);
        ++lines;
    }

    // Keep only the slacks of these rows (ascending); the others must be loose.
    void keep_rows(const std::vector<int>& kept) {
        std::vector<int> name(variables(), -1), lines_kept;
        for (int k = 0; k < dim; ++k) name[k] = k;
        for (std::size_t i = 0; i < kept.size(); ++i) name[dim + kept[i]] = dim + static_cast<int>(i);
        for (int line = 0; line < lines; ++line)
            if (name[loose[line]] >= 0) lines_kept.push_back(line);
        for (int k = 0; k < dim + 3; ++k)
            for (std::size_t i = 0; i < lines_kept.size(); ++i) rates(k)[i] = rates(k)[lines_kept[i]];
        for (std::size_t i = 0; i < lines_kept.size(); ++i) loose[i] = name[loose[lines_kept[i]]];
        lines = static_cast<int>(lines_kept.size());
        loose.resize(lines);
        place.assign(variables(), 0);
        for (int line = 0; line < lines; ++line) place[loose[line]] = line;
        for (int k = 0; k < dim; ++k) {
            tight[k] = name[tight[k]];
            place[tight[k]] = -1 - k;
        }
        for (int line = lines; line < stride; ++line) make_empty(line);
    }

  private:
    // Lines without a variable never end anything.
    void make_empty(int line) {
        for (int k = 0; k <= dim; ++k) rates(k)[line] = 0;
        lower()[line] = -std::numeric_limits<double>::infinity();
        upper()[line] = std::numeric_limits<double>::infinity();
    }

    void widen(int wider) {
        std::vector<double> wide(static_cast<std::size_t>(wider) * (dim + 3), 0.0);
        for (int k = 0; k < dim + 3; ++k)
            std::copy_n(rates(k), lines, wide.begin() + static_cast<std::ptrdiff_t>(k) * wider);
        numbers = std::move(wide);
        stride = wider;
        for (int line = lines; line < stride; ++line) make_empty(line);
    }
};

}  // namespace polyfold
