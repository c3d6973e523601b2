"""PositiveMixing: neurons that are never negative replaced by as many combinations of them that are never negative."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.rational_arrays import Rationals, filled, matrix, product, rationals
from polyfold.program.exact_program import ExactProgram
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.passes.rational_intervals import Bound, row_ranges, source_ranges
from polyfold.symmetry.exact_layers import (
    amounts,
    layer_of,
    numbers,
    shown,
    shown_amounts,
    whole,
    wholes,
    with_layer,
    with_term,
)
from polyfold.symmetry.transformations import Transformation, check_neuron


@dataclass(frozen=True, repr=False)
class PositiveMixing(Transformation):
    """The pre-activations z of some neurons become B z, and what reads them is multiplied by the inverse of B.

    A ReLU leaves a value that is never negative as it is, so such neurons are linear, and any invertible B will do that
    makes none of the new values negative: every B without negative entries, and the inverse of one that was applied
    before. That z and B z are never negative is proved by intervals in rationals (ranges.py): outputs of ReLUs are
    zero or more, so neurons of a later layer qualify whose incoming weights and biases are zero or more, and in the
    first layer those of networks whose inputs are bounded.

    B           one row of numbers for each of the neurons
    low, high   what inputs are known to lie between, as one number or one for each input; None is without bound. The
                function stays the same for these inputs

    >>> from polyfold.program.exact_program import from_layers
    >>> network = from_layers([([[1], [-1]], [0, 0]), ([[1, 0], [0, 1]], [0, 1]), ([[1, -1]], [0])])
    >>> mixed = PositiveMixing(2, (0, 1), ((2, 1), (1, 1)))(network)
    >>> mixed.stages[1].rows.terms[1].tolist(), mixed.stages[1].rows.bias.tolist(), mixed.output.terms[2].tolist()
    ([[2, 1], [1, 1]], [1, 1], [[2, -3]])
    """

    layer: int
    neurons: tuple[int, ...]
    B: tuple[tuple[Fraction, ...], ...]
    low: Bound = None
    high: Bound = None

    def __init__(self, layer: Any, neurons: Any, B: Any, low: Any = None, high: Any = None) -> None:
        object.__setattr__(self, "layer", whole(layer, "the layer"))
        object.__setattr__(self, "neurons", wholes(neurons, "the neurons"))
        object.__setattr__(self, "B", tuple(numbers(row, "the rows of B") for row in B))
        object.__setattr__(self, "low", None if low is None else amounts(low, "low"))
        object.__setattr__(self, "high", None if high is None else amounts(high, "high"))
        size = len(self.neurons)
        if len(set(self.neurons)) != size or not size:
            raise PolyfoldError(f"{self!r}: name each of the neurons once, and at least one")
        if len(self.B) != size or any(len(row) != size for row in self.B):
            raise PolyfoldError(f"{self!r}: to mix {how_many(size, 'neuron')} B must be {size} by {size}")
        if matrix(self._exact()).det() == 0:
            raise PolyfoldError(f"{self!r}: B is not invertible, so the readers could not undo it")

    def __repr__(self) -> str:
        rows = ", ".join(map(shown, self.B)) + ("," if len(self.B) == 1 else "")
        bounds = "".join(
            f", {name}={shown_amounts(bound)}"
            for name, bound in (("low", self.low), ("high", self.high))
            if bound is not None
        )
        return f"PositiveMixing(layer={self.layer}, neurons={self.neurons}, B=({rows}){bounds})"

    def apply(self, program: ExactProgram) -> ExactProgram:
        stage = layer_of(program, self.layer, self)
        for neuron in self.neurons:
            check_neuron(self, neuron, stage)
        chosen = np.asarray(self.neurons, dtype=np.int64)
        slopes = stage.slope_on[chosen]
        if not all(slopes):
            raise PolyfoldError(
                f"{self!r}: a neuron whose slope is zero where it is active cannot be mixed with others"
            )
        mixing, old = self._exact(), stage.rows.take(chosen)
        new = RationalRows(
            {source: product(mixing, weights) for source, weights in old.terms.items()}, product(mixing, old.bias)
        )
        sources = source_ranges(program, self.layer - 1, self.low, self.high)
        for rows, when in ((old, "before"), (new, "after")):
            negative = np.flatnonzero(~row_ranges(rows, sources).never_negative)
            if len(negative):
                raise PolyfoldError(
                    f"{self!r}: {when} mixing, neuron {self.neurons[negative[0]]} may be negative, so it is not "
                    "linear; its bias and its weights on sources that are zero or more must be zero or more (low "
                    "and high bound the inputs)"
                )
        undone = product(slopes[:, None] * _inverse(mixing), np.diag(1 / slopes))

        def reading(rows: RationalRows) -> RationalRows:
            weights = rows.terms[self.layer].copy()
            weights[:, chosen] = product(weights[:, chosen], undone)
            return with_term(rows, self.layer, weights)

        changed = replace(stage, rows=_with_entries(stage.rows, chosen, new))
        return with_layer(program, self.layer, changed, reading)

    def inverse(self) -> PositiveMixing:
        return PositiveMixing(self.layer, self.neurons, _inverse(self._exact()), self.low, self.high)

    def _exact(self) -> Rationals:
        flat = [value for row in self.B for value in row]
        return rationals(list(flat)).reshape(len(self.B), len(self.B))


def _inverse(square: Rationals) -> Rationals:
    return filled(matrix(square).inv().entries(), square.shape)


def _with_entries(rows: RationalRows, chosen: Any, new: RationalRows) -> RationalRows:
    terms = {source: weights.copy() for source, weights in rows.terms.items()}
    for source, weights in new.terms.items():
        terms[source][chosen] = weights
    bias = rows.bias.copy()
    bias[chosen] = new.bias
    return RationalRows(terms, bias)
