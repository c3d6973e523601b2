"""Two classes, one of them in a polyhedral cone or a simplex: two hidden layers.

The first layer has the facets as its weights. All of the inner class becomes zero, and every point of the other class
has a positive entry: the sum of all entries tells them apart, so the truncated data are linearly separable. The
second layer is that of a circular cone in R^m around the direction (-1, ..., -1): it takes the outer class to the
cone's base and leaves the inner one where it is. An affine layer takes both points to their targets.

A cone has m <= d0 facets, a simplex d0 + 1: then the first layer makes room, d0 -> d0 + 1 -> d0 + 1 -> 2.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.errors import DataError
from polyfold.layers.cone_weights import Cone
from polyfold.separation.data import LabelledData, only_two
from polyfold.separation.hyperplanes import least_cosine
from polyfold.separation.interpolation.classifier import Collapse, Interpolant, assembled
from polyfold.separation.polyhedral import cone_around, in_users_unit, simplex_around


def from_polyhedron(kind: Literal["cone", "simplex"], given: LabelledData, inside: Any, goals: Array) -> Interpolant:
    """The network of a cone or a simplex around one class."""
    words = {"cone": "separability by a polyhedral cone", "simplex": "separability by a simplex"}
    data = only_two(given, words[kind])
    found = (cone_around if kind == "cone" else simplex_around)(data, inside)
    tick()  # what was ended by the clock is no answer
    if found.verdict != "yes":
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
