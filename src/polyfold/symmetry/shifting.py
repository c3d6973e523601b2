"""ShiftOutgoing: outgoing weight moved between two neurons that are positive multiples of each other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from polyfold.errors import PolyfoldError
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.symmetry.exact_layers import (
    amounts,
    exactly,
    for_rows,
    layer_of,
    negated,
    reader_of,
    shown_amounts,
    weights_of,
    whole,
    with_rows,
    with_term,
)
from polyfold.symmetry.transformations import Transformation, check_neuron, compose


@dataclass(frozen=True, repr=False)
class ShiftOutgoing(Transformation):
    """`amount` less of the one neuron's output is read, and as much more of the other one's as makes up for it.

    For neurons whose outputs satisfy h_to = k h_from everywhere, which is checked in rationals: their incoming
    weights and biases are positive multiples of each other, their slopes multiples. A row that reads them by the
    weights v_from and v_to then reads them by v_from - amount and v_to + amount / k.

    amount   a number for all rows of the reader, or one for each row
    reader   which affine function reads: the number of a later hidden layer, or one more than there are hidden layers
             for the output; None is the one after this layer

    >>> from polyfold.program.exact_program import from_layers
    >>> network = from_layers([([[1, 2], [2, 4]], [3, 6]), ([[10, 20]], [0])])
    >>> ShiftOutgoing(1, 0, 1, 4)(network).output.terms[1].tolist()
    [[6, 22]]
    """

    layer: int
    from_neuron: int
    to_neuron: int
    amount: Fraction | tuple[Fraction, ...]
    reader: int | None = None

    def __init__(self, layer: Any, from_neuron: Any, to_neuron: Any, amount: Any, reader: Any = None) -> None:
        object.__setattr__(self, "layer", whole(layer, "the layer"))
        object.__setattr__(self, "from_neuron", whole(from_neuron, "from_neuron"))
        object.__setattr__(self, "to_neuron", whole(to_neuron, "to_neuron"))
        object.__setattr__(self, "amount", amounts(amount, "the amount"))
        object.__setattr__(self, "reader", None if reader is None else whole(reader, "the reader"))
        if self.from_neuron == self.to_neuron:
            raise PolyfoldError(f"{self!r}: weight is shifted between two neurons, and these are one")

    def __repr__(self) -> str:
        reader = "" if self.reader is None else f", reader={self.reader}"
        return (
            f"ShiftOutgoing(layer={self.layer}, from_neuron={self.from_neuron}, to_neuron={self.to_neuron}, "
            f"amount={shown_amounts(self.amount)}{reader})"
        )

    def apply(self, program: ExactProgram) -> ExactProgram:
        stage = layer_of(program, self.layer, self)
        for neuron in (self.from_neuron, self.to_neuron):
            check_neuron(self, neuron, stage)
        factor = output_factor(stage, self.from_neuron, self.to_neuron)
        if factor is None:
            raise PolyfoldError(
                f"{self!r}: neuron {self.to_neuron} is no positive multiple of neuron {self.from_neuron}, so the "
                "function would change; weight can be shifted only between neurons whose incoming weights, biases "
                "and slopes agree up to a positive factor"
            )
        number, rows = reader_of(program, self.layer, self.reader, self)
        weights = weights_of(rows, self.layer, stage.width)
        shift = for_rows(self.amount, rows, self)
        weights[:, self.from_neuron] = weights[:, self.from_neuron] - shift
        weights[:, self.to_neuron] = weights[:, self.to_neuron] + shift / factor
        return with_rows(program, number, with_term(rows, self.layer, weights))

    def inverse(self) -> ShiftOutgoing:
        return ShiftOutgoing(self.layer, self.from_neuron, self.to_neuron, negated(self.amount), self.reader)


def shift_everything(network: Any, layer: int, from_neuron: int, to_neuron: int) -> Transformation:
    """The shifts after which nobody reads `from_neuron` any more, for this network.

    >>> network = [([[1.0], [2.0]], [0.0, 0.0]), ([[3.0, 4.0]], [0.0])]
    >>> shift_everything(network, 1, 0, 1)
    ShiftOutgoing(layer=1, from_neuron=0, to_neuron=1, amount=(3,), reader=2)
    """
    program = exactly(network)
    steps = [
        ShiftOutgoing(layer, from_neuron, to_neuron, rows.terms[layer][:, from_neuron], reader=number)
        for number, rows in enumerate(program.affines, start=1)
        if layer in rows.terms and rows.terms[layer][:, from_neuron].any()
    ]
    return compose(steps)


def output_factor(stage: ExactStage, first: int, second: int) -> fmpq | None:
    """k with output of second = k * output of first at every input, by their rows and slopes; None if these show none.

    >>> from polyfold.program.exact_program import from_layers
    >>> output_factor(from_layers([([[1], [-3], [3]], [1, -3, 3]), ([[1, 1, 1]], [0])]).stages[0], 0, 2)
    3
    """
    rows = stage.rows
    of = [[*(value for matrix in rows.terms.values() for value in matrix[i]), rows.bias[i]] for i in (first, second)]
    between = _multiple(*of)
    slopes = _multiple(*([stage.slope_on[i], stage.slope_off[i]] for i in (first, second)))
    if between is None or between <= 0 or slopes is None:
        return None
    return between * slopes


def _multiple(first: list[fmpq], second: list[fmpq]) -> fmpq | None:
    """k != 0 with second = k * first; 1 if both are zero."""
    if not any(first) and not any(second):
        return fmpq(1)
    for a, b in zip(first, second, strict=True):
        if (a == 0) != (b == 0):
            return None
    factor = next(b / a for a, b in zip(first, second, strict=True) if a != 0)
    return factor if all(b == factor * a for a, b in zip(first, second, strict=True)) else None
