"""The cost (6.5), its parts (6.6), the bound (6.7), and coordinates in terms of class means.

C = sum_j 1/N_j sum_i |x_ji - y_j|^2 over outputs x_ji of class j with target y_j. It is the spread of every class
around its own mean, and the squared distance of that mean from the target. If all weights are surjective, outputs are
affine in the truncated data x^(tau, L-1), and so are the parts.

With the last layer W = Y M^+, b = 0, where M has the means of the truncated classes as columns and rank Q, means go
to their targets and only the spread is left: C <= Q sup |Y M^+ dx|^2. The talk writes this with a constant left open,
which is Q, and does not say that the means have to be linearly independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.clock import Report, tick
from polyfold._base.inputs import rows_of
from polyfold._base.question import question
from polyfold._base.result import Result, answered
from polyfold._base.types import Array, ArrayLike
from polyfold.engine.source import SourceLike, as_network
from polyfold.errors import DataError, NetworkError, ShapeError, UnsupportedOpError
from polyfold.exact.linear_algebra import exact_rank
from polyfold.exact.rational_arrays import nearest, rationals
from polyfold.layers.dense_layers import dense_layers
from polyfold.network.graph import Network
from polyfold.separation.data import LabelledData, grouped

_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class CostDecomposition(Result):
    """The cost of a network on labelled data, class by class.

    Attributes
    ----------
    labels : tuple
        The classes.
    total : float
        The cost (6.5), computed from its definition.
    spread : array of float, shape (Q,)
        The mean squared distance of outputs from the mean of their class.
    offset : array of float, shape (Q,)
        The squared distance of this mean from the target. All of spread and offset add up to the total (6.6).
    truncated_spread, truncated_offset : array of float, shape (Q,), optional
        The same computed from the truncated data; None if not all weights are surjective or the network is no chain of
        linear layers and ReLUs.
    reason : str
        Says which.
    """

    labels: tuple[Hashable, ...]
    total: float
    spread: Array
    offset: Array
    truncated_spread: Array | None
    truncated_offset: Array | None
    reason: str

    def ask_instead(self) -> str:
        return "compare found.total with a number"

    def __repr__(self) -> str:
        return f"CostDecomposition: {self.total:.6g} = {self.spread.sum():.6g} spread + {self.offset.sum():.6g} offset"


@dataclass(frozen=True, eq=False)
class CostBound(Result):
    """The bound (6.7) of a network's hidden layers: the cost that the last layer W = Y M^+, b = 0 reaches, and Q
    times sup.

    Attributes
    ----------
    labels : tuple
        The classes.
    cost : float
        What this last layer reaches.
    largest, bound : float
        The sup, and Q times it: cost <= bound.
    weights : array of float, shape (m, d0)
        This last layer as a map of truncated data.
    coordinates : array of float, shape (n, Q)
        The deviations of truncated data from their class's mean in terms of all means (6.9).
    """

    labels: tuple[Hashable, ...]
    cost: float
    largest: float
    bound: float
    weights: Array
    coordinates: Array

    def ask_instead(self) -> str:
        return "compare found.bound with a number"


@question("separation.cost_decomposition")
def cost_decomposition(
    source: SourceLike,
    X: ArrayLike,
    y: ArrayLike,
    *,
    targets: Mapping[Any, Any] | ArrayLike | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> CostDecomposition:
    """The cost of a network on labelled data, and its parts.

    Parameters
    ----------
    source : SourceLike
        A model.
    X : array of float, shape (n, d0)
        Points.
    y : array, shape (n,)
        Their labels.
    targets : mapping or array of float, shape (Q, m), optional
        The output that belongs to each class: a mapping from labels, or rows in the order of the sorted labels. Unit
        vectors if not given.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    CostDecomposition
        The cost (6.5) and its parts (6.6), in floats.

    Examples
    --------
    >>> import polyfold as pf
    >>> line, X, y = [([[1.0]], [0.0])], [[0.0], [2.0], [5.0]], ["a", "a", "b"]
    >>> found = pf.separation.cost_decomposition(line, X, y, targets=[[0.0], [5.0]])
    >>> found.total, found.spread.tolist(), found.offset.tolist()
    (2.0, [1.0, 0.0], [1.0, 0.0])
    """
    net, data, goals, outputs = _given(source, X, y, targets)
    total, spread, offset = cost(outputs, data, goals), [], []
    for rows, goal in zip(data.members, goals, strict=True):
        values = outputs[rows]
        spread.append(float(np.mean(((values - values.mean(axis=0)) ** 2).sum(axis=1))))
        offset.append(float(((values.mean(axis=0) - goal) ** 2).sum()))
    truncated, reason = _truncated(net, data.X)
    parts: tuple[Array | None, Array | None] = (None, None)
    if truncated is not None:
        parts = _from_truncated(truncated, data, goals)
    return answered(CostDecomposition(data.labels, total, np.array(spread), np.array(offset), *parts, reason))


def cost(outputs: Array, data: LabelledData, goals: Array) -> float:
    """The cost (6.5) of outputs, from its definition."""
    of_classes = [((outputs[rows] - goal) ** 2).sum(axis=1) for rows, goal in zip(data.members, goals, strict=True)]
    return sum(float(np.mean(squares)) for squares in of_classes)


@question("separation.cost_bound")
def cost_bound(
    source: SourceLike,
    X: ArrayLike,
    y: ArrayLike,
    *,
    targets: Mapping[Any, Any] | ArrayLike | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> CostBound:
    """The bound (6.7) on the cost that the best last layer reaches, from the hidden layers of a network.

    All weights must be surjective, and the means of the truncated classes linearly independent.

    Parameters
    ----------
    source : SourceLike
        A model that is a chain of linear layers and ReLUs.
    X : array of float, shape (n, d0)
        Points.
    y : array, shape (n,)
        Their labels.
    targets : mapping or array of float, shape (Q, m), optional
        The output that belongs to each class: a mapping from labels, or rows in the order of the sorted labels. Unit
        vectors if not given.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    CostBound
        The bound, and the last layer that it speaks of, in floats.

    Examples
    --------
    >>> import polyfold as pf
    >>> fold = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> found = pf.separation.cost_bound(fold, [[1, 0], [3, 0], [-1, 2]], [0, 0, 1])
    >>> found.cost, found.bound
    (0.25, 0.5)
    """
    net, data, goals, _ = _given(source, X, y, targets)
    truncated, reason = _truncated(net, data.X)
    if truncated is None:
        raise NetworkError(f"the bound is about truncation maps: {reason}")
    states = truncated.states
    means = np.array([states[rows].mean(axis=0) for rows in data.members])
    if exact_rank(rationals(means)) < len(means):
        raise DataError(
            f"the means of the {len(means)} truncated classes are linearly dependent, so no linear layer takes them to "
            "their targets and the bound says nothing"
        )
    weights = goals.T @ np.linalg.pinv(means.T)
    deviations = states - means[data.number]
    squares = ((deviations @ weights.T) ** 2).sum(axis=1)
    outputs = states @ weights.T
    largest = float(squares.max())
    coordinates, _ = barycentric(deviations, means)
    reached = cost(outputs, data, goals)
    return answered(CostBound(data.labels, reached, largest, len(means) * largest, weights, coordinates))


def barycentric(points: ArrayLike, means: ArrayLike) -> tuple[Array, Array]:
    """Coordinates kappa (n, Q) of points in terms of linearly independent means, and what is left over.

    x = sum_j kappa_j mean_j + rest, the rest at right angles to all means. They need not add up to one.

    Parameters
    ----------
    points : array of float, shape (n, d)
        The points.
    means : array of float, shape (Q, d)
        Linearly independent means.

    Returns
    -------
    kappa : array of float, shape (n, Q)
        The coordinates.
    rest : array of float, shape (n, d)
        What is left over.

    Examples
    --------
    >>> kappa, rest = barycentric([[2.0, 3.0, 5.0]], [[1.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    >>> kappa.round(9).tolist(), rest.round(9).tolist()
    ([[2.0, 1.0]], [[0.0, 0.0, 5.0]])
    """
    corners = rows_of(means, None, what="means")
    rows = rows_of(points, corners.shape[1], what="points")
    if exact_rank(rationals(corners)) < len(corners):
        raise DataError("the means are linearly dependent, so coordinates in terms of them are not unique")
    kappa = rows @ np.linalg.pinv(corners)
    return kappa, rows - kappa @ corners


@dataclass(frozen=True, eq=False)
class _Truncated:
    """Data before the last layer as points of input space, and the affine map from there to the outputs."""

    states: Array
    weight: Array
    bias: Array


def _truncated(network: Network, X: Array) -> tuple[_Truncated | None, str]:
    """x^(tau, L-1) = (W^(L-1))^+ (x^(L-1) - b^(L-1)), with cumulative weights and biases; or why not."""
    try:
        layers = dense_layers(network)
    except UnsupportedOpError as error:
        return None, str(error)
    weight, bias, values = np.eye(network.input_dim), np.zeros(network.input_dim), X
    for k, layer in enumerate(layers, start=1):
        tick()
        if exact_rank(layer.weight) < len(layer.bias):
            return None, f"the weights of layer {k}, of shape {layer.weight.shape}, are not surjective"
        W, b = nearest(layer.weight), nearest(layer.bias)
        if k < len(layers):
            values = np.maximum(values @ W.T + b, 0.0)
            with np.errstate(over="ignore", invalid="ignore"):
                weight, bias = W @ weight, W @ bias + b
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        return None, "products of the layers' weights are beyond all floats"
    states = X if len(layers) == 1 else (values - bias) @ np.linalg.pinv(weight).T
    return _Truncated(states, W @ weight, W @ bias + b), "all weights are surjective"


def _from_truncated(found: _Truncated, data: LabelledData, goals: Array) -> tuple[Array, Array]:
    spread, offset = [], []
    for rows, goal in zip(data.members, goals, strict=True):
        mean = found.states[rows].mean(axis=0)
        moved = (found.states[rows] - mean) @ found.weight.T
        spread.append(float(np.mean((moved**2).sum(axis=1))))
        offset.append(float(((found.weight @ mean + found.bias - goal) ** 2).sum()))
    return np.array(spread), np.array(offset)


def _given(network: Any, X: Any, y: Any, targets: Any) -> tuple[Network, LabelledData, Array, Array]:
    net, data = as_network(network), grouped(X, y)
    outputs = np.concatenate([net(data.X[rows]) for rows in _parts(len(data.X))])
    goals = _goals(data, targets, outputs.shape[1])
    return net, data, goals, outputs


def _parts(count: int) -> Iterator[slice]:
    """Rows that go through a network together, with a look at the clock in between."""
    for start in range(0, count, _ROWS_AT_ONCE):
        tick()
        yield slice(start, start + _ROWS_AT_ONCE)


def _goals(data: LabelledData, targets: Any, width: int) -> Array:
    if targets is None:
        goals = np.eye(len(data.labels))
    elif isinstance(targets, Mapping):
        missing = [label for label in data.labels if label not in targets]
        if missing:
            raise DataError(f"targets have no entry for the label {missing[0]!r}; they have {list(targets)[:8]}")
        goals = np.array([np.asarray(targets[label], dtype=np.float64) for label in data.labels])
    else:
        goals = np.asarray(targets, dtype=np.float64)
    if goals.shape != (len(data.labels), width):
        raise ShapeError(
            f"targets must be a row of {width} numbers, as many as the network has outputs, for each of the "
            f"{len(data.labels)} classes; their shape is {goals.shape}"
        )
    return goals
