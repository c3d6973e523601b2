// A run with masks of facets that are long enough.
#pragma once

#include "geometry/base/errors.hpp"
#include "geometry/cells/cell.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

// Bit masks of facets are as short as they can be; a cell with more facets than that is rare and starts the
// run again.
template <class Attempt>
auto with_enough_facets(Attempt attempt) {
    try {
        return attempt.template operator()<1>();
    } catch (const TooManyFacets&) {
    }
    try {
        return attempt.template operator()<4>();
    } catch (const TooManyFacets&) {
    }
    try {
        return attempt.template operator()<16>();
    } catch (const TooManyFacets&) {
    }
    try {
        return attempt.template operator()<64>();
    } catch (const TooManyFacets&) {
        throw TooLarge("a cell has more than 4,096 facets: choose a smaller domain");
    }
}

}  // namespace polyfold
