"""distance: how far apart the weights of two networks are, up to permutations and positive rescalings of neurons.

Both networks are brought to normal form, which settles scales, and neurons are matched so that the weights are as
near to each other as can be: within one layer by an assignment, with more layers by one assignment per layer in turn
until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from polyfold._base.apart import apart
from polyfold._base.clock import Report
from polyfold._base.question import question
from polyfold._base.result import Value, answered
from polyfold._base.types import Array, Ids
from polyfold.engine.source import SourceLike
from polyfold.errors import ShapeError
from polyfold.exact.rational_arrays import nearest
from polyfold.program.exact_program import ExactProgram
from polyfold.symmetry.exact_layers import evidence_for, exactly
from polyfold.symmetry.normal_forms import NormalForm, form_of
from polyfold.symmetry.transformations import Composition, Permutation, Rescaling, Transformation

Orders = list[Ids]


@dataclass(frozen=True)
class Distance(Value):
    """How far apart two networks' weights are after matching.

    Attributes
    ----------
    value : float
        Between 0 and 1: the root mean square of the layers' distances, so that every layer counts as much.
    layers : tuple of float
        For each hidden layer, and the output last, the Euclidean distance of what goes into it (weights and biases in
        normal form) over the sum of both lengths; slopes count too where they are not all the same.
    same_orbit : bool
        Whether permutations and positive rescalings make one network the other, decided in rationals.
    optimal : bool
        Whether no other matching is nearer: so if there is one hidden layer at most (up to the rounding of the value),
        or if the distance is zero. Otherwise the matching is a local optimum: no layer alone can be matched better, and
        the true distance may be smaller.
    alignment : Transformation
        What brings the first network to the second one's order and scales; if they are of one orbit it makes the first
        network the second one, exactly.
    """

    value: float
    layers: tuple[float, ...]
    same_orbit: bool
    optimal: bool
    alignment: Transformation = field(repr=False)

    def facts(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "layers": self.layers,
            "same_orbit": self.same_orbit,
            "optimal": self.optimal,
        }


@question("symmetry.distance")
def distance(
    source: SourceLike | ExactProgram,
    other: SourceLike | ExactProgram,
    *,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Distance:
    """How far apart the weights of two networks of one architecture are, up to permutations and positive rescalings.

    Both need as many neurons in each layer. The scale is that of the normal form, in which the incoming weights and the
    bias of a neuron have absolute values that add up to 1.

    Parameters
    ----------
    source, other : SourceLike or ExactProgram
        Models, or atlases of them.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Distance
        The distance, that of each layer, and the matching. That two networks are of one orbit is proved.

    Examples
    --------
    >>> import polyfold as pf
    >>> a = [([[1.0], [-1.0]], [0.0, 1.0]), ([[1.0, 1.0]], [0.0])]
    >>> b = [([[-2.0], [4.0]], [2.0, 0.0]), ([[0.5, 0.25]], [0.0])]
    >>> pf.symmetry.distance(a, b)
    Distance(value=0.0, layers=(0.0, 0.0), same_orbit=True, optimal=True)
    """
    first, second = exactly(source), exactly(other)
    _check(first, second)
    forms = apart(lambda: (form_of(first), form_of(second)))
    if forms[0] == forms[1]:
        orders = [np.arange(width) for width in second.widths[1:]]
        alignment = _alignment(forms, orders)
        found = Distance(0.0, (0.0,) * (len(orders) + 1), True, True, alignment)
        return answered(found, evidence_for(source, "the weights in normal form are equal as rationals"))
    matching = _Matching(*(_Weights(form.program) for form in forms))
    orders = matching.solve()
    squares = matching.squares(orders)
    found = Distance(
        float(np.sqrt(np.mean(squares))),
        tuple(np.sqrt(squares).tolist()),
        same_orbit=False,
        optimal=len(orders) <= 1,
        alignment=_alignment(forms, orders),
    )
    return answered(found, evidence_for(source, None))


class _Weights:
    """A normal form in floats: for each affine function one matrix per source, and the numbers that are a row's own."""

    def __init__(self, program: ExactProgram) -> None:
        self.widths = program.widths
        self.matrices = [{source: nearest(matrix) for source, matrix in rows.terms.items()} for rows in program.affines]
        self.own = [nearest(rows.bias)[:, None] for rows in program.affines]
        self.slopes = [
            np.stack([nearest(stage.slope_on), nearest(stage.slope_off)], axis=1) for stage in program.stages
        ]

    def matrix(self, number: int, source: int) -> Array:
        found = self.matrices[number - 1].get(source)
        return np.zeros((len(self.own[number - 1]), self.widths[source])) if found is None else found

    def length(self, number: int) -> float:
        """The Euclidean length of all numbers that go into a layer."""
        squares = [np.square(array).sum() for array in (self.own[number - 1], *self.matrices[number - 1].values())]
        return float(np.sqrt(sum(squares)))


class _Matching:
    """Which neuron of the first network goes with each of the second one's."""

    def __init__(self, first: _Weights, second: _Weights) -> None:
        self.first, self.second = first, second
        self.hidden = len(first.slopes)
        for k, slopes in enumerate(zip(first.slopes, second.slopes, strict=True)):
            if (np.concatenate(slopes) != slopes[0][0]).any():
                for weights, own in zip((first, second), slopes, strict=True):
                    weights.own[k] = np.concatenate([weights.own[k], own], axis=1)
        # Lengths do not depend on the order, so dividing by them leaves every matching a sum of costs.
        lengths = [first.length(number) + second.length(number) for number in range(1, self.hidden + 2)]
        self.scales = [1 / length if length else 0.0 for length in lengths]

    def solve(self) -> Orders:
        """Layer by layer from the input on, by incoming weights; then in turn, by all weights, until none changes."""
        orders: Orders = [np.arange(width) for width in self.second.widths[1:]]
        for layer in range(1, self.hidden + 1):
            orders[layer - 1] = _assigned(self._cost_into(layer, orders))
        total = sum(self.squares(orders))
        while True:
            for layer in range(1, self.hidden + 1):
                orders[layer - 1] = _assigned(self._cost_into(layer, orders) + self._cost_out_of(layer, orders))
            improved = sum(self.squares(orders))
            # Every assignment is the best for its layer, so the sum falls until rounding is all that is left to gain.
            if improved >= total:
                return orders
            total = improved

    def squares(self, orders: Orders) -> list[float]:
        """For each layer the squared distance of what goes into it, over the squared sum of both lengths."""
        found = []
        for number in range(1, self.hidden + 2):
            rows = self._rows(number, orders)
            square = float(np.square(self.first.own[number - 1][rows] - self.second.own[number - 1]).sum())
            for source, columns in self._sources(number, orders):
                first, second = self.first.matrix(number, source), self.second.matrix(number, source)
                square += float(np.square(first[np.ix_(rows, columns)] - second).sum())
            found.append(square * self.scales[number - 1] ** 2)
        return found

    def _cost_into(self, layer: int, orders: Orders) -> Array:
        """[i, j]: what it costs, into the layer, that neuron i of the second network goes with j of the first."""
        here, there = [self.first.own[layer - 1]], [self.second.own[layer - 1]]
        for source, columns in self._sources(layer, orders):
            here.append(self.first.matrix(layer, source)[:, columns])
            there.append(self.second.matrix(layer, source))
        scale = self.scales[layer - 1]
        return _square_distances(np.concatenate(there, axis=1) * scale, np.concatenate(here, axis=1) * scale)

    def _cost_out_of(self, layer: int, orders: Orders) -> Array:
        here, there = [], []
        for number in range(layer + 1, self.hidden + 2):
            scale = self.scales[number - 1]
            here.append(self.first.matrix(number, layer)[self._rows(number, orders)].T * scale)
            there.append(self.second.matrix(number, layer).T * scale)
        return _square_distances(np.concatenate(there, axis=1), np.concatenate(here, axis=1))

    def _rows(self, number: int, orders: Orders) -> Ids:
        return orders[number - 1] if number <= self.hidden else np.arange(len(self.second.own[number - 1]))

    def _sources(self, number: int, orders: Orders) -> Iterator[tuple[int, Ids]]:
        """The sources that either network reads, with the first one's entries in the order of the second one's."""
        for source in sorted({*self.first.matrices[number - 1], *self.second.matrices[number - 1]}):
            yield source, orders[source - 1] if source else np.arange(self.second.widths[0])


def _assigned(cost: Array) -> Ids:
    return np.asarray(apart(lambda: linear_sum_assignment(cost))[1], dtype=np.int64)


def _square_distances(a: Array, b: Array) -> Array:
    """Of all pairs of rows."""
    return np.asarray(apart(lambda: cdist(a, b, "sqeuclidean")), dtype=np.float64)


def _alignment(forms: tuple[NormalForm, NormalForm], orders: Orders) -> Transformation:
    """From the first network's own order and scales to the second one's, through both forms."""
    steps: list[Transformation] = []
    both = zip(*((form.orders, form.factors) for form in forms), strict=True)
    (first_orders, second_orders), (first_factors, second_factors) = both
    for layer, matched in enumerate(orders, start=1):
        order = [0] * len(matched)
        for place, partner in enumerate(matched.tolist()):
            order[second_orders[layer - 1][place]] = first_orders[layer - 1][partner]
        factors = [first_factors[layer - 1][old] / second_factors[layer - 1][new] for new, old in enumerate(order)]
        steps += [Permutation(layer, tuple(order)), Rescaling(layer, factors)]
    return Composition(tuple(steps))


def _check(a: ExactProgram, b: ExactProgram) -> None:
    shapes = [[*program.widths, program.output_dim] for program in (a, b)]
    if shapes[0] != shapes[1]:
        raise ShapeError(
            f"the networks have {' -> '.join(map(str, shapes[0]))} and {' -> '.join(map(str, shapes[1]))} neurons; "
            "weights can be compared only between networks of one architecture (pf.equivalent compares functions)"
        )
