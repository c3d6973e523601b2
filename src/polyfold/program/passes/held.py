"""A program with its patterns held fixed is an affine function: points and directions pushed through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polyfold._base.types import Array, Signs
from polyfold.domain.domain import Domain
from polyfold.program.affine import Affine
from polyfold.program.passes.pulled_back import gate_forms
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.program import Program, Stage


def pushed(program: Program, signs: Signs, rows: Array, *, linear: bool = False) -> Iterator[Array]:
    """The gates' values stage by stage, and at last the outputs, at input rows with the patterns `signs` held.

    One pattern per row, or one for all. With linear=True rows are directions, and no bias is added.
    """
    return (at.z for at in walk(program, _Held(program, signs, linear=linear), rows))


class _Held:
    """Rows of floats (n, width), or of their changes, with gates as a pattern has them: one pattern per row, or one."""

    def __init__(self, program: Program, signs: Signs, *, linear: bool) -> None:
        self._program, self._signs, self._linear = program, signs, linear

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        return affine.linear(values) if self._linear else affine(values)

    def decide(self, gates: Gates[Stage], z: Array) -> None:
        """The pattern has."""

    def output(self, gates: Gates[Stage], z: Array, decided: None) -> Array:
        return z * slopes(self._program, gates.number, self._signs)

    def nothing(self, inputs: Array) -> Array:
        return inputs[:, :0]


def slopes(program: Program, stage: int, signs: Signs) -> Array:
    """What the gates of a stage multiply with under each pattern (n, width)."""
    gates = program.stages[stage]
    return np.where(signs[:, program.gates_of(stage)], gates.slope_on, gates.slope_off)


def all_gate_forms(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """(a, b) with a . u + b the value of every gate under one pattern, over the domain's parameters.

    Directions are pushed forward, or gates pulled back: whichever are fewer.
    """
    one = signs[None, :]
    if domain.dim <= program.gates:
        *stages, _ = pushed(program, one, domain.basis.T, linear=True)
        *values, _ = pushed(program, one, domain.origin[None, :])
        return _joined(stages, domain.dim).T, _joined(values, 1)[0]
    a, b = gate_forms(program, np.broadcast_to(signs, (program.gates, program.gates)), np.arange(program.gates))
    return (a @ domain.basis, b + a @ domain.origin) if domain.is_slice else (a, b)


def _joined(stages: list[Array], rows: int) -> Array:
    return np.concatenate([np.zeros((rows, 0)), *stages], axis=1)
