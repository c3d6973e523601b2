// New generators where a row of a frame cuts an edge, and the signs of rows at generators.
#pragma once

#include <vector>

#include "geometry/cells/equations.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

// How far along an edge a row vanishes, and what that may be off.
struct Share {
    double share, error;

    // The row's values at both ends, by their sizes, and what these may be off; unknown where that is too much.
    static Share between(double from, double to, double from_doubt, double to_doubt) {
        // Two quotients that do not wait for each other. The error wants 1 / (height - doubts), which is less than
        // (1 + 2 r) / height for r = doubts / height up to a half.
        const double height = from + to, share = from / height, inverse = 1 / height;
        const double relative_doubt = (from_doubt + to_doubt) * inverse * (1 + 0x1p-20);
        if (!(relative_doubt < 0.25)) return {share, rounding::unknown};
        const double error = ((1 - share) * from_doubt + share * to_doubt) * inverse * (1 + 2 * relative_doubt);
        return {share, error * (1 + 0x1p-19) + rounding::bound(4)};
    }

    // What the point there may be off if the ends are off so much, at this distance (in the largest coordinate).
    double error_of_point(double from_error, double to_error, double distance) const {
        return ((1 - share) * from_error + share * to_error + error * (distance + from_error + to_error)) *
                   (1 + 0x1p-20) +
               rounding::bound(8);  // coordinates are at most one
    }
};

template <int Words>
class Crossing {
  public:
    // Generators are known as well as their signs ask for, or well enough to be handed out.
    explicit Crossing(const Problem& problem, bool hand_out = false)
        : problem_(problem),
          dimensions_(problem.dim + 1),
          hand_out_(hand_out),
          equations_(problem),
          point_(dimensions_) {}

    Equations<Words>& equations() { return equations_; }

    // The generator where the row vanishes on the edge from one where it is positive to one where it is negative. It
    // lies on the facets `mask`, which `cell` knows. Signs of later rows there are found.
    int between(Frame& frame, const Cell<Words>& cell, int above, int below, int row, const Mask<Words>& mask);

    // Values and signs of the rows from `first_row` on at a generator.
    void evaluate(Frame& frame, const Cell<Words>& cell, int generator, const Mask<Words>& mask, int first_row);

    // The sign of a row of the stage's map where the first look at its value does not decide.
    int doubtful_sign(Frame& frame, const Cell<Words>& cell, int generator, const Mask<Words>& mask, int row,
                      double value);

    // A look with the actual magnitudes: 2 if that does not decide either.
    int sign_of(const StageMap& map, int row, const double* point, double error, double value) const;

  private:
    const Problem& problem_;
    const int dimensions_;  // dim + 1
    const bool hand_out_;
    Equations<Words> equations_;
    std::vector<double> point_;  // scratch
};

extern template class Crossing<1>;
extern template class Crossing<4>;
extern template class Crossing<16>;
extern template class Crossing<64>;

}  // namespace polyfold
