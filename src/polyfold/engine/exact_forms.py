"""The forms of all walls under a pattern, as integers: what the exact part of a proof works on."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from polyfold.atlas.domain import Domain
from polyfold.atlas.location import exact_lift
from polyfold.exact.evaluate import RationalProgram
from polyfold.exact.linear_program import integer_row
from polyfold.exact.rational import rational, rational_matrix
from polyfold.program.program import Program

Pattern = tuple[bool, ...]


@dataclass(frozen=True)
class Forms:
    """One integer row (a, b) a wall, meaning a . u + b up to a positive factor; gates first, then domain rows."""

    rows: list[list[int]]
    matrix: fmpz_mat

    def at(self, *points: list[int]) -> list[list[int]]:
        """The forms' values at homogeneous points, up to positive factors: one list a point."""
        if not self.rows:
            return [[] for _ in points]
        columns = fmpz_mat([list(column) for column in zip(*points, strict=True)])
        return [list(column) for column in zip(*(self.matrix * columns).tolist(), strict=True)]


class ExactForms:
    """Forms of a program's gates on a domain, pattern by pattern. What patterns begin with in common is kept."""

    def __init__(self, program: Program, domain: Domain, keep: int = 1 << 12) -> None:
        self.exact = RationalProgram(program)
        self._first = program.first_gate
        axes = fmpq_mat(domain.dim, 1 + domain.dim)
        for k in range(domain.dim):
            axes[k, 1 + k] = fmpq(1)
        self._inputs = exact_lift(domain, axes)
        self._domain_lines = _domain_lines(domain, self._inputs)
        self.domain_rows = [_integers(line) for line in self._domain_lines]
        self._stage = lru_cache(keep)(self._compute_stage)
        self.under = lru_cache(keep)(self._compute_forms)

    def unscaled(self, pattern: Pattern, wall: int) -> list[fmpq]:
        """A wall's form (slopes, value at the origin) as it is: its integer row is a positive multiple of that."""
        if wall >= len(pattern):
            value, *slopes = self._domain_lines[wall - len(pattern)]
        else:
            stage = bisect_right(self._first, wall) - 1
            z = self._stage(stage, pattern[: self._first[stage]])[1]
            value, *slopes = z.tolist()[wall - self._first[stage]]
        return [*slopes, value]

    def scale(self, pattern: Pattern, wall: int) -> fmpq:
        """The positive number that the wall's own form was multiplied with to give its integer row."""
        true, integers = self.unscaled(pattern, wall), self.under(pattern).rows[wall]
        return next((x / entry for x, entry in zip(integers, true, strict=True) if entry), fmpq(1))

    def stage(self, number: int, before: Pattern) -> list[list[int]]:
        """One row (a, b) for each gate of a stage, given the pattern of all stages before it."""
        return self._stage(number, before)[0]

    def _compute_forms(self, pattern: Pattern) -> Forms:
        rows = [
            row for s in range(len(self.exact.stages)) for row in self._stage(s, pattern[: self._first[s]])[0]
        ] + self.domain_rows
        return Forms(rows, fmpz_mat(rows) if rows else fmpz_mat(0, 0))

    def _compute_stage(self, stage: int, before: Pattern) -> tuple[list[list[int]], fmpq_mat]:
        """The stage's forms as integers and as rationals, given the pattern of all earlier stages."""
        sources = [self._inputs]
        for s in range(stage):
            z = self._stage(s, before[: self._first[s]])[1]
            sources.append(self.exact.stages[s].outputs(z, before[self._first[s] : self._first[s + 1]]))
        z = self.exact.stages[stage].preactivations(sources)
        return [_integers(line) for line in z.tolist()], z


def _integers(jet: list[fmpq]) -> list[int]:
    """(value at the origin, slopes) as (slopes, value), integers in the same ratios."""
    value, *slopes = jet
    return integer_row([*slopes, value])


def _domain_lines(domain: Domain, inputs: fmpq_mat) -> list[list[fmpq]]:
    """The rows a . x <= b and a . u <= b as forms b - a . u over the parameters: the value at 0, then the slopes."""
    lines = []
    for row, offset in zip(domain.input_rows, domain.input_offsets.tolist(), strict=True):
        value, *slopes = (rational_matrix(row[None, :]) * inputs).tolist()[0]
        lines.append([rational(offset) - value, *(-slope for slope in slopes)])
    for row, offset in zip(domain.parameter_rows, domain.parameter_offsets.tolist(), strict=True):
        lines.append([rational(offset), *(-rational(x) for x in np.asarray(row).tolist())])
    return lines
