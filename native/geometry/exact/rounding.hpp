// The one place in the core that knows how far floating point can be trusted.
#pragma once

#include <limits>

namespace polyfold::rounding {

// Half a unit in the last place of 1.0.
inline constexpr double unit = 0x1p-53;

// Bounds the relative error of n roundings in a row (with room for the rounding of the bound itself).
constexpr double bound(int n) {
    return static_cast<double>(n) * unit * (1 + 0x1p-20);
}

// What the value of an affine form may be off, as it is computed at a point: with the form's coefficients known up to
// `form_error`, with `norm` bounding the sum of their sizes, and with coordinates, at most one in size, known up to
// `point_error`, it is at most norm * of_norm(n, point_error) + form_error * of_form(n) + tiny. See decision 46.
constexpr double of_norm(int coordinates, double point_error) {
    return (bound(coordinates + 2) + point_error) * (1 + 0x1p-20);
}
constexpr double of_form(int coordinates) {
    return coordinates * (1 + 0x1p-20);
}

// A bound where none can be given.
inline constexpr double unknown = std::numeric_limits<double>::infinity();

// Where a generator is known less well than this (its largest coordinate lies between a half and one), it is
// worth its exact coordinates: it is nearly degenerate, and most sign tests on it would need them anyway.
inline constexpr double poor = 0x1p-20;

// A vertex that is to be handed out is worth its exact place if its equations know it less well than this, relatively
// to how long the cell is.
inline constexpr double fair = 0x1p-30;

// A vertex of a line or plane is worth its exact place if the parameters, between -1 and 1, are known less well than
// this.
inline constexpr double poor_vertex = 0x1p-20;

// An inherited error up to this will do for a start: a sign that needs to know more looks at the equations itself.
inline constexpr double near = 0x1p-4;

// A vertex whose last coordinate is known relatively to this is on the right side of infinity, and about in its place.
inline constexpr double there = 0x1p-1;

// Products of tiny numbers may round to nothing; no bound that is meant to be positive may be smaller than
// this.
inline constexpr double tiny = 0x1p-960;

// More than a few products can lose by underflow before they are multiplied up.
inline constexpr double least = 0x1p-1070;

// More than any sum of products in the engine can lose by underflow.
inline constexpr double underflow = 0x1p-1000;

// Between these bounds a number and its reciprocal are far from overflow and underflow.
inline constexpr bool is_ordinary(double size) {
    return size > 0x1p-900 && size < 0x1p900;
}

// A cell that fills less of the box around it is too thin for floats to tell its volume by rounded vertices.
inline constexpr double thin = 0x1p-36;

// Sums of numbers below this, and products of one with a coordinate up to one, are far from overflow.
inline constexpr double largest = 0x1p1000;

// Products of two numbers below this are far from overflow.
inline constexpr double largest_factor = 0x1p480;

// What float linear programs take for zero. Their answers are proved or thrown away, so this decides speed only.
inline constexpr double lp_tolerance = 0x1p-34;

}  // namespace polyfold::rounding
