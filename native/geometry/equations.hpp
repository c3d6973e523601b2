// A generator as the solution of equations: how well its floats are known, and what it is exactly.
#pragma once

#include <memory>

#include "geometry/cell.hpp"
#include "geometry/linear_bound.hpp"

namespace polyfold {

// The walls through a generator vanish there, and it is zero at the pivots of the cell's lines. (A line itself is the
// solution with its own pivot left free, and all of the cell's facets contain it.)
template <int Words>
class Equations {
  public:
    explicit Equations(const Problem& problem) : problem_(problem), bound_(problem.dim + 1) {}

    static constexpr int no_line = -1;

    struct Settled {
        double error;
        std::shared_ptr<const ExactVector> exact;  // only where it had to be found
    };

    // How well a fresh point is known before anybody looks at its equations.
    struct Guess {
        double error;   // bounds the error of every coordinate; infinity where nothing is known
        bool rough;     // the point itself says nothing
        double wanted;  // an error up to this is good enough
    };

    // Normalise a fresh point and bound its error: by the guess if that is good enough, else by the equations. Where
    // floats know the point badly, or not at all, find the exact solution and round that.
    Settled settle(const Cell<Words>& cell, const Mask<Words>& facets, int pivot, bool infinite, Guess guess,
                   double* point);

    // The first part of that: what the point is off by the guess alone, or unknown where that is not good enough.
    double inherit(int pivot, bool infinite, const Guess& guess, double* point) const;

    // The bound that the equations of a generator of the frame give.
    double error_at(const Cell<Words>& cell, const Frame& frame, int generator, const Mask<Words>& facets) {
        return error_of(cell, facets, no_line, frame.generators.point(generator)).all;
    }

    std::shared_ptr<const ExactVector> solve(const Cell<Words>& cell, const Mask<Words>& facets, int pivot,
                                             bool infinite) const;

    // The exact coordinates of a generator of the frame, found once.
    const ExactVector& exact(const Cell<Words>& cell, Frame& frame, int generator, const Mask<Words>& facets) const {
        auto& known = frame.generators.exact[generator];
        if (!known) known = solve(cell, facets, no_line, frame.generators.at_infinity[generator]);
        return *known;
    }

    // On which side of a facet's wall the cell lies.
    int side(const Cell<Words>& cell, const FacetSlot& slot) const {
        return slot.wall >= problem_.gates || cell.on(slot.wall) ? 1 : -1;
    }

  private:
    const Problem& problem_;
    LinearBound bound_;

    // A vertex far out needs its last coordinate to some relative accuracy as well.
    bool is_known(int pivot, bool infinite, double all, double last, double wanted, const double* point) const {
        return all < wanted && (infinite || pivot != no_line || point[problem_.dim] * wanted > last);
    }
    LinearBound::Bound error_of(const Cell<Words>& cell, const Mask<Words>& facets, int pivot, const double* point);
};

extern template class Equations<1>;
extern template class Equations<4>;
extern template class Equations<16>;
extern template class Equations<64>;

}  // namespace polyfold
