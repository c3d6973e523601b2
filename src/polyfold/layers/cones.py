"""A layer for a given cone: its truncation map keeps the cone forward of a point and collapses the one behind it.

The cone at p around the axis h with aperture theta holds the points x whose x - p is at most theta / 2 away from h.
With u = (1, ..., 1) / sqrt(n), the widest such cone around u in the positive orthant has the aperture theta_n,
tan(theta_n / 2) = 1 / sqrt(n - 1). So a rotation R with R h = u, followed by W_theta = u u^T + lambda (1 - u u^T) with
lambda = min(1, tan(theta_n / 2) / tan(theta / 2)), takes the cone into the positive orthant and the one behind it into
the negative one. The weights are the first m rows of W_theta R, and zeros below if m > n.
"""

from __future__ import annotations

from math import isfinite, pi, sqrt, tan
from numbers import Real
from typing import Any

import numpy as np

from polyfold._base.inputs import real_array
from polyfold._base.types import Array
from polyfold.errors import ShapeError
from polyfold.exact.rational_arrays import nearest, product, rationals
from polyfold.exact.tolerances import CONE_DRAWN_IN
from polyfold.layers.one_map import TruncationMap, truncation_map


def cone_layer(point: Any, axis: Any, aperture: float, *, gates: int | None = None) -> TruncationMap:
    """The layer whose truncation map is the identity on a cone and constant on the opposite one.

    On the cone forward of `point` tau(x) = W^+ W x, on the one behind it tau(x) = W^+ W p. With as many gates as
    dimensions, or more, that is x and p; with fewer it is their projection on the row space of W. Biases are rounded to
    floats, so all of this is up to rounding; points behind p go to one and the same float, unless they are so near to p
    that rounding takes them out of the cone.

    Parameters
    ----------
    point: p, (n,).
    axis: h, (n,), of any length but zero.
    aperture: theta, the full opening angle, between 0 and pi.
    gates: m, n unless given.

    >>> import numpy as np
    >>> tau = cone_layer([1.0, 2.0], [0.0, 1.0], np.pi / 2)
    >>> tau([[1.5, 4.0], [1.5, 0.0], [0.5, -3.0]]).round(9).tolist()
    [[1.5, 4.0], [1.0, 2.0], [1.0, 2.0]]
    """
    p, h = (
        real_array("the cone's point is no array of numbers", point),
        real_array("its axis is no array of numbers", axis),
    )
    if p.ndim != 1 or not len(p) or h.shape != p.shape:
        raise ShapeError(f"a cone needs a point and an axis of one length; their shapes are {p.shape} and {h.shape}")
    if not (np.isfinite(p).all() and np.isfinite(h).all() and h.any()):
        raise ShapeError("a cone's point and axis must be finite, and its axis not zero")
    if not isinstance(aperture, Real) or not isfinite(aperture) or not 0 < aperture < pi:
        raise ShapeError(f"aperture={aperture!r} must be an angle between 0 and pi: the whole opening of the cone")
    n = len(p)
    m = n if gates is None else gates
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise ShapeError(f"gates={gates!r} must be a positive whole number")
    turned = rotation_to_diagonal(h / np.abs(h).max())
    wide = sqrt(n - 1) * tan(aperture / 2) / (1 - CONE_DRAWN_IN)
    slope = 1 / wide if wide > 1 else 1.0
    across = turned - turned.mean(axis=0)
    weight = np.zeros((int(m), n))
    weight[: min(m, n)] = (turned.mean(axis=0) + slope * across)[:m]
    return truncation_map(weight, nearest(-product(rationals(weight), rationals(p))))


def rotation_to_diagonal(direction: Array) -> Array:
    """A rotation that takes a direction to (1, ..., 1) / sqrt(n); in one dimension maybe a reflection.

    >>> rotation_to_diagonal(np.array([-2.0])).tolist()
    [[-1.0]]
    """
    n = len(direction)
    h, u = direction / np.linalg.norm(direction), np.full(n, 1 / sqrt(n))
    if n == 1:
        return np.array([[np.sign(h[0])]])
    # Two reflections make a rotation. Which two depends on the side, so that no small difference is divided by.
    if h @ u >= 0:
        return _reflection(h + u) @ _reflection(h)
    fixing = np.zeros(n)
    fixing[:2] = 1.0, -1.0
    return _reflection(fixing) @ _reflection(h - u)


def _reflection(normal: Array) -> Array:
    return np.asarray(np.eye(len(normal)) - 2 * np.outer(normal, normal) / (normal @ normal))
