// Small dense linear programs in floats, from a vertex that is known. What they answer is a proposal: whoever asks
// proves it.
#pragma once

#include <vector>

#include "geometry/problem.hpp"

namespace polyfold {

// {u : form_i . (u, 1) >= 0 for all i}; forms are stored one behind the other, dim + 1 numbers each, the largest linear
// coefficient between a half and one.
struct Polyhedron {
    int dim = 0;
    int rows = 0;
    const double* forms = nullptr;

    const double* form(int row) const { return forms + row * (dim + 1); }
    double value(int row, const double* point) const {
        const double* a = form(row);
        double sum = a[dim];
        for (int k = 0; k < dim; ++k) sum += a[k] * point[k];
        return sum;
    }
};

// A vertex as the rows that meet in it, in floats.
struct Corner {
    std::vector<int> rows;
    std::vector<double> point;
};

class Simplex {
  public:
    explicit Simplex(const StopSignal& stop) : stop_(stop) {}

    enum class Result { optimal, stopped, unbounded, failed };

    // Walk from corner to corner uphill along `objective` (dim coefficients). Stops early at the first corner where
    // objective . point + constant > enough. Row `ignored` (or none, -1) is no constraint.
    Result maximise(const Polyhedron& cell, Corner& corner, const double* objective, double constant, double enough,
                    int ignored = -1);

    // After an optimal result: the objective is sum_k multipliers[k] * (linear part of row corner.rows[k]), all <= 0.
    const std::vector<double>& multipliers() const { return multipliers_; }
    // After an unbounded result: the direction in which the objective grows for ever.
    const std::vector<double>& direction() const { return direction_; }

  private:
    const StopSignal& stop_;
    std::vector<double> inverse_;  // column k: the edge that leaves row k of the corner
    std::vector<double> work_, multipliers_, direction_, rates_;
    std::vector<char> tight_;

    bool factorise(const Polyhedron& cell, const Corner& corner);
    void place(const Polyhedron& cell, Corner& corner) const;
    void replace(const Polyhedron& cell, Corner& corner, int leaving, int entering);
};

}  // namespace polyfold
