"""The last layer in its least-squares form: a linear map W_LS that takes the mean state of each class to its target.

With the means of the classes' last states as columns of M and the targets as columns of Y, W_LS = Y M^+. It has the
least sum of |W m_j - y_j|^2 over the classes, and is zero across the means. If these are linearly independent, every
mean goes to its target, and what is left of the cost is how far states are from the mean of their class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import classes_of, rows_of
from polyfold._base.types import Array, ArrayLike
from polyfold.errors import PolyfoldError, ShapeError
from polyfold.exact.linear_algebra import exact_rank, pseudo_inverse_in_floats
from polyfold.exact.rational_arrays import nearest, rationals
from polyfold.layers.result import Truncation
from polyfold.network.graph import Network
from polyfold.network.read.arrays import from_arrays


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """W_LS for the classes of data, and what it costs beside the last layer that the network has.

    Attributes
    ----------
    classes: in the order of the columns of `means` (dim, Q) and `targets` (outputs, Q).
    weight: W_LS (outputs, dim), for states; there is no bias.
    cost: the sum over the classes of the mean of |W_LS x - y_j|^2 over their points.
    network_cost: the same of the network's own outputs, or None if it has another number of outputs than a target.
    layer: (W_L, b_L) of a last layer that does the same behind the hidden ones, if these are surjective; else None.
    """

    classes: tuple[Any, ...]
    means: Array
    targets: Array
    weight: Array
    cost: float
    network_cost: float | None
    layer: tuple[Array, Array] | None
    _hidden: tuple[tuple[Array, Array], ...]

    def __post_init__(self) -> None:
        for array in (self.means, self.targets, self.weight, *(self.layer or ())):
            array.setflags(write=False)

    @property
    def network(self) -> Network:
        """The network with its last layer replaced."""
        if self.layer is None:
            raise PolyfoldError(
                "the last layer can be replaced where all hidden layers are surjective, because states then say what "
                "it is given; in this network they are not"
            )
        return from_arrays([*self._hidden, self.layer])


def least_squares(found: Truncation, X: ArrayLike, y: ArrayLike, targets: ArrayLike | None) -> LeastSquares:
    """W_LS of the states of X. Targets are a row for each class, in the order of `classes`; unit vectors if None."""
    states = found.states(X)[-1]
    classes, numbers = classes_of(y, len(states))
    members = [np.flatnonzero(numbers == k) for k in range(len(classes))]
    Y = np.eye(len(classes)) if targets is None else rows_of(targets, None, what="targets")
    if len(Y) != len(classes):
        raise ShapeError(f"targets need a row for each of {len(classes)} classes, {classes}; they have shape {Y.shape}")
    means = np.stack([states[rows].mean(axis=0) for rows in members], axis=1)
    exact = rationals(means)
    inverse, _ = pseudo_inverse_in_floats(exact, exact_rank(exact))
    weight = Y.T @ inverse
    outputs = found.network(found.embed(X)[:, : found.network.input_dim])
    layer = None
    if found.holds and found.maps:
        last = weight @ found.maps[-1].inverse
        layer = last, -last @ found.maps[-1].bias
    # The first layer of a lifted truncation takes embedded inputs: the network itself has the columns of its own.
    hidden = tuple((nearest(part.weight), nearest(part.bias)) for part in found.layers[:-1])
    hidden = ((hidden[0][0][:, : found.network.input_dim], hidden[0][1]), *hidden[1:]) if hidden else ()
    return LeastSquares(
        classes,
        means,
        np.ascontiguousarray(Y.T),
        weight,
        _cost(states @ weight.T, Y, members),
        _cost(outputs, Y, members) if outputs.shape[1] == Y.shape[1] else None,
        layer,
        hidden,
    )


def _cost(outputs: Array, targets: Array, members: list[npt.NDArray[np.int64]]) -> float:
    return float(
        sum(((outputs[rows] - target) ** 2).sum(axis=1).mean() for rows, target in zip(members, targets, strict=True))
    )
