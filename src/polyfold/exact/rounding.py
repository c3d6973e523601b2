"""How far float64 can be trusted: a-priori bounds on rounding errors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Half a unit in the last place of 1.0.
UNIT = 2.0**-53

# Bounds below this could themselves have lost their relative accuracy to underflow.
TINY = 2.0**-960

# The least float above zero: a product that underflows loses less than that.
LEAST = 2.0**-1074

# The least float that has all its digits: numbers below are rounded by more than a part of themselves.
LEAST_NORMAL = 2.0**-1022

# Between these, products and sums of a few numbers neither overflow nor lose digits to underflow.
FAR_FROM_OVERFLOW, FAR_FROM_UNDERFLOW = 2.0**900, 2.0**-900


def relative(roundings: int) -> float:
    """A bound on the relative error of that many roundings in a row, with room for rounding the bound itself."""
    return roundings * UNIT * (1 + 2.0**-20)


def rounded_part(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Which part of themselves numbers that were rounded once can be off by: no part at all bounds it below the normal
    floats."""
    return np.where((np.abs(values) < LEAST_NORMAL) & (values != 0), np.inf, relative(2))


def smallest(values: npt.NDArray[np.float64]) -> float:
    """The smallest absolute value but zero: products of larger ones than its own do not underflow."""
    sizes = np.abs(values)
    return float(np.min(sizes, initial=1.0, where=sizes > 0))
