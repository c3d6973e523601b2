// The room that a cell has around an inner point: an ellipsoid that reaches as far along every coordinate as the box's
// sides are away, and as far towards every row as that one is. What is said here is for choosing points, which others
// prove.
#pragma once

#include <vector>

#include "geometry/lp/box.hpp"
#include "geometry/lp/forms.hpp"

namespace polyfold {

class Room {
  public:
    Room(const Box& box, const FormList& rows) : box_(box), rows_(rows) {}

    // Around a point at which rows have these values, all positive; rows are taken to be so much nearer than they are.
    // False where floats cannot tell.
    bool look_from(const double* point, const std::vector<double>& values, double share_of_rows);

    // Dim numbers, and then zeros: the way to where cell and box have most room (a step of Newton's towards the
    // analytic centre), after look_from(.., 1).
    const std::vector<double>& way_to_middle();
    // How much of it leads to where there is most (the sum of the logarithms of all distances is largest), and its
    // length in units of the room: below one it is nearly there.
    struct Step {
        double share, length;
    };
    Step best_share() const;

    // The way on which a row falls by about one, and the others, that are near, hardly change.
    const std::vector<double>& way_to_row(int row);
    // By how much they rise on it.
    double rise(int row) const { return rises_[row]; }

  private:
    const Box& box_;
    const FormList& rows_;
    std::vector<double> point_, values_, scales_;
    std::vector<double> scaled_;  // the rows, in units of the room that coordinates have
    std::vector<double> factor_;  // lower, row by row: of the products of the scaled rows, and their distances
    std::vector<double> weights_, rises_, way_;
    double share_ = 1;

    int size() const { return padded(box_.dim() + 1); }
    const double* scaled(int row) const { return scaled_.data() + static_cast<std::size_t>(row) * size(); }
    bool factor();
    void solve(std::vector<double>& sides) const;
    void add_rows(const std::vector<double>& weights);
};

}  // namespace polyfold
