"""Every gate's sign at given inputs, proved: which gates an input lies on the wall of, and which could not be told.

Floats with error bounds decide nearly everything in shallow networks. What they leave open is settled input by input:
in rationals where the network is small, else in numbers as long as it takes (`program/passes/settled_digits.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import numpy as np

from polyfold._base.clock import OutOfTimeError, tick
from polyfold._base.types import Array, Ids, Signs
from polyfold.atlas.geometry.locate import vanishing
from polyfold.domain.domain import resolve_domain
from polyfold.engine.cells.exact_cell import ExactCells, affordable, coefficients
from polyfold.engine.cells.touching import Touching
from polyfold.errors import LimitError
from polyfold.exact.bounded_values import exact_values
from polyfold.exact.rational import rational, rational_matrix
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.integer_forms import ExactForms
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.passes.settled_digits import Plan, Settled, plan, settle
from polyfold.program.passes.supports import reached
from polyfold.program.program import Program

# One pass in rationals through so many coefficients takes about a second.
_MOST_COEFFICIENTS = 1_000_000
# So many products of digits take some twenty seconds.
_MOST_PRODUCTS = 10**11
# The cells that touch an input are looked at one by one if a form takes so few products, and there are so few of them.
_FEW_PRODUCTS = 20_000
_MOST_CELLS = 64


@dataclass(frozen=True, eq=False)
class SpecialGates:
    """Numbers of the gates at one input that are not like others. All others have a proved sign there.

    `on_wall`: zero at the input, but not all around it. `vanishing`: zero all around. `undecided`: neither the sign nor
    one of the former could be proved.
    """

    on_wall: Ids
    vanishing: Ids
    undecided: Ids


def signs_at(program: Program, X: Array, memory: int, settling: bool | None = None) -> tuple[Signs, list[SpecialGates]]:
    """Patterns (n, gates) at rows of inputs, and the gates that are special. Undecided ones are as floats have them.

    Where floats leave something open it is settled if `settling` is True, or if it is None and that takes seconds.
    """
    signs, special = signs_at_first(program, X, memory, settling)
    if len(special) < len(X):
        tick()
    return signs, special


def signs_at_first(program: Program, X: Array, memory: int, settling: bool | None) -> tuple[Signs, list[SpecialGates]]:
    """The same for as many of the first inputs as there is time for."""
    passed = bounded_forward(program, exact_values(X))
    still = np.zeros_like(passed.zero)
    rows = np.flatnonzero(passed.zero.any(axis=1))
    if len(rows):
        still[rows] = passed.zero[rows] & vanishing(program, exact_values(X[rows]))
    settler = _Settler(program, memory, settling)
    signs, special = passed.pattern, list[SpecialGates]()
    for i, x in enumerate(X):
        at = Settled(passed.pattern[i], passed.certain[i], passed.zero[i], np.zeros(program.gates, dtype=bool))
        around = still[i]
        if (~at.proved | (at.zero & ~around)).any():
            try:
                tick()
                at, around = settler(x, at, around)
            except OutOfTimeError:
                # What is found of inputs before this one is kept.
                return signs[:i], special
        signs[i] = at.on & ~at.zero
        special.append(_sorted_out(at, around))
    return signs, special


def look_from(
    program: Program, x: Array, memory: int, settling: bool | None
) -> Callable[[Array | None], Settled] | None:
    """How to find every gate's sign at an input and a short step along a direction; None if that takes too much."""
    return _Settler(program, memory, settling).way_to_look(x)


def _sorted_out(settled: Settled, still: Signs) -> SpecialGates:
    """Zero gates that neither leave nor are known to stay zero are undecided, as are those without a proved sign."""
    undecided = ~settled.proved | (settled.zero & ~settled.leaves & ~still)
    return SpecialGates(
        np.flatnonzero(settled.leaves & ~still),
        np.flatnonzero(settled.zero & still),
        np.flatnonzero(undecided),
    )


class _Settler:
    """What floats leave open at inputs of one program."""

    def __init__(self, program: Program, memory: int, settling: bool | None) -> None:
        self._program = program
        self._memory = memory
        self._settling = settling
        self._exact: RationalProgram | None = None

    def __call__(self, x: Array, floats: Settled, still: Signs) -> tuple[Settled, Signs]:
        """What is known of the gates at an input, and which of them are zero all around it."""
        look = self.way_to_look(x)
        if look is None:
            return floats, still
        try:
            at = look(None)
            still = still | (at.zero & ~varying(self._program, at))
            if (at.zero & ~still).any():
                # Along a direction that has nothing to do with the network, and back.
                way = np.random.default_rng(0).normal(size=len(x))
                leaves = look(way).leaves | look(-way).leaves
                at = replace(at, leaves=leaves & ~still)
        except OutOfTimeError:
            raise
        except LimitError:
            return floats, still
        for decide in (self._where_affine, partial(self._cell_by_cell, x)):
            if (at.zero & ~still & ~at.leaves).any():
                at, still = decide(at, still)
        return at, still

    def way_to_look(self, x: Array) -> Callable[[Array | None], Settled] | None:
        """How to find every gate's sign, or None if that takes too much."""
        if self._settling is False:
            return None
        if coefficients(self._program) <= _MOST_COEFFICIENTS:
            self._exact = exact = self._exact or RationalProgram(self._program)
            return lambda way: _rationally(exact, x, way)
        planned = self._plan(x)
        return None if planned is None else lambda way: settle(self._program, x, planned, way)

    def _plan(self, x: Array) -> Plan | None:
        try:
            planned = plan(self._program, x)
        except OutOfTimeError:
            raise
        except LimitError:
            return None
        if self._settling or (planned.products <= _MOST_PRODUCTS and planned.memory <= self._memory):
            return planned
        return None

    def _where_affine(self, at: Settled, still: Signs) -> tuple[Settled, Signs]:
        """Where no earlier gate bends, a gate is affine around the input, and its exact form says all."""
        program, domain = self._program, resolve_domain(None, self._program.input_dim)
        if not affordable(program, domain):
            return at, still
        forms = ExactCells(program, domain).forms.under(tuple((at.on & ~at.zero).tolist()))
        still, leaves = still.copy(), at.leaves.copy()
        for first, stage in zip(program.first_gate, program.stages, strict=False):
            if (~at.proved[:first] | (at.zero[:first] & ~still[:first])).any():
                break
            for gate in first + np.flatnonzero((at.zero & ~still)[first : first + stage.width]):
                leaves[gate] = any(forms.rows[gate])
                still[gate] = not leaves[gate]
        return replace(at, leaves=leaves), still

    def _cell_by_cell(self, x: Array, at: Settled, still: Signs) -> tuple[Settled, Signs]:
        """In small networks: a gate is zero all around the input if it is on every cell that touches it."""
        program, domain = self._program, resolve_domain(None, self._program.input_dim)
        if (domain.dim + 1) * coefficients(program) > _FEW_PRODUCTS:
            return at, still
        forms = ExactForms(program, domain)
        search = Touching(program, domain, forms, [rational(value) for value in x.tolist()])
        leaves = at.leaves.copy()
        looked_at = count()
        for cell in search.cells(lambda: next(looked_at) < _MOST_CELLS):
            rows = forms.under(cell.pattern).rows
            for gate in np.flatnonzero(at.zero & ~still & ~leaves):
                leaves[gate] = any(rows[gate])
            if not (at.zero & ~still & ~leaves).any():
                break
        return replace(at, leaves=leaves), still | (at.zero & ~leaves & search.complete)


def _rationally(exact: RationalProgram, x: Array, way: Array | None) -> Settled:
    columns = x[:, None] if way is None else np.column_stack([x, way])
    passed = exact.forward(rational_matrix(columns))
    zero = np.array([line[0] == 0 for line in passed.preactivations], dtype=bool)
    leaves = zero & np.array([any(line) for line in passed.preactivations], dtype=bool)
    return Settled(np.array(passed.pattern, dtype=bool), np.ones_like(zero), zero, leaves)


def varying(program: Program, at: Settled) -> Signs:
    """Which gates can change at all around an input; the others depend only on gates that are flat there."""
    anything = np.ones((1, program.input_dim), dtype=bool)
    *stages, _ = reached(program, anything, at.on, free=~at.proved | at.zero)
    return np.concatenate([np.zeros(0, dtype=bool), *(stage[0] for stage in stages)])
