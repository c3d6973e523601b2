"""Affine forms of a program under given patterns: the cells' maps and the gates' walls, in batches.

Both run backwards from what is asked for to the input, so the cost does not grow with the input's dimension times the
widths.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyfold._base.types import Array, Ids, Signs
from polyfold.domain.domain import resolve_domain
from polyfold.program.affine import Affine
from polyfold.program.passes.beyond_floats import Round, mend_gates, mend_outputs, rounded
from polyfold.program.passes.walk import Gates, walk_back
from polyfold.program.program import Program, Stage


def output_forms(
    program: Program, signs: Signs, visit: Callable[[int, Array], None] | None = None, some: slice = slice(None)
) -> tuple[Array, Array]:
    """(A, c) with outputs A x + c for each pattern: (n, m, inputs) and (n, m); of all m outputs or of some.

    On the way, `visit(s, rows)` is called with the coefficients (n, m, width) of the outputs on what stage s puts out.
    """
    asked = np.arange(program.output_dim)[some]
    pending = {
        value: np.broadcast_to(rows, (len(signs), *rows.shape))
        for value, rows in program.steps.output.rows(asked).items()
    }
    constant = np.broadcast_to(program.output.bias[asked], (len(signs), len(asked)))
    A, c = _pull_back(program, _Rows(signs, constant, visit), pending)
    mend_outputs(program, resolve_domain(None, program.input_dim), signs, asked, A, c)
    return A, c


def majorant(program: Program) -> Program:
    """The program with all coefficients made positive: its forms bound the terms that the program's forms add up."""
    return _each_coefficient(program, np.abs)


def support(program: Program) -> Program:
    """The program with ones for all coefficients but zeros: a form is zero there only if all its terms are."""
    return _each_coefficient(program, lambda array: (array != 0).astype(np.float64))


def _each_coefficient(program: Program, change: Callable[[Array], Array]) -> Program:
    stages = tuple(Stage(s.affine.changed(change), change(s.slope_on), change(s.slope_off)) for s in program.stages)
    return Program(program.input_dim, stages, program.output.changed(change), program.origins)


def roundings(program: Program) -> int:
    """Bounds how many roundings lie behind one coefficient of a form."""
    steps = program.steps
    inner = sum(step.affine.terms + 2 * width + 4 for step, width in zip(steps.steps, steps.widths, strict=True))
    return 8 + program.input_dim + inner + steps.output.terms


def gate_forms(program: Program, signs: Signs, gates: Ids, as_floats: Round = rounded) -> tuple[Array, Array]:
    """(a, b) with pre-activation a . x + b of one gate for each pattern: (n, inputs) and (n,).

    Rows that are computed in rationals because floats leave their range become floats by `as_floats`.
    """
    linear = np.zeros((len(gates), program.input_dim))
    constant = np.zeros(len(gates))
    first = np.asarray(program.first_gate)
    stage_of = np.searchsorted(first, gates, side="right") - 1
    for s in np.unique(stage_of):
        at = np.flatnonzero(stage_of == s)
        before = program.steps.value_of_source[s + 1] - 1
        affine, local = program.steps.steps[before].affine, gates[at] - first[s]
        pending = {value: rows[:, None, :] for value, rows in affine.rows(local).items()}
        a, b = _pull_back(program, _Rows(signs[at], affine.bias[local][:, None]), pending, before)
        linear[at], constant[at] = a[:, 0], b[:, 0]
    everywhere = resolve_domain(None, program.input_dim)
    mend_gates(program, everywhere, signs, np.arange(len(gates)), gates, linear, constant, as_floats)
    return linear, constant


@np.errstate(over="ignore", invalid="ignore")
def _pull_back(
    program: Program, by: _Rows, pending: dict[int, Array], before: int | None = None
) -> tuple[Array, Array]:
    """`pending[v]` holds coefficients (n, k, width of value v) that still wait to be carried through step v."""
    left = walk_back(program, by, pending, before)
    return _own(np.zeros((*by.constant.shape, program.input_dim)) if left is None else left), _own(by.constant)


class _Rows:
    """Coefficients (n, k, width) on values, and the constant (n, k) so far, under patterns (n, gates) that are held."""

    def __init__(self, signs: Signs, constant: Array, visit: Callable[[int, Array], None] | None = None) -> None:
        self._signs, self.constant, self._visit = signs, constant, visit

    def through(self, gates: Gates[Stage], rows: Array) -> Array:
        if self._visit:
            self._visit(gates.number + 1, rows)
        stage = gates.stage
        rows = rows * np.where(self._signs[:, gates.numbers], stage.slope_on, stage.slope_off)[:, None, :]
        self.constant = self.constant + rows @ stage.affine.bias
        return rows

    def pull(self, affine: Affine, rows: Array) -> dict[int, Array]:
        return affine.pull(rows)

    def plus(self, one: Array, other: Array) -> Array:
        return one + other


def _own(array: Array) -> Array:
    """The array itself if it can be written to, else a copy."""
    return np.require(array, requirements=("C", "W"))
