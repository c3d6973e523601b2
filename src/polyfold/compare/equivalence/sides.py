"""The two functions that are compared: those of the networks' own numbers, whatever floats make of them.

Cells are found in floats, where a network may have been rounded. What is proved about it is proved of its `truth`: the
program itself if nothing was rounded, else the network in rationals. Where that is not to be had (it is too large, or
only a rounded program was given), a bound on what was rounded takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq

from polyfold._base.types import Array
from polyfold.compare.equivalence.in_floats import Multiplied, multiplied
from polyfold.compare.equivalence.result import Difference, Point, Size, as_float
from polyfold.compare.equivalence.rows import Rows
from polyfold.domain.domain import Domain
from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.errors import LimitError
from polyfold.exact.rounding import TINY, relative
from polyfold.network.graph import Network
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.unrounded import in_floats
from polyfold.program.coefficients import coefficients
from polyfold.program.exact_program import ExactProgram, from_program, lower_exactly
from polyfold.program.in_range import clipped, in_range
from polyfold.program.lower.lower import written_out
from polyfold.program.passes.digits import outputs_at
from polyfold.program.passes.rationals import evaluate_exactly
from polyfold.program.program import Program

# Exact outputs of what is computed with, and what the network's own may differ from each by.
Outputs = tuple[list[Fraction], list[Size]]

# Coefficients of one network that are written as rationals, and products on the way there.
MOST_RATIONALS = 4_000_000
_MOST_PRODUCTS = 2_000_000_000
# Programs of so many coefficients are evaluated in rationals, where numbers are too long for digits.
_FEW_COEFFICIENTS = 10_000


@dataclass(frozen=True, eq=False)
class Side:
    """One network: `program` in floats, for points and cells, and `truth`, which verdicts are about."""

    program: Program
    truth: Program | ExactProgram

    @property
    def is_exact(self) -> bool:
        """Whether the truth is the function of the network's own numbers, to the last digit."""
        return self.truth.rounding is None

    @property
    def stands_for_roots(self) -> bool:
        """Whether only irrational numbers keep it from that: rationals that were drawn stand for them."""
        return isinstance(self.truth, ExactProgram) and not self.is_exact

    def outputs_at(self, domain: Domain, u: Array, point: Point) -> Outputs:
        """The outputs at a float point of parameters, which is that input, and what each may be off by."""
        if isinstance(self.truth, ExactProgram):
            return self.outputs_at_input(point)
        try:
            return outputs_at(self.truth, domain, u), self._errors_at(point)
        except LimitError:
            if coefficients(self.truth) > _FEW_COEFFICIENTS:
                raise
        return self.outputs_at_input(point)

    def outputs_at_input(self, point: Point) -> Outputs:
        """The same at an input in rationals."""
        exact = [fmpq(value.numerator, value.denominator) for value in point]
        if isinstance(self.truth, ExactProgram):
            values = self.truth.evaluate([exact])[0].tolist()
        else:
            values = evaluate_exactly(self.truth, exact).outputs
        return [Fraction(int(value.p), int(value.q)) for value in values], self._errors_at(point)

    def _errors_at(self, point: Point) -> list[Size]:
        if self.is_exact:
            return [Fraction(0)] * self.program.output_dim
        reach = np.array([as_float(abs(value)) for value in point]) * (1 + relative(2)) + TINY
        return [_size(moved) for moved in self._near_truth.distance(reach).tolist()]

    def slack(self, reach: Array, of: str) -> Array:
        """How far the outputs of the `program`, or of the `truth`, may be from the network's where |x_i| <= reach_i."""
        return (self.program if of == "program" else self._near_truth).distance(reach)

    @cached_property
    def _near_truth(self) -> Program:
        """Floats next to the truth, with what it stands for: they tell sizes well enough, for the bound has room."""
        if isinstance(self.truth, Program):
            return self.truth
        return replace(self.program, rounding=self.truth.rounding)


@dataclass(frozen=True, eq=False)
class Sides:
    """Both networks, what of their outputs is compared, and where."""

    first: Side
    second: Side
    rows: Rows
    place: BoundedDomain

    @property
    def both(self) -> tuple[Side, Side]:
        return self.first, self.second

    @property
    def are_exact(self) -> bool:
        """Whether all that is computed of the truths is so of the networks."""
        return all(side.is_exact for side in self.both)

    @property
    def equal_truths_are_equal(self) -> bool:
        """Whether truths that are one function prove that the networks are.

        Rationals that were drawn stand for roots, the same for the same number: a function of them that is the same
        is so for whatever was drawn, and so for the roots.
        """
        return all(side.is_exact or side.stands_for_roots for side in self.both)

    def slack(self, of: str) -> list[Size]:
        """What each row may be off by anywhere in the domain, computed of the programs or of the truths."""
        reach = self._reach
        if reach is None:
            exact = all(side.program.rounding is None if of == "program" else side.is_exact for side in self.both)
            return [Fraction(0) if exact else float("inf")] * len(self.rows)
        first, second = (side.slack(reach, of) for side in self.both)
        return [
            _size(float(sum(first[k] for k, _ in one) + sum(second[k] for k, _ in other)) * (1 + relative(64)))
            for one, other in zip(self.rows.first, self.rows.second, strict=True)
        ]

    @property
    def _reach(self) -> Array | None:
        """What inputs reach over the domain, in absolute value; None if it has no end."""
        box, domain = self.place.box, self.place.domain
        if box is None:
            return None
        if not domain.is_slice:
            return box.reach
        reach = np.abs(domain.origin) + np.abs(domain.basis) @ box.reach
        return reach * (1 + relative(domain.dim + 4)) + TINY

    @cached_property
    def multiples(self) -> Multiplied | None:
        """Both networks in floats after all, up to a factor of their outputs, where programs are rounded; None if that
        is not to be had."""
        if not self.are_exact or not any(side.program.rounded for side in self.both):
            return None
        first, second = (
            side.truth if isinstance(side.truth, ExactProgram) else _in_rationals(side.truth) for side in self.both
        )
        return None if first is None or second is None else multiplied(first, second)

    def gaps_at(self, u: Array, point: Point) -> list[Fraction]:
        """What each row is at least, in size, at a float point of parameters, which is that input."""
        found = [side.outputs_at(self.place.domain, u, point) for side in self.both]
        return self._gaps(found)

    def confirmed(self, found: Sequence[Difference]) -> list[Difference]:
        """What the programs' differences say of the networks': looked at again where they are largest, and with room
        for what was rounded."""
        slack = self.slack("program")
        if not any(slack):
            return list(found)
        return [
            Difference(*self._at_least(k, one, room), one.point)
            for k, (one, room) in enumerate(zip(found, slack, strict=True))
        ]

    def _at_least(self, k: int, one: Difference, room: Size) -> tuple[Size, Size]:
        # A fraction that is larger than all floats cannot be added to an infinite one.
        upper = room if room == float("inf") else one.upper + room
        if one.point is None:
            return Fraction(0), upper
        return self._gaps([side.outputs_at_input(one.point) for side in self.both])[k], upper

    def _gaps(self, outputs: Sequence[Outputs]) -> list[Fraction]:
        (first, first_errors), (second, second_errors) = outputs
        values = self.rows.of_fractions(first, second)
        gaps = []
        for k, value in enumerate(values):
            errors = [
                *(first_errors[number] for number, _ in self.rows.first[k]),
                *(second_errors[number] for number, _ in self.rows.second[k]),
            ]
            off = sum(errors, Fraction(0))
            gaps.append(max(Fraction(0), abs(value) - Fraction(off)) if off < float("inf") else Fraction(0))
        return gaps


def side_of(network: Network | Program, program: Program, salt: bytes, *, matrices: bool) -> Side:
    """What is compared of a network, of which this is the program; with `matrices` cells are found in these."""
    floats = written_out(program) if matrices else program
    within = clipped(floats) is floats
    if (program.rounded or not within) and isinstance(network, Network) and _is_small(network, program):
        truth = lower_exactly(network, salt=salt)
        # Its nearest floats are nearer than what rounding step by step has come to.
        return Side(clipped(truth.to_program()), truth)
    return Side(in_range(floats), program)


def _is_small(network: Network, program: Program) -> bool:
    ops = [in_floats(node.op) for node in network.nodes]
    products = sum(op.weight.size for op in ops if isinstance(op, Linear)) * network.input_dim
    return coefficients(program) <= MOST_RATIONALS and products <= _MOST_PRODUCTS


def _in_rationals(program: Program) -> ExactProgram | None:
    return from_program(program) if coefficients(program) <= MOST_RATIONALS else None


def _size(moved: float) -> Size:
    return Fraction(moved) if moved < float("inf") else float("inf")
