"""How far the states are from saying what the layers compute: x^(l) against W^(l) x^(tau,l) + b^(l).

If the weights of all layers up to l are surjective, then W^(l) (W^(l))^+ is the identity and both sides are equal for
every input; that follows from ranks, which are decided in rationals. Where a layer is not, W^(l) x^(tau,l) + b^(l) is
what the layer's values come to if all but the range of W^(l) is lost, and the difference is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.exact.rational_arrays import Rationals, nearest, product
from polyfold.exact.rounding import LEAST
from polyfold.layers.result import Truncation


@dataclass(frozen=True, eq=False)
class Residuals:
    """The proposition at inputs, layer by layer; the outputs are the last entry.

    Attributes
    ----------
    names: of the ReLUs, and "output".
    proved: whether the proposition holds for all inputs, because every hidden layer so far is surjective.
    largest: the largest entry of |x^(l) - (W^(l) x^(tau,l) + b^(l))|. What is proved has rounding errors only.
    scale: the largest entry of |x^(l)|, to compare with.
    exact: whether `largest` was computed in rationals and rounded: 0 is then zero.
    """

    names: tuple[str, ...]
    proved: tuple[bool, ...]
    largest: Array
    scale: Array
    exact: bool

    def __post_init__(self) -> None:
        for array in (self.largest, self.scale):
            array.setflags(write=False)


def residuals(found: Truncation, X: Any, exact: bool) -> Residuals:
    """Measure them, in floats or in rationals."""
    gaps = _in_rationals(found, X) if exact else _in_floats(found, X)
    hidden = len(found.maps)
    proved = tuple(min(k + 1, hidden) <= found.exact_layers for k in range(hidden + 1))
    largest, scale = (np.array([_most(pair[side]) for pair in gaps]) for side in (0, 1))
    return Residuals((*found.names, "output"), proved, largest, scale, exact)


def _in_floats(found: Truncation, X: Any) -> list[tuple[Array, Array]]:
    states = found.states(X)
    value, gaps = states[0], []
    for k, layer in enumerate(found.layers):
        value = value @ nearest(layer.weight).T + nearest(layer.bias)
        if k < len(found.maps):
            value = np.maximum(value, 0.0)
            W, b = found.maps[k].weight, found.maps[k].bias
        else:
            W, b = found.output_weight, found.output_bias
        gaps.append((value - (states[min(k + 1, len(found.maps))] @ W.T + b), value))
    return gaps


def _in_rationals(found: Truncation, X: Any) -> list[tuple[Rationals, Rationals]]:
    states = found.states_exactly(X)
    gaps = []
    for k, z in enumerate(found.program.passes(states[0])):
        if k < len(found.maps):
            value, (W, b) = np.where(z > 0, z, z * 0), found.maps[k].exact
        else:
            value, (W, b) = z, found.exact_output
        gaps.append((value - product(W, states[min(k + 1, len(found.maps))].T) - b[:, None], value))
    return gaps


def _most(values: Array | Rationals) -> float:
    """The largest absolute value, as a float; one that is not zero does not round to it."""
    if values.dtype == np.float64:
        return float(np.abs(values).max(initial=0.0))
    largest = max((abs(value) for value in values.ravel().tolist()), default=0)
    if largest == 0:
        return 0.0
    return max(float(nearest(np.array([largest], dtype=object))[0]), LEAST)
