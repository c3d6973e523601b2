"""Single gates over a domain's parameters in rational arithmetic, in programs of any size.

What a gate depends on is often a small part of a large network: the pixels under a window, the gates behind them. A
gate's pre-activation under a pattern is an affine function of the domain's parameters; its coefficients are found by
walking down from the gate, and hold for all patterns that agree on the gates met on the way.

Apart from `walk.py`: it goes from one gate, entry by entry, to what that depends on and nowhere else, with a budget.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.types import Ids, Signs
from polyfold.domain.domain import Domain
from polyfold.exact.rational import rational
from polyfold.program import coefficients as written_out
from polyfold.program.affine import Affine
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken
from polyfold.program.operators import Operator
from polyfold.program.program import Program

Coefficients = tuple[fmpq, ...]  # the constant, and one per parameter

# Products of rationals that may be spent on one atlas: some ten seconds.
_MOST_PRODUCTS = 1 << 22
_FEW_PRODUCTS = 1 << 18


class TooMuchError(Exception):
    """A gate depends on too much of the network."""


@dataclass(frozen=True)
class GateForm:
    """A gate's pre-activation on some of the cells that were asked about."""

    cells: Ids
    coefficients: Coefficients

    @property
    def vanishes(self) -> bool:
        return not any(self.coefficients)

    def at(self, point: Iterable[fmpq]) -> fmpq:
        """Its value at a point of the parameters."""
        constant, *slopes = self.coefficients
        return sum((slope * x for slope, x in zip(slopes, point, strict=True)), constant)


@dataclass(frozen=True, eq=False)
class _Walked:
    """A form that was found, and the signs of the gates met on the way: it holds wherever these are the same."""

    met: Ids
    signs: Signs
    coefficients: Coefficients

    def holds_for(self, signs: Signs, rows: Ids) -> npt.NDArray[np.bool_]:
        """Whether it holds for each of these rows of signs."""
        same: npt.NDArray[np.bool_] = (signs[np.ix_(rows, self.met)] == self.signs).all(axis=1)
        return same


class ExactGates:
    """Gates of one program on one domain; one budget of products for all that is asked."""

    def __init__(self, program: Program, domain: Domain, products: int = _MOST_PRODUCTS) -> None:
        self.program = program
        self.domain = domain
        self.products_left = products
        self._rows: dict[tuple[int, int], list[tuple[int, fmpq]]] = {}
        self._over_inputs: dict[tuple[int, int, int], Coefficients] = {}
        # The identity of all inputs may only be a view, and far too large.
        filled = (
            (domain.origin != 0) | (domain.basis != 0).any(axis=1) if domain.is_slice else np.ones(domain.dim, bool)
        )
        self._filled = filled.tolist()
        self._walked: dict[int, list[_Walked]] = {}
        self._nothing = (fmpq(0),) * (domain.dim + 1)

    def forms(self, gate: int, signs: Signs, rows: Ids | None = None) -> list[GateForm]:
        """The gate under each of the patterns, or of these rows of them, patterns with the same form together.

        Outputs are numbered behind the gates. Raises TooMuchError.
        """
        found = []
        left = np.arange(len(signs)) if rows is None else rows
        known = self._walked.setdefault(gate, [])
        for walked in known:
            same = walked.holds_for(signs, left)
            if same.any():
                found.append(GateForm(left[same], walked.coefficients))
            left = left[~same]
        while len(left):
            walk = _Walk(self, signs[left[0]])
            coefficients = walk.gate(gate)
            met = np.array(sorted(walk.met), dtype=np.int64)
            known.append(_Walked(met, signs[left[0], met], coefficients))
            same = known[-1].holds_for(signs, left)
            found.append(GateForm(left[same], coefficients))
            left = left[~same]
        return found

    # -- what walks ask for

    def input(self, entry: int) -> Coefficients:
        """An input as a function of the parameters."""
        values = (float(self.domain.origin[entry]), *self.domain.basis[entry].tolist())
        return tuple(map(rational, values)) if any(values) else self._nothing

    def row(self, operator: Operator, number: int) -> list[tuple[int, fmpq]]:
        """A row of an operator: columns and coefficients. No two coefficients are added in it, so they are exact."""
        key = (id(operator), number)
        if key not in self._rows:
            columns, values = operator.row(number)
            self._rows[key] = [
                (k, rational(value)) for k, value in zip(columns.tolist(), values.tolist(), strict=True) if value
            ]
        return self._rows[key]

    def over_inputs(self, affine: Affine, row: int, find: Callable[[], Coefficients]) -> Coefficients:
        """A value of a function that reads inputs only; found once."""
        key = (id(affine), row, -1)
        if key not in self._over_inputs:
            self._over_inputs[key] = find()
        return self._over_inputs[key]

    def row_over_inputs(self, operator: Operator, number: int, first: int) -> Coefficients:
        """A row of an operator on the inputs from one on."""
        key = (id(operator), number, first)
        if key not in self._over_inputs:
            # The margins of pictures are empty.
            terms = [(first + k, factor) for k, factor in self.row(operator, number) if self._filled[first + k]]
            if self.domain.is_slice:
                self._over_inputs[key] = self.combined((factor, self.input(k)) for k, factor in terms)
            else:
                self._over_inputs[key] = self._placed(terms)
        return self._over_inputs[key]

    def _placed(self, terms: list[tuple[int, fmpq]]) -> Coefficients:
        """A sum of multiples of inputs that are the parameters themselves."""
        self.spend(len(terms))
        total = list(self._nothing)
        for k, factor in terms:
            total[1 + k] += factor
        return tuple(total)

    def spend(self, products: int) -> None:
        """Raises TooMuchError if that is more than is left."""
        self.products_left -= products
        if self.products_left < 0:
            raise TooMuchError

    def combined(self, terms: Iterable[tuple[fmpq, Coefficients]]) -> Coefficients:
        """A sum of multiples."""
        total = self._nothing
        for factor, coefficients in terms:
            self.spend(1)
            if coefficients is self._nothing:
                continue
            if total is self._nothing:
                total = coefficients if factor == 1 else tuple(factor * b for b in coefficients)
            else:
                total = tuple(a + factor * b if b else a for a, b in zip(total, coefficients, strict=True))
        return total


def exact_gates(program: Program, domain: Domain) -> ExactGates:
    """Gates with as many products as they take, where one form takes few of them."""
    cheap = is_cheap(program, domain.dim)
    return ExactGates(program, domain, sys.maxsize if cheap else _MOST_PRODUCTS // (domain.dim + 1))


def is_cheap(program: Program, dim: int) -> bool:
    """Whether one gate over so many parameters takes milliseconds: every coefficient is met once, in a row of those."""
    return written_out.coefficients(program) * (dim + 1) <= _FEW_PRODUCTS


class _Walk:
    """Down from one gate under one pattern; `met` are the gates that the result depends on."""

    def __init__(self, gates: ExactGates, signs: Signs) -> None:
        self.gates = gates
        self.program = gates.program
        self.signs = signs
        self.met: set[int] = set()
        self._known: dict[tuple[int, int], Coefficients] = {}

    def gate(self, number: int) -> Coefficients:
        """A gate's pre-activation; behind the last gate come the outputs."""
        stage = int(np.searchsorted(self.program.first_gate, number, side="right")) - 1
        if number >= self.program.gates:
            stage = len(self.program.stages)
        try:
            return self._affine(self.program.affines[stage], number - self.program.first_gate[stage])
        except RecursionError:
            raise TooMuchError from None

    def _entry(self, source: int, entry: int) -> Coefficients:
        known = self._known.get((source, entry))
        if known is None:
            known = self.gates.input(entry) if source == 0 else self._passed_on(source - 1, entry)
            self._known[source, entry] = known
        return known

    def _passed_on(self, number: int, entry: int) -> Coefficients:
        stage, gate = self.program.stages[number], self.program.first_gate[number] + entry
        self.met.add(gate)
        slope = float((stage.slope_on if self.signs[gate] else stage.slope_off)[entry])
        return self.gates.combined([(rational(slope), self._affine(stage.affine, entry))] if slope else [])

    def _affine(self, affine: Affine, row: int) -> Coefficients:
        if affine.sources <= {0}:
            # No gate is met: the same under every pattern.
            return self.gates.over_inputs(affine, row, lambda: self._walked(affine, row))
        return self._walked(affine, row)

    def _walked(self, affine: Affine, row: int) -> Coefficients:
        linear = self._form(affine.form, row)
        return (linear[0] + rational(float(affine.bias[row])), *linear[1:])

    def _form(self, form: Form, row: int) -> Coefficients:
        one = fmpq(1)
        match form:
            case Entries():
                return self._entry(form.source, form.first + row)
            case Nothing():
                return self.gates.combined([])
            case Applied(form=Entries(source=0, first=first)):
                return self.gates.row_over_inputs(form.operator, row, first)
            case Applied():
                terms = self.gates.row(form.operator, row)
                return self.gates.combined((factor, self._form(form.form, column)) for column, factor in terms)
            case Scaled():
                return self.gates.combined([(rational(float(form.factor[row])), self._form(form.form, row))])
            case Taken():
                return self._form(form.form, int(form.index[row]))
            case Summed():
                return self.gates.combined((one, self._form(part, row)) for part in form.forms)
            case Stacked():
                for part in form.forms:
                    if row < part.rows:
                        return self._form(part, row)
                    row -= part.rows
        raise AssertionError(f"there is no exact walk through {type(form).__name__}")
