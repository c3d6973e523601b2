"""Floats with a bound on how far each lies from the number that it stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array


@dataclass(frozen=True, eq=False)
class BoundedValues:
    """Rows of values and, for each, how far the true value can lie from it."""

    values: Array
    errors: Array

    @property
    def certain(self) -> npt.NDArray[np.bool_]:
        """Where the sign is proved: the value is farther from zero than its error, or is exactly zero."""
        sure: npt.NDArray[np.bool_] = (np.abs(self.values) > self.errors) | (self.errors == 0)
        return sure


def exact_values(values: Array) -> BoundedValues:
    """Floats that are meant as they stand."""
    return BoundedValues(values, np.zeros_like(values))
