"""Every tolerance of polyfold, by name. A number that decides "equal enough" lives here and nowhere else.

None of these decides a gate's sign: that is done exactly. They say when an import counts as faithful, when a
check in floats passes, and where floats look for something that is then proved.
"""

from __future__ import annotations

# Two float64 evaluations of one network add the same numbers in another order. Relative to what is added, that costs a
# few hundred roundings of 1e-16 each; a wrong weight costs far more.
IMPORT_FLOAT64 = 1e-9

# The same, where the original computes in float32 (roundings of 6e-8); the worst model measured needs 1e-6.
IMPORT_FLOAT32 = 1e-5

# Float16 originals round every value to about 5e-4 of itself.
IMPORT_FLOAT16 = 3e-2

# An imported network is shaken a few times, to see how far its outputs move when all numbers on the way are off by a
# tolerance; the original may be off by so many times as much.
SHAKEN = 4.0

# Maps of neighbouring cells are two float products that differ in one term; their values on the facet agree up to
# the roundings of both, relative to the sizes of the terms that are added.
CONTINUITY = 1e-8

# Corners of lines' and planes' cells are right to some 1e-12 of a gate's terms; what is nearer to zero than this there
# is looked at in rationals.
NEAR_A_CORNER = 1e-7

# Volumes are sums of determinants of float vertices, each right to a few roundings times the cell's condition.
VOLUME_SUM = 1e-6

# What an ONNX BatchNormalization adds to the variance where the file does not say: the operator's own default.
ONNX_BATCH_NORM_EPSILON = 1e-5

# How far behind a facet to look for its neighbour, as parts of the room that the cell's other walls leave there. The
# shorter the step, the fewer other gates switch; the longer, the surer the signs. Each is a proposal to be proved.
STEPS_ACROSS = (2.0**-34, 2.0**-24, 2.0**-12)

# A solver's multipliers of rows of length one that are smaller than this part of the largest are its rounding errors.
# What the others are is a proposal to be proved.
REAL_MULTIPLIER = 2.0**-24

# A direction of length one along which all walls recede by more than this is one in which a cell never ends.
RECESSION = 1e-7

# A wall nearer than this part of the farthest one's distance does not set the scale of a linear program.
SAME_PLACE = 2.0**-26

# A wall so many times as far away as the nearest one is still seen by a solver that takes 1e20 for infinite.
SOLVER_SEES = 2.0**60

# Directions between points, rounded as differences are, that differ by less (the sine of their angle) are the same.
SAME_DIRECTION = 1e-13

# Coefficients that are known to this part of themselves are good enough to be written down; others are computed again,
# in rationals.
WELL_KNOWN = 2.0**-36

# Attributions are sums of as many products as a network has, and have to add up to what they explain: relative to the
# largest number met on the way.
ADDS_UP = 1e-9

# How far the logarithm of an inscribed box's volume may lie below that of the largest one. That the box lies inside is
# proved; this is only about how large it is.
LOG_VOLUME = 1e-9

# A box that is not proved to lie inside is drawn in by a little more than what it seems to stick out.
DRAWN_IN = 2.0**-40

# How far a box that is proved to hold a cell may stick out, as a part of its side, before exact arithmetic is asked.
SNUG = 2.0**-20

# LAPACK's singular values are off by a small multiple of the roundings of a sum as long as both sides of the matrix;
# this many times as much is generous.
SINGULAR_VALUE_ROUNDINGS = 16

# The nearest point of a polytope, found in floats, may lie outside by this part of its distance: solvers take
# constraints for satisfied within 1e-7. Farther outside it is none, because rounding has left no inside.
NEAREST_POINT = 1e-6

# A matrix whose smallest singular value is a smaller part of its largest one than this is inverted with more digits
# than floats have: they would lose more than half of theirs.
INVERTS_WELL = 2.0**-26

# Numbers that are known to this part of the largest of them are good enough to be rounded to floats.
BALLS_ARE_KNOWN = 2.0**-60

# Where less than this part of a state may be rounding error, going by condition numbers, floats are said to suffice.
STATES_ARE_KNOWN = 1e-4

# The weights of a cone's layer are made for a cone that is wider by this part of its slope, so that no rounding error
# puts a point of its border on the wrong side of a wall.
CONE_DRAWN_IN = 2.0**-40

# Directions along which the rows of a matrix of local maps have less than this part of the largest sum of squares are
# what rounding to float32 leaves: the rows do not reach there. It says how many numbers a row is described by, and
# nothing about the network.
MAPS_REACH = 1e-12

# Points that are proposed in a box keep away from its sides by such a part of it, and points that are proposed beyond a
# wall go back by such a part of the way to it: whichever proves something first.
MARGINS_IN_BOX = (2.0**-6, 2.0**-12, 2.0**-24)
SHARES_BACK = (0.5, 0.125, 2.0**-7)
