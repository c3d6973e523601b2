"""A program's forward pass in rational arithmetic.

What flows through the stages is a matrix of jets: one line per entry of a source, column 0 for its value
and the other columns for its rates of change. One column evaluates at a point. A second one gives the signs
just next to the point in that direction. With d more columns that stand for the coordinates, the lines are
affine functions on a cell. Biases only ever enter column 0, and a gate is on where the first non-zero entry
of its line is positive.

Forms are folded as they were built: matrices of a structured program would be rounded products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat

from polyfold._base.types import Array, Ids
from polyfold.exact.rational import rational, rational_matrix
from polyfold.program.affine import Affine
from polyfold.program.operators import Convolved, Matrix, Operator
from polyfold.program.passes.fold import fold
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.program import Program, Stage

Line = list[fmpq]
# A row of an operator: columns, and what they are multiplied with.
_Row = list[tuple[int, fmpq]]

_ZERO = fmpq(0)


class RationalTerms:
    """What forms do to lines of rationals (`program/passes/fold.py`). Coefficients are made rational once."""

    def __init__(self) -> None:
        # With the operators themselves: while these are there, nothing else gets their ids.
        self._matrices: dict[int, tuple[Operator, list[fmpq_mat]]] = {}
        self._rows: dict[int, tuple[Operator, list[_Row]]] = {}

    def entries(self, value: fmpq_mat, first: int, count: int) -> fmpq_mat:
        if count == value.nrows():
            return value
        return _matrix(value.tolist()[first : first + count], value.ncols())

    def zeros(self, values: Sequence[fmpq_mat], count: int) -> fmpq_mat:
        return fmpq_mat(count, values[0].ncols())

    def scaled(self, factor: Array, value: fmpq_mat) -> fmpq_mat:
        factors = [rational(each) for each in factor.tolist()]
        lines = value.tolist()
        return _matrix([[f * x for x in line] for f, line in zip(factors, lines, strict=True)], value.ncols())

    def taken(self, index: Ids, value: fmpq_mat) -> fmpq_mat:
        lines = value.tolist()
        return _matrix([lines[k] for k in index.tolist()], value.ncols())

    def summed(self, parts: Sequence[fmpq_mat]) -> fmpq_mat:
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def stacked(self, parts: Sequence[fmpq_mat]) -> fmpq_mat:
        return _matrix([line for part in parts for line in part.tolist()], parts[0].ncols())

    def shifted(self, value: fmpq_mat, bias: Array) -> fmpq_mat:
        if not bias.any():
            return value
        lines = value.tolist()
        for line, shift in zip(lines, bias.tolist(), strict=True):
            line[0] += rational(shift)
        return _matrix(lines, value.ncols())

    def through(self, operator: Operator, value: fmpq_mat) -> fmpq_mat:
        if isinstance(operator, Matrix):
            return self._through_groups(operator, value)
        if isinstance(operator, Convolved) and not operator.turned:
            return self._through_windows(operator, value)
        return self._row_by_row(operator, value)

    def _through_groups(self, operator: Matrix, value: fmpq_mat) -> fmpq_mat:
        (weight,) = self._in_rationals(operator, operator.weight[None])
        if operator.groups == 1:
            return weight * value
        # One product for all groups, side by side; behind it the groups follow each other again.
        groups, jet = operator.groups, value.ncols()
        product = (weight * _laid_out(value.tolist(), np.arange(operator.columns).reshape(groups, -1).T, jet)).tolist()
        return _matrix([line[jet * k : jet * (k + 1)] for k in range(groups) for line in product], jet)

    def _through_windows(self, operator: Convolved, value: fmpq_mat) -> fmpq_mat:
        groups, jet = operator.window.groups, value.ncols()
        kernels = self._in_rationals(
            operator, operator.kernel.reshape(groups, len(operator.kernel) // groups, operator.kernel[0].size)
        )
        # What lies in the padding is one more line, of zeros.
        lines = [*value.tolist(), [_ZERO] * jet]
        found: list[fmpq] = []
        for kernel, index in zip(kernels, operator.entries_read, strict=True):
            found += (kernel * _laid_out(lines, index, jet)).entries()
        return fmpq_mat(operator.rows, jet, found)

    def _row_by_row(self, operator: Operator, value: fmpq_mat) -> fmpq_mat:
        if id(operator) not in self._rows:
            rows = (operator.row(number) for number in range(operator.rows))
            exact = [
                [(k, rational(weight)) for k, weight in zip(columns.tolist(), weights.tolist(), strict=True) if weight]
                for columns, weights in rows
            ]
            self._rows[id(operator)] = operator, exact
        lines, found = value.tolist(), []
        for row in self._rows[id(operator)][1]:
            total = [_ZERO] * value.ncols()
            for k, weight in row:
                total = [a + weight * b if b else a for a, b in zip(total, lines[k], strict=True)]
            found.append(total)
        return _matrix(found, value.ncols())

    def _in_rationals(self, operator: Operator, weights: Array) -> list[fmpq_mat]:
        if id(operator) not in self._matrices:
            self._matrices[id(operator)] = operator, [rational_matrix(weight) for weight in weights]
        return self._matrices[id(operator)][1]


def _matrix(lines: list[Line], columns: int) -> fmpq_mat:
    return fmpq_mat(len(lines), columns, [entry for line in lines for entry in line])


def _laid_out(lines: list[Line], index: Ids, jet: int) -> fmpq_mat:
    """The lines that an index (n, m) names, side by side: (n, m * jet)."""
    entries = [entry for row in index.tolist() for k in row for entry in lines[k]]
    return fmpq_mat(index.shape[0], index.shape[1] * jet, entries)


class RationalStage:
    """A stage of gates with exact coefficients."""

    def __init__(self, stage: Stage, terms: RationalTerms) -> None:
        self._affine, self._terms = stage.affine, terms
        self._slopes = {
            True: [rational(slope) for slope in stage.slope_on.tolist()],
            False: [rational(slope) for slope in stage.slope_off.tolist()],
        }

    def preactivations(self, sources: Sequence[fmpq_mat]) -> fmpq_mat:
        """The lines of all gates, from the lines of every source."""
        return fold(self._affine, sources, self._terms)

    def outputs(self, z: fmpq_mat, pattern: Sequence[bool]) -> fmpq_mat:
        """What the gates pass on, given their pre-activations and which of them are on."""
        lines = [
            [self._slopes[on][i] * entry for entry in line]
            for i, (line, on) in enumerate(zip(z.tolist(), pattern, strict=True))
        ]
        return _matrix(lines, z.ncols())


class RationalProgram:
    """A program with exact coefficients: convert once, evaluate often."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._terms = RationalTerms()
        self.stages = [RationalStage(stage, self._terms) for stage in program.stages]

    def affine(self, affine: Affine, sources: Sequence[fmpq_mat]) -> fmpq_mat:
        """An affine function's lines, from the lines of what it reads."""
        return fold(affine, sources, self._terms)

    def output(self, sources: Sequence[fmpq_mat]) -> fmpq_mat:
        """The lines of the outputs, from the lines of every source."""
        return self.affine(self._program.output, sources)

    def forward(self, jets: fmpq_mat) -> Evaluation:
        """The network at the jets of its inputs."""
        lines: list[Line] = []
        pattern: list[bool] = []
        for at in walk(self._program, _Lines(self), jets):
            if at.decided is not None:
                lines += at.decided.lines
                pattern += at.decided.on
        return Evaluation(tuple(pattern), lines, at.z.tolist())


class _Signs(NamedTuple):
    """The jets of all gates of a stage, and which of the gates are on."""

    lines: list[Line]
    on: list[bool]


class _Lines:
    """Lines of rationals (width, columns). The first entry of a gate's line that is not zero decides."""

    def __init__(self, exact: RationalProgram) -> None:
        self._exact = exact

    def affine(self, affine: Affine, values: Sequence[fmpq_mat]) -> fmpq_mat:
        return self._exact.affine(affine, values)

    def decide(self, gates: Gates[Stage], z: fmpq_mat) -> _Signs:
        lines = z.tolist()
        return _Signs(lines, [is_positive(line) for line in lines])

    def output(self, gates: Gates[Stage], z: fmpq_mat, decided: _Signs) -> fmpq_mat:
        return self._exact.stages[gates.number].outputs(z, decided.on)

    def nothing(self, inputs: fmpq_mat) -> fmpq_mat:
        return fmpq_mat(0, inputs.ncols())


@dataclass(frozen=True)
class Evaluation:
    """A forward pass: the pattern, and one line of jets per gate and per output."""

    pattern: tuple[bool, ...]
    preactivations: list[Line]
    outputs: list[Line]


@dataclass(frozen=True)
class PointEvaluation:
    """A forward pass at one point: the pattern, every gate's pre-activation and the outputs."""

    pattern: tuple[bool, ...]
    preactivations: list[fmpq]
    outputs: list[fmpq]


def evaluate_exactly(program: Program, point: Sequence[fmpq]) -> PointEvaluation:
    """The network at a rational input point."""
    passed = RationalProgram(program).forward(fmpq_mat(len(point), 1, list(point)))
    return PointEvaluation(
        passed.pattern,
        [value for (value,) in passed.preactivations],
        [value for (value,) in passed.outputs],
    )


def is_positive(line: Sequence[fmpq]) -> bool:
    """Whether a jet is positive just next to its point: its first non-zero entry decides; all zeros are not.

    >>> is_positive([fmpq(0), fmpq(2)]), is_positive([fmpq(0), fmpq(0)])
    (True, False)
    """
    return next((entry > 0 for entry in line if entry != 0), False)
