"""How far a program moves when its coefficients are rounded to floats, over a domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from polyfold._base.types import Array
from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.engine.bounds.source_ranges import source_ranges
from polyfold.exact.rational_arrays import nearest
from polyfold.exact.rounding import LEAST, TINY, UNIT, relative
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.passes.walk import Gates, outputs, walk


@dataclass(frozen=True)
class RoundingError:
    """What rounding changed, at most: `absolute` on the domain (infinite if that has no end), output by output, and
    `relative` times 1 + max |x_i| at every input x whatever. Both are 0 if nothing was rounded."""

    absolute: tuple[float, ...]
    relative: tuple[float, ...]


def rounding_error(program: ExactProgram, place: BoundedDomain) -> RoundingError:
    """A coefficient moves by half a unit in its last place at most, so a pre-activation by that part of its terms, and
    by what its sources have moved."""
    if program.in_floats:
        return RoundingError((0.0,) * program.output_dim, (0.0,) * program.output_dim)
    reaches = [np.maximum(np.abs(low), np.abs(high)) for low, high in source_ranges(program, place)]
    with np.errstate(invalid="ignore", over="ignore"):
        return RoundingError(_errors(program, reaches), _errors(program, _unit_reaches(program)))


def _unit_reaches(program: ExactProgram) -> list[Array]:
    """Bounds on all sources over 1 + max |x_i|."""
    inputs = np.ones(program.input_dim)
    passed = islice(walk(program, _Reaches(_room(program)), inputs), len(program.stages))
    return [inputs, *(at.decided for at in passed if at.decided is not None)]


class _Reaches:
    """Sizes of values (width,) over 1 + max |x_i|; what is known of gates is the size of what they put out."""

    def __init__(self, room: float) -> None:
        self._room = room

    def affine(self, rows: RationalRows, values: Sequence[Array]) -> Array:
        z = np.abs(nearest(rows.bias)) + TINY
        for source, matrix in rows.terms.items():
            z = z + np.abs(nearest(matrix)) @ values[source] + LEAST * values[source].sum()
        return z

    def decide(self, gates: Gates[ExactStage], z: Array) -> Array:
        return _steepest(gates.stage) * z * self._room + TINY

    def output(self, gates: Gates[ExactStage], z: Array, decided: Array) -> Array:
        return decided

    def nothing(self, inputs: Array) -> Array:
        return inputs[:0]


def _errors(program: ExactProgram, reaches: list[Array]) -> tuple[float, ...]:
    by = _Moves(reaches, _room(program))
    return tuple(outputs(program, by, np.zeros(program.input_dim)).tolist())


class _Moves:
    """What values (width,) move by, given how large all sources can be."""

    def __init__(self, reaches: list[Array], room: float) -> None:
        self._reaches, self._room = reaches, room

    def affine(self, rows: RationalRows, values: Sequence[Array]) -> Array:
        return _moved(rows, self._reaches, values, self._room)

    def decide(self, gates: Gates[ExactStage], z: Array) -> Array:
        return _steepest(gates.stage)

    def output(self, gates: Gates[ExactStage], z: Array, steepest: Array) -> Array:
        moved: Array = (steepest * z + 2 * UNIT * self._reaches[gates.number + 1]) * self._room + TINY
        return moved

    def nothing(self, inputs: Array) -> Array:
        return inputs[:0]


def _room(program: ExactProgram) -> float:
    """For the roundings of this computation itself."""
    return 1 + relative(4 * (max(program.widths) + 8) * (len(program.stages) + 1))


def _steepest(stage: ExactStage) -> Array:
    on, off = np.abs(nearest(stage.slope_on)), np.abs(nearest(stage.slope_off))
    return np.maximum(on, off) * (1 + 2 * UNIT)


def _moved(rows: RationalRows, reaches: Sequence[Array], moved: Sequence[Array], room: float) -> Array:
    total = UNIT * np.abs(nearest(rows.bias))
    for source, matrix in rows.terms.items():
        size = np.abs(nearest(matrix)) * (1 + 2 * UNIT)
        # Coefficients that are too small for floats are rounded by no part of themselves.
        total = total + size @ moved[source] + 2 * UNIT * (size @ reaches[source]) + LEAST * reaches[source].sum()
    found: Array = total * room + TINY
    return np.where(np.isnan(found), np.inf, found)
