"""Weights that a network's function does not depend on: out of neurons that are always zero, into those nobody reads.

Both are changes, not new values, so that they can be undone: anything may be added to such a weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.rational_arrays import rationals
from polyfold.program.exact_program import ExactProgram
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.passes.rational_intervals import source_ranges
from polyfold.symmetry.exact_layers import (
    amounts,
    for_rows,
    layer_of,
    negated,
    number,
    numbers,
    reader_of,
    shown,
    shown_amounts,
    weights_of,
    whole,
    with_rows,
    with_term,
)
from polyfold.symmetry.transformations import Transformation, check_neuron


@dataclass(frozen=True, repr=False)
class FreeOutgoing(Transformation):
    """Anything is added to the outgoing weights of a neuron whose output is zero at every input.

    That its output is zero is proved by intervals in rationals (ranges.py): it is if all incoming weights are zero
    and the bias is zero or less, and for a ReLU in a later layer also if all of them are zero or less.

    change   what is added: a number for all rows of the reader, or one for each row
    reader   which affine function reads: the number of a later hidden layer, or one more than there are hidden layers
             for the output; None is the one after this layer

    >>> from polyfold.program.exact_program import from_layers
    >>> network = from_layers([([[1], [0]], [0, -1]), ([[1, 2]], [0])])
    >>> FreeOutgoing(1, 1, 40)(network).output.terms[1].tolist()
    [[1, 42]]
    """

    layer: int
    neuron: int
    change: Fraction | tuple[Fraction, ...]
    reader: int | None = None

    def __init__(self, layer: Any, neuron: Any, change: Any, reader: Any = None) -> None:
        object.__setattr__(self, "layer", whole(layer, "the layer"))
        object.__setattr__(self, "neuron", whole(neuron, "the neuron"))
        object.__setattr__(self, "change", amounts(change, "the change"))
        object.__setattr__(self, "reader", None if reader is None else whole(reader, "the reader"))

    def __repr__(self) -> str:
        reader = "" if self.reader is None else f", reader={self.reader}"
        return f"FreeOutgoing(layer={self.layer}, neuron={self.neuron}, change={shown_amounts(self.change)}{reader})"

    def apply(self, program: ExactProgram) -> ExactProgram:
        stage = layer_of(program, self.layer, self)
        check_neuron(self, self.neuron, stage)
        if not source_ranges(program, self.layer)[self.layer].always_zero[self.neuron]:
            raise PolyfoldError(
                f"{self!r}: that the output of neuron {self.neuron} is always zero cannot be seen from its weights, "
                "so its outgoing weights may matter; they are free if all its incoming weights are zero and its "
                "bias is zero or less"
            )
        found, rows = reader_of(program, self.layer, self.reader, self)
        weights = weights_of(rows, self.layer, stage.width)
        weights[:, self.neuron] = weights[:, self.neuron] + for_rows(self.change, rows, self)
        return with_rows(program, found, with_term(rows, self.layer, weights))

    def inverse(self) -> FreeOutgoing:
        return FreeOutgoing(self.layer, self.neuron, negated(self.change), self.reader)


@dataclass(frozen=True, repr=False)
class FreeIncoming(Transformation):
    """Anything is added to the incoming weights and the bias of a neuron whose outgoing weights are all zero.

    change   what is added to the weights on the source, one number for each of its entries
    bias     what is added to the bias
    source   0 for the input, s for the output of hidden layer s; None is the layer before this one

    >>> from polyfold.program.exact_program import from_layers
    >>> network = from_layers([([[1], [7]], [0, 0]), ([[1, 0]], [0])])
    >>> FreeIncoming(1, 1, (5,), bias=-1)(network).stages[0].rows.terms[0].tolist()
    [[1], [12]]
    """

    layer: int
    neuron: int
    change: tuple[Fraction, ...]
    bias: Fraction = Fraction(0)
    source: int | None = None

    def __init__(self, layer: Any, neuron: Any, change: Any, bias: Any = 0, source: Any = None) -> None:
        object.__setattr__(self, "layer", whole(layer, "the layer"))
        object.__setattr__(self, "neuron", whole(neuron, "the neuron"))
        object.__setattr__(self, "change", numbers(change, "the change"))
        object.__setattr__(self, "bias", number(bias, "the bias"))
        object.__setattr__(self, "source", None if source is None else whole(source, "the source"))

    def __repr__(self) -> str:
        source = "" if self.source is None else f", source={self.source}"
        return (
            f"FreeIncoming(layer={self.layer}, neuron={self.neuron}, change={shown(self.change)}, "
            f"bias={self.bias}{source})"
        )

    def apply(self, program: ExactProgram) -> ExactProgram:
        stage = layer_of(program, self.layer, self)
        check_neuron(self, self.neuron, stage)
        for found, rows in enumerate(program.affines, start=1):
            if self.layer in rows.terms and rows.terms[self.layer][:, self.neuron].any():
                reader = "the output" if found > len(program.stages) else f"hidden layer {found}"
                raise PolyfoldError(
                    f"{self!r}: {reader} reads neuron {self.neuron}, so its incoming weights matter; they are free "
                    "if all its outgoing weights are zero"
                )
        source = self.layer - 1 if self.source is None else self.source
        if not 0 <= source < self.layer:
            raise PolyfoldError(f"{self!r}: layer {self.layer} reads sources 0 to {self.layer - 1}, not {source}")
        width = program.widths[source]
        if len(self.change) != width:
            raise PolyfoldError(
                f"{self!r}: {how_many(len(self.change), 'number')} for the weights on source {source}, which has "
                f"{width} entries; give one for each"
            )
        weights, bias = weights_of(stage.rows, source, width), stage.rows.bias.copy()
        weights[self.neuron] = weights[self.neuron] + rationals(list(self.change))
        bias[self.neuron] = bias[self.neuron] + rationals([self.bias])[0]
        changed = with_term(RationalRows(stage.rows.terms, bias), source, weights)
        stages = list(program.stages)
        stages[self.layer - 1] = replace(stage, rows=changed)
        return replace(program, stages=tuple(stages))

    def inverse(self) -> FreeIncoming:
        return FreeIncoming(self.layer, self.neuron, tuple(-entry for entry in self.change), -self.bias, self.source)
