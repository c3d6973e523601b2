"""The forms of all walls under a pattern, as integers: what the exact part of a proof works on.

Apart from `walk.py`: patterns ask for steps, and what they begin with in common is computed once. A step is the same
arithmetic as in `rationals.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from polyfold.domain.domain import Domain
from polyfold.domain.points import exact_lift
from polyfold.exact.linear_program import integer_row
from polyfold.exact.rational import rational, rational_matrix
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.program import Program

Pattern = tuple[bool, ...]


@dataclass(frozen=True)
class Forms:
    """One integer row (a, b) per wall, meaning a . u + b up to a positive factor; gates first, then domain rows."""

    rows: list[list[int]]
    matrix: fmpz_mat

    def at(self, *points: list[int]) -> list[list[int]]:
        """The forms' values at homogeneous points, up to positive factors: one list per point."""
        if not self.rows:
            return [[] for _ in points]
        columns = fmpz_mat([list(column) for column in zip(*points, strict=True)])
        return [list(column) for column in zip(*(self.matrix * columns).tolist(), strict=True)]


class ExactForms:
    """Forms of a program's gates on a domain, pattern by pattern. What patterns begin with in common is kept."""

    def __init__(self, program: Program, domain: Domain, keep: int = 1 << 12) -> None:
        self.exact = RationalProgram(program)
        self._program = program
        axes = fmpq_mat(domain.dim, 1 + domain.dim)
        for k in range(domain.dim):
            axes[k, 1 + k] = fmpq(1)
        self._inputs = exact_lift(domain, axes)
        self._domain_lines = _domain_lines(domain, self._inputs)
        self.domain_rows = [_integers(line) for line in self._domain_lines]
        self._decided_before = _decided_before(program)
        self._step = lru_cache(keep)(self._compute_step)
        self._rows = lru_cache(keep)(self._compute_rows)
        self.under = lru_cache(keep)(self._compute_forms)

    def unscaled(self, pattern: Pattern, wall: int) -> list[fmpq]:
        """A wall's form (slopes, value at the origin) as it is: its integer row is a positive multiple of that."""
        if wall >= len(pattern):
            value, *slopes = self._domain_lines[wall - len(pattern)]
        else:
            first = self._program.first_gate
            stage = bisect_right(first, wall) - 1
            z = self._step(*self._key(self._program.steps.value_of_source[1 + stage], pattern))
            value, *slopes = z.tolist()[wall - first[stage]]
        return [*slopes, value]

    def scale(self, pattern: Pattern, wall: int) -> fmpq:
        """The positive number that the wall's own form was multiplied with to give its integer row."""
        true, integers = self.unscaled(pattern, wall), self.under(pattern).rows[wall]
        return next((x / entry for x, entry in zip(integers, true, strict=True) if entry), fmpq(1))

    def stage(self, number: int, before: Pattern) -> list[list[int]]:
        """One row (a, b) for each gate of a stage, given the pattern of all stages before it."""
        rows: list[list[int]] = self._rows(*self._key(self._program.steps.value_of_source[1 + number], before))
        return rows

    def _compute_forms(self, pattern: Pattern) -> Forms:
        rows = [
            row for step in self._program.steps.value_of_source[1:] for row in self._rows(*self._key(step, pattern))
        ]
        rows += self.domain_rows
        return Forms(rows, fmpz_mat(rows) if rows else fmpz_mat(0, 0))

    def _compute_rows(self, step: int, before: Pattern) -> list[list[int]]:
        """A step's forms as integers, given the pattern of all gates that are decided before it."""
        return [_integers(line) for line in self._step(step, before).tolist()]

    def _compute_step(self, step: int, before: Pattern) -> fmpq_mat:
        """A step's forms, counted from 1, as rationals."""
        affine = self._program.steps.steps[step - 1].affine
        values = [self._inputs] * step
        for value in affine.sources - {0}:
            values[value] = self._value(value, before)
        return self.exact.affine(affine, values)

    def _value(self, step: int, pattern: Pattern) -> fmpq_mat:
        """What a step puts out under a pattern that decides its gates."""
        z, stage = self._step(*self._key(step, pattern)), self._program.steps.steps[step - 1].stage
        if stage is None:
            return z
        first = self._program.first_gate
        return self.exact.stages[stage].outputs(z, pattern[first[stage] : first[stage + 1]])

    def _key(self, step: int, pattern: Pattern) -> tuple[int, Pattern]:
        return step, pattern[: self._decided_before[step]]


def _decided_before(program: Program) -> list[int]:
    """For each step, counted from 1, how many gates are decided before it."""
    counts = [0]
    gates = 0
    for step in program.steps.steps:
        counts.append(gates)
        gates += 0 if step.stage is None else program.stages[step.stage].width
    return counts


def _integers(jet: list[fmpq]) -> list[int]:
    """(value at the origin, slopes) as (slopes, value), integers in the same ratios."""
    value, *slopes = jet
    return integer_row([*slopes, value])


def _domain_lines(domain: Domain, inputs: fmpq_mat) -> list[list[fmpq]]:
    """The rows a . x <= b and a . u <= b as forms b - a . u over the parameters: the value at 0, then the slopes."""
    lines = []
    for row, offset in zip(domain.input_rows, domain.input_offsets.tolist(), strict=True):
        if not domain.is_slice:  # products with an identity of many pixels would take long
            lines.append([rational(offset), *(-rational(x) for x in row.tolist())])
            continue
        value, *slopes = (rational_matrix(row[None, :]) * inputs).tolist()[0]
        lines.append([rational(offset) - value, *(-slope for slope in slopes)])
    for row, offset in zip(domain.parameter_rows, domain.parameter_offsets.tolist(), strict=True):
        lines.append([rational(offset), *(-rational(x) for x in np.asarray(row).tolist())])
    return lines
