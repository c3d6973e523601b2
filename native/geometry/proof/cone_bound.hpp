// Lower bounds, proved in floats, of linear forms on a polyhedral cone that is given by few rows.
#pragma once

#include <vector>

#include "geometry/base/stop_signal.hpp"

namespace polyfold {

// The cone is K = {y : row_i . y >= 0 for all i}, y = (u, t) or any other coordinates. The rows are floats that may
// each be off by `error` in every entry; everything that is said to be proved holds for all rows within these errors.
//
// A functional `height` cuts K in a bounded set, height . y = 1, whose corners a simplex method walks. What it finds is
// a proposal: a form is written as non-negative multiples of rows, plus a multiple of the height, plus a remainder that
// is computed with a bound of its rounding, and K's own extent bounds what the remainder can do. No equation has to be
// solved with a guarantee.
class ConeBound {
  public:
    explicit ConeBound(const StopSignal& stop) : stop_(stop) {}

    // Start anew with cones in so many coordinates.
    void clear(int coordinates);
    // `error` bounds the errors of all entries. Returns where to write the entries.
    double* add_row(double error);
    int coordinates() const { return n_; }
    int rows() const { return static_cast<int>(error_.size()); }
    const double* row(int i) const { return rows_.data() + i * n_; }
    double error(int i) const { return error_[i]; }

    // Choose the height and find K's extent from a point strictly inside all rows and of positive height. False if
    // floats do not prove that the height is positive on K but at the origin, or on the part of K that `upper_half`
    // looks at.
    bool enclose(const double* height, const double* inside, bool upper_half);

    // lowest[k] * height(y) <= y_k <= highest[k] * height(y) on K; reach[k] is the larger of their sizes. Proved. If
    // only the upper half was looked at, this and what is proved below holds for those y in K that have positive
    // height.
    const std::vector<double>& lowest() const { return lowest_; }
    const std::vector<double>& highest() const { return highest_; }
    const std::vector<double>& reach() const { return reach_; }
    double total_reach() const { return total_reach_; }

    // Whether form . y > 0 is proved for all y in K but the origin, for all forms within `error` of this one.
    bool proves_positive(const double* form, double error);

    // Add all corners met so far, each at height one, to a point.
    void add_corners(double* point) const;
    // The same for those at which a row is tight.
    void add_corners_on(int row, double* point) const;

    // A point with row_i . y < 0 and, nearly, >= 0 for all other rows, by floats; false if none was found.
    bool beyond(int i, double* point);

  private:
    // d rows that are tight and the inverse of the matrix of these rows and the height: d edges and the corner itself.
    struct Corner {
        std::vector<int> rows;
        std::vector<double> inverse;  // column by column: n numbers an edge, the corner last
    };

    const StopSignal& stop_;
    int n_ = 0;
    std::vector<double> rows_, error_;
    std::vector<double> height_;
    std::vector<Corner> corners_;
    int corners_used_ = 0;
    Corner walker_;
    std::vector<double> multipliers_, unit_, outward_;
    std::vector<double> lowest_, highest_, reach_;
    double total_reach_ = 0;

    double* edge(Corner& corner, int k) const { return corner.inverse.data() + k * n_; }
    const double* edge(const Corner& corner, int k) const { return corner.inverse.data() + k * n_; }
    double product(const double* a, const double* b) const;
    bool first_corner(const double* inside);
    int first_row_met(const Corner& corner, const double* direction, double* step, int ignored = -1) const;
    void exchange(Corner& corner, int k, int entering) const;
    bool descend(const double* form);
    bool descend_beyond(int i, double* point);
    void keep(const Corner& corner);

    struct Remainder {
        double value = 0;  // at the corner: the multiple of the height
        double doubt = 0;  // what the remainder and the rows' errors may take away, for a given reach
    };
    Remainder remainder(const double* form, const double* reach, double total_reach) const;
};

}  // namespace polyfold
