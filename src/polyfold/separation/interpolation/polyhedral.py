"""Two classes, one of them in a polyhedral cone or a simplex: two hidden layers.

The first layer has the facets as its weights. All of the inner class becomes zero, and every point of the other class
has a positive entry: the sum of all entries tells them apart, so the truncated data are linearly separable. The
second layer is that of a circular cone in R^m around the direction (-1, ..., -1): it takes the outer class to the
cone's base and leaves the inner one where it is. An affine layer takes both points to their targets.

A cone has m <= d0 facets, a simplex d0 + 1: then the first layer makes room, d0 -> d0 + 1 -> d0 + 1 -> 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.errors import DataError
from polyfold.layers.cone_weights import Cone
from polyfold.separation.cone import cone_around
from polyfold.separation.data import LabelledData, only_two, told_apart
from polyfold.separation.hyperplanes import least_cosine
from polyfold.separation.interpolation.classifier import Collapse, Interpolant, Kind, assembled, checked_targets
from polyfold.separation.polyhedral import in_users_unit
from polyfold.separation.polyhedral_result import PolyhedralSeparability
from polyfold.separation.simplex import simplex_around

Array = npt.NDArray[np.float64]


def interpolate_cone(
    X: Any, y: Any, *, inside: Any = None, targets: Any = None, max_seconds: float | None = 60.0
) -> Interpolant:
    """A network d0 -> m -> m -> 2 with zero cost for two classes, one of them in a polyhedral cone with m <= d0 facets.

    Parameters
    ----------
    inside, max_seconds: as of `pf.separation.cone`.
    targets: (2, k), the outputs for the sorted labels; unit vectors if not given.

    >>> crossed = interpolate_cone([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> crossed.predict([[0, 0], [1, 1], [0, 1], [1, 0]]).tolist()
    [0, 0, 1, 1]
    """
    data = only_two(told_apart(X, y), "separability by a polyhedral cone")
    goals = checked_targets(data, targets)
    return polyhedral("cone", data, cone_around(data, inside, max_seconds), goals)


def interpolate_simplex(
    X: Any, y: Any, *, inside: Any = None, targets: Any = None, max_seconds: float | None = 60.0
) -> Interpolant:
    """A network d0 -> d0 + 1 -> d0 + 1 -> 2 with zero cost for two classes, one of them in a simplex: concentric data.

    Parameters
    ----------
    inside, max_seconds: as of `pf.separation.simplex`.
    targets: (2, k), the outputs for the sorted labels; unit vectors if not given.

    >>> ring = [[3, 0], [-3, 0], [0, 3], [0, -3], [2, 2], [-2, 2], [2, -2], [-2, -2]]
    >>> found = interpolate_simplex([[0, 0], *ring], ["core"] + ["ring"] * 8)
    >>> found, found.predict([[0.1, 0]]).tolist()
    (Interpolant (simplex): 2 -> 3 -> 3 -> 2, training cost ..., ['core'])
    """
    data = only_two(told_apart(X, y), "separability by a simplex")
    goals = checked_targets(data, targets)
    return polyhedral("simplex", data, simplex_around(data, inside, max_seconds), goals)


def polyhedral(kind: Kind, data: LabelledData, found: PolyhedralSeparability, goals: Array) -> Interpolant:
    """The network of a cone or simplex that was found."""
    if found.status != "separable":
        raise DataError(f"no {kind} was found: {found.reason}")
    inner = data.row_of(found.inside)
    outer = 1 - inner
    lengths = np.linalg.norm(found.weights, axis=1)
    weights, bias = found.weights / lengths[:, None], found.bias / lengths
    states = np.maximum(data.points.floats @ weights.T + bias, 0.0)
    sums = states[data.members[outer]].sum(axis=1)
    if np.any(states[data.members[inner]]) or not sums.min() > 0:
        raise DataError(
            f"the {kind} separates the classes by less than roundings: scale the features to similar ranges"
        )
    facets = len(bias)
    base = np.full(facets, sums.min() / (2 * facets))
    axis = np.full(facets, -1 / np.sqrt(facets))
    cosine = least_cosine(axis, states[data.members[outer]] - base, states[data.members[inner]] - base)
    narrowest = 2 * float(np.arccos(min(cosine, 1.0)))
    cone = Cone(base, axis, 2 * float(np.arctan(2 * np.tan(narrowest / 2))) or np.pi / 2)
    hidden = [(weights, bias), (cone.weights, cone.bias)]
    collapse = Collapse(data.labels[outer], cone, None)
    return assembled(kind, data, goals, hidden, [collapse], in_users_unit(data, found))
