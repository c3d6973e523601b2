"""Networks in rationals as programs in floats, exactly, up to a positive factor of their outputs.

A gate passes on multiples: relu(3 z) = 3 relu(z). So a row of fractions can be multiplied with a whole number until
floats hold it, and whoever reads the gate divides by that number; what is left in the end are outputs times a factor.
Cells are the same, and a difference of outputs is known to the last digit if that of their multiples is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, lcm

import numpy as np
from flint import fmpq

from polyfold.exact.rational_arrays import Rationals, filled
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.program import Program


@dataclass(frozen=True, eq=False)
class Multiplied:
    """Programs without any rounding, whose outputs are `factor` times those of the networks."""

    programs: tuple[Program, Program]
    factor: fmpq


def multiplied(first: ExactProgram, second: ExactProgram) -> Multiplied | None:
    """Both networks in floats, up to one factor of all outputs; None if floats cannot hold that.

    >>> from polyfold.program.exact_program import from_layers
    >>> third = from_layers([([[fmpq(1, 3)]], [fmpq(1, 7)]), ([[1]], [0])])
    >>> found = multiplied(third, third)
    >>> found.factor, found.programs[0].stages[0].affine.blocks[0].weight.tolist()
    (21, [[7.0]])
    """
    drafts = [_with_whole_rows(program) for program in (first, second)]
    numbers = [x for draft in drafts for row in _rows(draft.output) for x in row]
    factor = fmpq(lcm(1, *(_odd(int(x.q)) for x in numbers)))
    programs = []
    for draft in drafts:
        output = _times(draft.output, filled([factor] * draft.output.size, (draft.output.size,)))
        program = ExactProgram(draft.frame, draft.stages, output)
        if not program.in_floats:
            return None
        programs.append(program.to_program())
    return Multiplied((programs[0], programs[1]), factor)


def _with_whole_rows(program: ExactProgram) -> ExactProgram:
    """The same function with every gate's row multiplied until it has no odd denominators and no odd common factor."""
    stages: list[ExactStage] = []
    scales = [filled([fmpq(1)] * program.input_dim, (program.input_dim,))]
    for stage in program.stages:
        rows = _over(stage.rows, scales)
        scale = filled([_whole(row) for row in _rows(rows)], (rows.size,))
        stages.append(ExactStage(_times(rows, scale), stage.slope_on, stage.slope_off, stage.origins))
        scales.append(scale)
    return ExactProgram(program.frame, tuple(stages), _over(program.output, scales))


def _whole(row: Sequence[fmpq]) -> fmpq:
    """What a row is multiplied with."""
    present = [x for x in row if x]
    if not present:
        return fmpq(1)
    return fmpq(lcm(*(_odd(int(x.q)) for x in present)), gcd(*(_odd(abs(int(x.p))) for x in present)))


def _odd(number: int) -> int:
    return number // (number & -number)


def _rows(rows: RationalRows) -> list[list[fmpq]]:
    """All coefficients of every row, the bias too."""
    columns = [*rows.terms.values(), rows.bias[:, None]]
    return [list(row) for row in np.concatenate(columns, axis=1)]


def _over(rows: RationalRows, scales: Sequence[Rationals]) -> RationalRows:
    """Rows over sources that were multiplied."""
    return RationalRows({source: matrix / scales[source] for source, matrix in rows.terms.items()}, rows.bias)


def _times(rows: RationalRows, factor: Rationals) -> RationalRows:
    terms = {source: matrix * factor[:, None] for source, matrix in rows.terms.items()}
    return RationalRows(terms, rows.bias * factor)
