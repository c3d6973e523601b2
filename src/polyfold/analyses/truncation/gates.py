"""The signs of all gates at points of data, as truncation maps see them.

Gates of map l look at W^(l) x^(tau,l-1) + b^(l). If all layers before l are surjective, that is the pre-activation of
the network itself, and its sign is decided: by floats with a bound on their error, and in rationals where that is not
enough. Behind a layer that is not surjective states are floats, and so are the signs of what they give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.analyses.stability.layers import bounded_pass, in_floats
from polyfold.analyses.truncation.result import Truncation
from polyfold.exact.rational_arrays import rationals

Signs = npt.NDArray[np.int8]


def gate_signs(found: Truncation, X: Any) -> tuple[list[Signs], tuple[bool, ...]]:
    """-1, 0 or 1 for every point and gate (n, m) of each hidden layer, and for which layers they are decided."""
    states = found.states(X)
    hidden = len(found.maps)
    decided = tuple(k <= found.exact_layers for k in range(hidden))
    in_floats_only = [
        np.sign(tau.coordinates(state)).astype(np.int8) for tau, state in zip(found.maps, states, strict=False)
    ]
    proved = _decided(found, states[0], min(found.exact_layers + 1, hidden))
    return [*proved, *in_floats_only[len(proved) :]], decided


def _decided(found: Truncation, points: npt.NDArray[np.float64], layers: int) -> list[Signs]:
    if not layers:
        return []
    values, errors = bounded_pass(in_floats(found.program, layers), points)
    signs = [np.sign(value).astype(np.int8) for value in values]
    open_points = np.zeros(len(points), dtype=np.bool_)
    for value, error in zip(values, errors, strict=True):
        open_points |= ~(np.abs(value) > error).all(axis=1)
    rows = np.flatnonzero(open_points)
    if len(rows):
        exact = found.program.passes(rationals(points[rows]))
        for sign, z in zip(signs, exact, strict=False):
            sign[rows] = (z.T > 0).astype(np.int8) - (z.T < 0).astype(np.int8)
    return signs
