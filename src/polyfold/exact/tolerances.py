"""Every tolerance of polyfold, by name. A number that decides "equal enough" lives here and nowhere else.

None of these decides a gate's sign: that is done exactly. They say when an import counts as faithful, and when a
check in floats passes.
"""

from __future__ import annotations

# Two float64 evaluations of one network add the same numbers in another order. Relative to the largest value
# met on the way, that costs a few hundred roundings of 1e-16 each; a wrong weight costs far more.
IMPORT_FLOAT64 = 1e-9

# The same, where the original computes in float32 (roundings of 6e-8); the worst model measured needs 1e-6.
IMPORT_FLOAT32 = 1e-5

# Float16 originals round every value to about 5e-4 of itself.
IMPORT_FLOAT16 = 3e-2

# Maps of neighbouring cells are two float products that differ in one term; their values on the facet agree up to
# the roundings of both, relative to the sizes of the terms that are added.
CONTINUITY = 1e-8

# Volumes are sums of determinants of float vertices, each right to a few roundings times the cell's condition.
VOLUME_SUM = 1e-6

# What an ONNX BatchNormalization adds to the variance where the file does not say: the operator's own default.
ONNX_BATCH_NORM_EPSILON = 1e-5
