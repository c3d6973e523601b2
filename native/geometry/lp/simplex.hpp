// Small dense linear programs in floats, from a vertex that is known. What they answer is a proposal: whoever asks
// proves it.
#pragma once

#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/lp/polyhedron.hpp"

namespace polyfold {

// A vertex as the rows that meet in it, in floats.
struct Corner {
    std::vector<int> rows;
    std::vector<double> point;
};

// Stands at a corner and knows everything from there: with the slacks s_k of the corner's rows as coordinates, every
// row, every coordinate of the point and the objective is constant + sum_k coefficient_k s_k. Edge k is the way along
// which only s_k grows.
class Simplex {
  public:
    explicit Simplex(const StopSignal& stop) : stop_(stop) {}

    // Stand at a corner of a polyhedron, which must stay where it is; false if floats find no corner there.
    bool start(const Polyhedron& cell, const std::vector<int>& corner);

    void leave() { cell_ = nullptr; }
    bool stands() const { return cell_ != nullptr; }

    enum class Result { optimal, stopped, unbounded, failed };

    // Walk from corner to corner uphill along `objective` (dim coefficients). Stops early at the first corner where
    // objective . point + constant > enough.
    Result maximise(const double* objective, double constant, double enough);
    // Walk towards a row; stops where it is met.
    Result approach(int row);
    // Walk as far beyond a row as the other rows allow; stops behind it.
    Result pass(int row, double enough);

    Corner corner() const;
    const std::vector<int>& rows() const { return tight_; }  // the corner's
    double slack(int row) const { return column(dim_)[row]; }
    double rate(int row, int edge) const { return column(edge)[row]; }  // how fast a row's slack grows along an edge
    double objective_rate(int edge) const { return column(edge)[objective_item()]; }
    const double* rates(int edge) const { return column(edge); }
    // After an unbounded result: the edge that never ends, and whether it is left backwards.
    int endless_edge() const { return endless_; }
    bool endless_backwards() const { return endless_backwards_; }
    // The point a step along an edge, to either side.
    void point_along(int edge, double step, double* point) const;

    // The way along an edge, or backwards, behind the corner's own row: which row is crossed first, and where the next.
    struct Way {
        int first = -1;
        double step = 0, next = 0;  // infinite if there is none
    };
    Way look_along(int edge, bool backwards);

  private:
    const StopSignal& stop_;
    const Polyhedron* cell_ = nullptr;
    int dim_ = 0;
    int stride_ = 0;             // rows, then the point's coordinates, then the objective
    std::vector<double> table_;  // a column an edge, and one for the constants
    std::vector<double> steps_, divisors_, linear_;
    double constant_ = 0;
    std::vector<int> tight_;
    int pivots_ = 0;  // since the table was made
    int endless_ = -1;
    bool endless_backwards_ = false;

    double* column(int k) { return table_.data() + static_cast<std::size_t>(k) * stride_; }
    const double* column(int k) const { return table_.data() + static_cast<std::size_t>(k) * stride_; }
    int coordinate_item(int k) const { return cell_->padded_rows() + k; }
    int objective_item() const { return cell_->padded_rows() + dim_; }

    void set_objective();
    void pivot(int edge, int entering);
    void measure_steps(int edge, bool backwards);
    Result climb(int goal, int sign, int ignored, double enough);
};

}  // namespace polyfold
