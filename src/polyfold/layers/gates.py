"""The signs of all gates at points of data, as truncation maps see them.

Gates of map l look at W^(l) x^(tau,l-1) + b^(l). If all layers before l are surjective, that is the pre-activation of
the network itself, and its sign is decided: by floats with a bound on their error, and in rationals where that is not
enough. Behind a layer that is not surjective states are floats, and so are the signs of what they give, unless
states are computed in rationals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.exact.rational_arrays import Rationals, product, rationals
from polyfold.layers.result import Truncation
from polyfold.program.passes.bounded_layers import bounded_pass, in_floats

Signs = npt.NDArray[np.int8]


def exact_gate_signs(found: Truncation, states: Sequence[Rationals]) -> list[Signs]:
    """The same from states in rationals: all of them are decided."""
    signs = []
    for tau, state in zip(found.maps, states, strict=False):
        weight, bias = tau.exact
        signs.append(_signs(product(weight, state.T).T + bias))
    return signs


def gate_signs(found: Truncation, states: Sequence[Array]) -> tuple[list[Signs], tuple[bool, ...]]:
    """-1, 0 or 1 for every point and gate (n, m) of each hidden layer, and for which layers they are decided."""
    hidden = len(found.maps)
    decided = tuple(k <= found.exact_layers for k in range(hidden))
    in_floats_only = [
        np.sign(tau.coordinates(state)).astype(np.int8) for tau, state in zip(found.maps, states, strict=False)
    ]
    proved = _decided(found, states[0], min(found.exact_layers + 1, hidden))
    return [*proved, *in_floats_only[len(proved) :]], decided


def _decided(found: Truncation, points: Array, layers: int) -> list[Signs]:
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
            sign[rows] = _signs(z.T)
    return signs


def _signs(values: Rationals) -> Signs:
    found: Signs = (values > 0).astype(np.int8) - (values < 0).astype(np.int8)
    return found
