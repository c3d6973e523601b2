"""A program that is being made smaller: its stages, what is known of their gates, and the one way to change a stage.

A gate puts out off * z + bend * relu(z). Whoever reads a stage so reads combinations of its relus and of its
pre-activations. A `Change` says which gates stay, by which coefficients the readers read them, and what affine
functions of the stage's own sources the readers get besides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq

from polyfold.exact.rational_arrays import Rationals, are_floats, product, zeros
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows

_ZERO = fmpq(0)


@dataclass(frozen=True)
class Known:
    """That a gate's pre-activation is nowhere negative (side 1) or nowhere positive (side -1) on the domain, or 0."""

    side: int = 0
    proof: str = ""


@dataclass(frozen=True, eq=False)
class Draft:
    """A program, and for every gate of every stage what is known of it."""

    program: ExactProgram
    known: tuple[tuple[Known, ...], ...]

    def readers(self, stage: int) -> dict[int, Rationals]:
        """The matrices by which later affine functions (by number) read a stage (from 0)."""
        source = stage + 1
        return {
            number: rows.terms[source]
            for number, rows in enumerate(self.program.affines)
            if number >= source and source in rows.terms
        }


@dataclass(frozen=True, eq=False)
class Change:
    """A stage's new gates, the readers' new columns, and affine functions of the stage's sources added to readers."""

    gates: ExactStage
    known: tuple[Known, ...]
    columns: dict[int, Rationals]
    added: dict[int, RationalRows]

    @property
    def in_floats(self) -> bool:
        """Whether all numbers that are new are floats."""
        return self.gates.rows.in_floats and all(are_floats(column) for column in self.columns.values())


def bend(stage: ExactStage) -> Rationals:
    """The difference of a gate's slopes."""
    difference: Rationals = stage.slope_on - stage.slope_off
    return difference


def affine_of(stage: ExactStage, coefficients: Rationals) -> RationalRows:
    """Combinations (k, width) of a stage's pre-activations, as affine functions of what it reads; no zero matrices."""
    used = np.flatnonzero([bool(column.any()) for column in coefficients.T])
    few = coefficients[:, used]
    terms = {}
    for source, matrix in stage.rows.terms.items():
        found = product(few, matrix[used])
        if found.any():
            terms[source] = found
    return RationalRows(terms, product(few, stage.rows.bias[used]))


def changed(draft: Draft, stage: int, change: Change) -> Draft:
    """The draft with one stage changed; a stage without gates is gone, and later ones are numbered anew."""
    source, affines = stage + 1, []
    for number, rows in enumerate(draft.program.affines):
        if number == stage:
            affines.append(change.gates.rows)
            continue
        terms, offset = dict(rows.terms), rows.bias
        if source in terms:
            terms.pop(source)
            if number in change.columns and change.columns[number].any():
                terms[source] = change.columns[number]
        if number in change.added:
            more = change.added[number]
            offset = offset + more.bias
            for other, matrix in more.terms.items():
                total = terms[other] + matrix if other in terms else matrix
                terms.pop(other, None)
                if total.any():
                    terms[other] = total
        affines.append(RationalRows(dict(sorted(terms.items())), offset))
    stages = [
        replace(old if number != stage else change.gates, rows=affines[number])
        for number, old in enumerate(draft.program.stages)
    ]
    known = [*draft.known[:stage], change.known, *draft.known[stage + 1 :]]
    if not change.gates.width:
        del stages[stage], known[stage], affines[stage]
        affines = [_renumbered(rows, source) for rows in affines]
        stages = [replace(old, rows=affines[number]) for number, old in enumerate(stages)]
    return Draft(replace(draft.program, stages=tuple(stages), output=affines[-1]), tuple(known))


def _renumbered(rows: RationalRows, gone: int) -> RationalRows:
    return RationalRows({s - 1 if s > gone else s: matrix for s, matrix in rows.terms.items()}, rows.bias)


def nothing_added(rows: RationalRows) -> bool:
    """Whether an affine function is zero."""
    return not rows.terms and not rows.bias.any()


def no_rows(count: int) -> RationalRows:
    """Zero."""
    return RationalRows({}, zeros(count))
