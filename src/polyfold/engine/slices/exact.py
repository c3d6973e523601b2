"""Gates and vertices of a line or plane in exact numbers, for the few questions that floats leave open.

A gate's form over the parameters is walked down to the inputs in rationals (`program/passes/single_gates.py`) where it
depends on little, and then holds for all cells that agree on the gates met on the way. Where it depends on much, the
whole stage is computed in long numbers (`program/passes/digits.py`), for one cell at a time. What is too much for both
stays open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.types import Array, Signs
from polyfold.domain.domain import Domain
from polyfold.engine.slices.switches import Switches, switches_of
from polyfold.errors import LimitError
from polyfold.exact.digits import Digits, digits_of
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rounding import TINY, relative
from polyfold.program.passes.bounded_rows import NEGATIVE, OPEN, POSITIVE, ZERO
from polyfold.program.passes.digits import digit_bits, exactly
from polyfold.program.passes.single_gates import Coefficients, ExactGates, GateForm, TooMuchError
from polyfold.program.program import Program

SlicePoint = tuple[fmpq, ...]

# Products of rationals for one walk: some thousandths of a second.
_PRODUCTS = 1 << 11
# Bytes that the long numbers of one cell may take.
_BYTES = 1 << 29
# Stages in long numbers that are kept.
_KEPT = 64


class PausedError(Exception):
    """The run was stopped while something was decided exactly."""


class ExactSlice:
    """Forms and vertices of one program on one line or plane. `may_go_on` is asked before anything that takes long.

    Walls are those of `switches`, rows of the domain behind them.
    """

    def __init__(
        self,
        program: Program,
        domain: Domain,
        may_go_on: Callable[[], bool] = lambda: True,
        switches: Switches | None = None,
    ) -> None:
        self.program, self.domain, self.may_go_on = program, domain, may_go_on
        self.switches = switches_of(program, pools=False) if switches is None else switches
        self.walls = self.switches.walls
        self._walks = ExactGates(program, domain, _PRODUCTS)
        self._digits = _LongNumbers(program, domain)
        self._too_much: set[int] = set()

    def forms(self, gate: int, signs: Signs) -> list[GateForm]:
        """The gate under each of the patterns (rows of signs), patterns with the same form together; some are left
        out where it is too much."""
        if gate not in self._too_much:
            self._look_at_the_clock()
            self._walks.products_left = _PRODUCTS
            try:
                return self._walks.forms(gate, signs)
            except TooMuchError:
                self._too_much.add(gate)
        found = []
        for row in range(len(signs)):
            self._look_at_the_clock()
            coefficients = self._digits.form(gate, signs[row])
            if coefficients is not None:
                found.append(GateForm(np.array([row]), coefficients))
        return found

    def wall(self, wall: int, signs: Signs) -> Coefficients | None:
        """A function of the parameters that vanishes on a wall: a gate under a pattern, or a row of the domain."""
        row = wall - len(self.walls)
        if row >= 0:
            return domain_row(self.domain, row)
        return next((form.coefficients for form in self._forms_on(wall, signs)), None)

    def _forms_on(self, wall: int, signs: Signs) -> list[GateForm]:
        """The gate of a wall, with what is held for it; nothing if that is too much."""
        return self.forms(int(self.walls.gate[wall]), self.walls.under(wall, signs)[None])

    def place(self, wall: int, other: int, signs: Signs) -> SlicePoint | None:
        """Where two walls of a cell meet; on a line (wall -1) where the other one is."""
        rows = [self.wall(each, signs) for each in (wall, other) if each >= 0]
        known = [row for row in rows if row is not None]
        return _zero_of(known) if len(known) == len(rows) else None

    def sign(self, wall: int, other: int, signs: Signs, asked: int) -> np.uint8:
        """The sign of a third wall's function there; OPEN where that is too much."""
        form = next(iter(self._forms_on(asked, signs)), None)
        if form is None or form.vanishes:
            return OPEN if form is None else ZERO
        place = self.place(wall, other, signs)
        return OPEN if place is None else sign_at(form, place)

    def stage(self, number: int, signs: Signs) -> Digits | None:
        """All gates of a stage under a pattern, a row a coefficient; None if that is too much."""
        self._look_at_the_clock()
        return self._digits.stage(number, signs)

    def has_pattern(self, point: SlicePoint, signs: Signs) -> bool | None:
        """Whether a point lies inside the cell of a pattern: every gate that cuts by itself has its sign there, or
        vanishes on the cell, and so have the differences between a pool's winner and its other members.

        None where that is too much.
        """
        for switches in self.switches.stages:
            expected = switches.expected(self.program, signs)
            for part in switches.parts:
                asked = part.column[expected[part.column] != 0]
                if not len(asked):
                    continue
                under = part.held.under(signs)
                numbers = self.stage(part.stage, under)
                if numbers is not None:
                    found = signs_of_many(numbers.entries(part.gate[expected[part.column] != 0]), point)
                    clear = (found == POSITIVE) | (found == NEGATIVE)
                    if ((found == POSITIVE) != (expected[asked] > 0))[clear].any():
                        return False
                    asked = asked[~clear]
                for column in asked.tolist():
                    form = next(iter(self._forms_on(switches.first_wall + column, signs)), None)
                    if form is None:
                        return None
                    sign = ZERO if form.vanishes else sign_at(form, point)
                    if (sign == ZERO and not form.vanishes) or (sign == POSITIVE) != (expected[column] > 0):
                        return False
        return True

    def _look_at_the_clock(self) -> None:
        if not self.may_go_on():
            raise PausedError


def signs_of_many(numbers: Digits, place: SlicePoint) -> npt.NDArray[np.uint8]:
    """The signs of forms, a column of numbers each, at a place."""
    at = np.array([1.0, *(as_float(x) for x in place)])
    with np.errstate(over="ignore", invalid="ignore"):
        terms = numbers.floats * at[:, None]
        values, sizes = terms.sum(axis=0), np.abs(terms).sum(axis=0)
        clear = np.abs(values) > sizes * (numbers.error + relative(2 * len(at) + 8)) + TINY
    found = np.where(values > 0, POSITIVE, NEGATIVE)
    found[~clear] = ZERO
    for entry in np.flatnonzero(~clear & numbers.nonzero.any(axis=0)).tolist():
        found[entry] = sign_at(GateForm(np.zeros(0, dtype=np.int64), numbers.exact(entry)), place)
    return found


def sign_at(form: GateForm, place: SlicePoint) -> np.uint8:
    """The sign of a form at a place."""
    value = form.at(place)
    return POSITIVE if value > 0 else NEGATIVE if value < 0 else ZERO


def in_units(place: SlicePoint, unit: Array) -> tuple[float, ...]:
    """A place in units of the parameters, rounded to the nearest floats."""
    return tuple(as_float(x / rational(one)) for x, one in zip(place, unit.tolist(), strict=True))


def domain_row(domain: Domain, row: int) -> Coefficients:
    """A row a . x <= b of the domain as a function a . x - b of the parameters."""
    inputs = len(domain.input_rows)
    if row >= inputs:
        row -= inputs
        return (-rational(float(domain.parameter_offsets[row])), *map(rational, domain.parameter_rows[row].tolist()))
    read = np.flatnonzero(domain.input_rows[row]).tolist()
    coefficients = [(k, rational(float(domain.input_rows[row, k]))) for k in read]
    constant = sum((a * rational(float(domain.origin[k])) for k, a in coefficients), fmpq(0))
    slopes = (
        sum((a * rational(float(domain.basis[k, j])) for k, a in coefficients), fmpq(0)) for j in range(domain.dim)
    )
    return (constant - rational(float(domain.input_offsets[row])), *slopes)


def _zero_of(rows: list[Coefficients]) -> SlicePoint | None:
    """Where one function of one parameter, or two of two, are zero; None if that is no single point."""
    if len(rows) == 1:
        ((constant, slope),) = rows
        return (-constant / slope,) if slope else None
    (p, a, b), (q, c, d) = rows
    determinant = a * d - b * c
    if not determinant:
        return None
    return ((b * q - d * p) / determinant, (c * p - a * q) / determinant)


class _LongNumbers:
    """All gates of a stage on one cell, without rounding."""

    def __init__(self, program: Program, domain: Domain) -> None:
        self._program, self._domain = program, domain
        self._bits = digit_bits(program)
        self._frame = np.concatenate([domain.origin[None], domain.basis.T])
        self._known: dict[tuple[int, bytes], Digits | None] = {}

    def form(self, gate: int, signs: Signs) -> Coefficients | None:
        """One gate's form under a pattern; None if that is too much."""
        stage = int(np.searchsorted(self._program.first_gate, gate, side="right")) - 1
        first = self._program.first_gate[stage]
        known = self.stage(stage, signs)
        return None if known is None else known.exact(gate - first)

    def stage(self, stage: int, signs: Signs) -> Digits | None:
        """All gates of a stage under a pattern, a row a coefficient; None if that is too much."""
        key = (stage, np.packbits(signs[: self._program.first_gate[stage]]).tobytes())
        if key not in self._known:
            if len(self._known) >= _KEPT:
                del self._known[next(iter(self._known))]
            self._known[key] = self._computed(stage, signs)
        return self._known[key]

    def _computed(self, last: int, signs: Signs) -> Digits | None:
        """Apart from `program/passes/walk.py`: it gives up between stages where the numbers take too much memory."""
        program, biased = self._program, np.array([1.0, *np.zeros(self._domain.dim)])
        try:
            sources = [digits_of(self._frame, self._bits)]
            for number in range(last + 1):
                stage, first = program.stages[number], program.first_gate[number]
                z = exactly(stage.affine, sources, biased)
                if number == last:
                    return z
                if sum(source.digits.nbytes for source in sources) + 4 * z.digits.nbytes > _BYTES:
                    return None
                on = signs[first : first + stage.width]
                sources.append(z.scaled(np.where(on, stage.slope_on, stage.slope_off)))
                for source in range(1, len(sources)):
                    if program.last_reader[source] <= number:
                        sources[source] = sources[source].entries(slice(0))
        except LimitError:
            return None
        raise AssertionError("a stage is one of the program's")
