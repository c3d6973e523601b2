"""TwoLayer: a network with one hidden layer in rationals, V g(W x + b) + alpha x + c.

The linear neuron N(x) = alpha x + c of paper 004 is always written out. A gate is g(z) = on z where z > 0 and off z
elsewhere; columns of V are the vectors that neurons send to the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold.engine.source import as_exact_program
from polyfold.errors import NetworkError, how_many
from polyfold.exact.linear_program import integer_row
from polyfold.exact.rational_arrays import Rationals, filled, product, rationals, zeros
from polyfold.program.exact_program import ExactProgram, ExactStage, Frame
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.origins import GateOrigin

Wall = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TwoLayer:
    """W (n, d), b (n,), V (m, n), slopes (n,), alpha (m, d), c (m,), and the user's names of the n neurons."""

    W: Rationals
    b: Rationals
    V: Rationals
    on: Rationals
    off: Rationals
    origins: tuple[GateOrigin, ...]
    alpha: Rationals
    c: Rationals
    frame: Frame

    @property
    def neurons(self) -> int:
        return len(self.b)

    @property
    def is_plain(self) -> bool:
        """Whether N(x) is a constant, so that all but the neurons is a bias."""
        return not self.alpha.any()

    @cached_property
    def walls(self) -> tuple[tuple[Wall, fmpq], ...]:
        """Every neuron's wall, and the factor by which the neuron has it (`wall_of`). None may read only its bias."""
        return tuple(_walls(self))

    def take(self, neurons: Sequence[int]) -> TwoLayer:
        """Some neurons, in this order; the linear part is kept."""
        index = np.asarray(neurons, dtype=np.int64)
        return replace(
            self,
            W=self.W[index],
            b=self.b[index],
            V=self.V[:, index],
            on=self.on[index],
            off=self.off[index],
            origins=tuple(self.origins[k] for k in neurons),
        )

    def flipped(self, neurons: Sequence[int]) -> TwoLayer:
        """The same function with incoming weights of some neurons negated: g(z) = g(-z) + (on + off) z."""
        index = np.asarray(neurons, dtype=np.int64)
        W, b = self.W.copy(), self.b.copy()
        W[index], b[index] = -W[index], -b[index]
        sent = self.V[:, index] * (self.on + self.off)[index]
        return replace(
            self, W=W, b=b, alpha=self.alpha + product(sent, self.W[index]), c=self.c + product(sent, self.b[index])
        )

    def in_relus(self) -> TwoLayer:
        """The same function with g(z) = off z + (on - off) relu(z) written out, so that every gate is a ReLU."""
        bent = self.V * self.off
        return replace(
            self,
            V=self.V * (self.on - self.off),
            on=rationals([1] * self.neurons),
            off=zeros(self.neurons),
            alpha=self.alpha + product(bent, self.W),
            c=self.c + product(bent, self.b),
        )

    @property
    def program(self) -> ExactProgram:
        """As a program: one stage, or none if there is no neuron, and an output that may read the input."""
        terms: dict[int, Rationals] = {0: self.alpha} if self.alpha.any() else {}
        if not self.neurons:
            return ExactProgram(self.frame, (), RationalRows(terms, self.c))
        stage = ExactStage(RationalRows({0: self.W}, self.b), self.on, self.off, self.origins)
        return ExactProgram(self.frame, (stage,), RationalRows({**terms, 1: self.V}, self.c))


def two_layer(source: Any, *, asked: str, instead: str) -> TwoLayer:
    """Read any source, or an ExactProgram, if it has no more than one hidden layer.

    `asked` and `instead` are the public functions to speak of in the error otherwise.
    """
    program = as_exact_program(source)
    if len(program.stages) > 1:
        layers = ["+".join(dict.fromkeys(origin.node for origin in stage.origins)) for stage in program.stages]
        raise NetworkError(
            f"{asked} needs a network with at most one hidden layer; this one has {how_many(len(layers), 'layer')} of "
            f"gates behind each other: {', '.join(layers)}. For deeper networks there is {instead}"
        )
    return of_program(program)


def of_program(program: ExactProgram) -> TwoLayer:
    """A program of at most one stage."""
    outputs, inputs = program.output_dim, program.input_dim
    alpha = program.output.terms.get(0, zeros(outputs, inputs))
    if not program.stages:
        none = zeros(0)
        return TwoLayer(
            zeros(0, inputs), none, zeros(outputs, 0), none, none, (), alpha, program.output.bias, program.frame
        )
    (stage,) = program.stages
    return TwoLayer(
        stage.rows.terms.get(0, zeros(stage.width, inputs)),
        stage.rows.bias,
        program.output.terms.get(1, zeros(outputs, stage.width)),
        stage.slope_on,
        stage.slope_off,
        stage.origins,
        alpha,
        program.output.bias,
        program.frame,
    )


def _walls(form: TwoLayer) -> Iterator[tuple[Wall, fmpq]]:
    for k in range(form.neurons):
        tick()
        yield wall_of(form.W[k], form.b[k])


def wall_of(weights: Rationals, bias: fmpq) -> tuple[Wall, fmpq]:
    """The hyperplane w x + b = 0 in smallest integers (w, b), the first of them positive; and w, b divided by them.

    >>> wall_of(rationals([0, -1.5]), fmpq(3))
    ((0, 1, -2), -3/2)
    """
    row = [*weights.tolist(), bias]
    wall = integer_row(row)
    first = next(k for k, entry in enumerate(wall) if entry)
    sign = 1 if wall[first] > 0 else -1
    return tuple(sign * entry for entry in wall), row[first] / (sign * wall[first])


def row_of(wall: Wall) -> tuple[Rationals, fmpq]:
    """The weights and the bias of a wall's integers."""
    return filled([fmpq(entry) for entry in wall[:-1]], (len(wall) - 1,)), fmpq(wall[-1])
