"""A classifier with zero training error by whichever construction applies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.errors import DataError
from polyfold.separation.cone import cone_around
from polyfold.separation.data import LabelledData, only_two, told_apart
from polyfold.separation.interpolation.classifier import Interpolant, checked_targets
from polyfold.separation.interpolation.clustered import from_clusters
from polyfold.separation.interpolation.polyhedral import polyhedral
from polyfold.separation.interpolation.sequential import built, checked_width
from polyfold.separation.sequential import sequence_of
from polyfold.separation.simplex import simplex_around

Array = npt.NDArray[np.float64]


def interpolate(
    X: Any, y: Any, *, width: int | None = None, targets: Any = None, max_seconds: float | None = 60.0
) -> Interpolant:
    """A ReLU network that has the target of its class at every point of X, without training.

    Tried in turn: clustered data, sequentially separable data, and for two classes a polyhedral cone and a simplex
    around one of them. If none applies, the error says why, for each of them.

    Parameters
    ----------
    X, y: points (n, d0) and their labels (n,).
    width: of the hidden layers, for the first two; d0 if not given. It must be at least the number of classes.
    targets: (Q, m), the outputs for the sorted labels; unit vectors if not given.
    max_seconds: for each question that a search has to answer.

    >>> interpolate([[0, 0], [1, 0], [5, 0], [5, 1]], ["a", "a", "b", "b"]).kind
    'clustered'
    >>> interpolate([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]).kind
    'cone'
    """
    data = told_apart(X, y)
    goals = checked_targets(data, targets)
    reasons: list[str] = []
    for attempt in (_clustered, _sequential, _cone, _simplex):
        try:
            return attempt(data, goals, width, max_seconds)
        except DataError as error:
            reasons.append(f"{attempt.__name__[1:]}: {error}")
    raise DataError("no construction applies to these data. " + ". ".join(reasons))


def _clustered(data: LabelledData, goals: Array, width: int | None, max_seconds: float | None) -> Interpolant:
    return from_clusters(data, None, width, goals)


def _sequential(data: LabelledData, goals: Array, width: int | None, max_seconds: float | None) -> Interpolant:
    wide = checked_width(data, width)
    answer = sequence_of(data, data.centre, max_seconds)
    if answer.status != "separable":
        raise DataError(answer.reason)
    return built("sequential", data, answer.steps, None, wide, goals)


def _cone(data: LabelledData, goals: Array, width: int | None, max_seconds: float | None) -> Interpolant:
    return polyhedral("cone", data, cone_around(only_two(data, "a polyhedral cone"), None, max_seconds), goals)


def _simplex(data: LabelledData, goals: Array, width: int | None, max_seconds: float | None) -> Interpolant:
    return polyhedral("simplex", data, simplex_around(only_two(data, "a simplex"), None, max_seconds), goals)
