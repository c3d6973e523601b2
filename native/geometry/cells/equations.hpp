// A generator as the solution of equations: how well its floats are known, and what it is exactly.
#pragma once

#include <memory>

#include "geometry/cells/cell.hpp"
#include "geometry/exact/linear_bound.hpp"
#include "geometry/exact/rounding.hpp"

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

    // How well a fresh point is known before anybody looks at its equations, and what of that is good enough.
    struct Guess {
        double error = rounding::unknown;  // bounds the error of every coordinate
        bool rough = false;                // the point itself says nothing
        double wanted = rounding::poor;    // an error up to this will do; whoever needs to know more asks the equations
        bool last_too = true;              // a vertex far out is wanted to have its last coordinate relatively well
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

    // Whether it is known that one of these facets lies on the wall of a row of the cell's map: the row is another gate
    // with the same wall, or floats hold both forms as they are. Where it is not known it may be so all the same.
    bool is_wall_of_any(const Cell<Words>& cell, const Mask<Words>& facets, int row) const;

    // On which side of a facet's wall the cell lies.
    int side(const Cell<Words>& cell, const FacetSlot& slot) const {
        return slot.wall >= problem_.gates || cell.on(slot.wall) ? 1 : -1;
    }

  private:
    const Problem& problem_;
    LinearBound bound_;

    bool is_known(int pivot, bool infinite, double all, double last, const Guess& wanted, const double* point) const {
        if (infinite || pivot != no_line) return all < wanted.wanted;
        return all < wanted.wanted && point[problem_.dim] * wanted.wanted > (wanted.last_too ? last : 0.0);
    }
    bool is_origin(const Cell<Words>& cell, const Mask<Words>& facets) const;
    bool points_inward(const Cell<Words>& cell, const Mask<Words>& facets, const double* point, double error) const;
    LinearBound::Bound error_of(const Cell<Words>& cell, const Mask<Words>& facets, int pivot, const double* point);
};

extern template class Equations<1>;
extern template class Equations<4>;
extern template class Equations<16>;
extern template class Equations<64>;

}  // namespace polyfold
