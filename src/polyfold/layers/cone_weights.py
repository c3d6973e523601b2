"""Weights of a layer whose truncation map keeps one circular cone and collapses the opposite one.

The cone with base p, unit axis h and aperture theta is {x : angle(x - p, h) <= theta / 2}. The positive orthant of
R^n holds the circular cone around e = (1, ..., 1) / sqrt(n) with aperture theta_n = 2 arcsin(1 / sqrt(n)). A rotation
R takes h to e, and a shrinking lambda of everything across e takes the wider cone into the orthant: W = (lambda I +
(1 - lambda) e e') R and b = -W p. Then W x + b >= 0 on the cone and <= 0 on the opposite one.

`pf.layers.cone_layer` makes the same layer as a truncation map; here its inverse, in closed form, links one layer to
the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import DataError
from polyfold.layers.cones import rotation_to_diagonal


@dataclass(frozen=True, eq=False)
class Cone:
    """A circular cone: base (n,), axis (n,) of length one, aperture between 0 and pi."""

    base: Array
    axis: Array
    aperture: float

    def __post_init__(self) -> None:
        if not 0 < self.aperture < np.pi:
            raise DataError(f"an aperture of {self.aperture:g} is no cone's: it lies between 0 and pi")
        length = float(np.linalg.norm(self.axis))
        if not length > 0:
            raise DataError("the axis of a cone must not be zero")
        object.__setattr__(self, "axis", self.axis / length)

    @cached_property
    def shrinking(self) -> float:
        """lambda <= 1: how much the cone is narrowed so that it fits into the orthant."""
        n = len(self.axis)
        return 1.0 if n == 1 else min(1.0, 1.0 / (np.sqrt(n - 1.0) * np.tan(self.aperture / 2)))

    @cached_property
    def rotation(self) -> Array:
        """R in SO(n) with R h = (1, ..., 1) / sqrt(n). In one dimension it is the sign of h."""
        return rotation_to_diagonal(self.axis)

    @cached_property
    def weights(self) -> Array:
        """W (n, n)."""
        return _stretched(self.shrinking, len(self.axis)) @ self.rotation

    @cached_property
    def inverse(self) -> Array:
        """The inverse of W, in closed form."""
        return self.rotation.T @ _stretched(1 / self.shrinking, len(self.axis))

    @property
    def bias(self) -> Array:
        """b = -W p."""
        return -self.weights @ self.base


def _stretched(factor: float, n: int) -> Array:
    """1 along (1, ..., 1), the factor across it."""
    found: Array = factor * np.eye(n) + (1 - factor) / n
    return found
