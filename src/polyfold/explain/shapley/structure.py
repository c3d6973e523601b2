"""What of a network bends between two inputs, and which features that touches.

Over the box that two inputs span most gates keep one sign, which is proved by bounds on the gates' values. There the
network is an affine function plus, for every gate that may bend, a coefficient times what the gate puts out; and a gate
depends on the features that reach it only. Shapley values add up over such terms, and a term's game is played by its
own features: 2^k coalitions for k of them, however many features there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polyfold._base.types import Array, Flags, Ids
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rounding import TINY, relative
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.pulled_back import output_forms
from polyfold.program.passes.supports import reached
from polyfold.program.program import Program, Stage


@dataclass(frozen=True, eq=False)
class Term:
    """Gates that are summed in one game: its features, and for each stage the coefficients (width, outputs)."""

    features: Ids
    gates: dict[int, Array]


@dataclass(frozen=True, eq=False)
class Structure:
    """A network between two inputs: x -> A x + constant + the sum of the terms. A is (outputs, inputs)."""

    A: Array
    terms: tuple[Term, ...]

    @property
    def coalitions(self) -> int:
        """How many hybrids all games together have."""
        return sum(2 ** len(term.features) for term in self.terms)

    @property
    def largest_game(self) -> int:
        """The most features that play in one game."""
        return max((len(term.features) for term in self.terms), default=0)


@dataclass(frozen=True, eq=False)
class Bending:
    """Gates over a box: their signs where these are proved, and which may bend (g,)."""

    signs: Flags
    free: Flags


def bending(program: Program, x: Array, y: Array) -> Bending:
    """Which gates may have both signs in the box between two inputs."""
    middle = x + (y - x) / 2
    reach = np.maximum(np.abs(x - middle), np.abs(y - middle))
    # The distances are rounded; an entry in which both agree has none.
    around = np.where(x == y, 0.0, reach * (1 + relative(4)) + TINY)
    passed = bounded_forward(program, BoundedValues(np.where(x == y, x, middle)[None], around[None]))
    bent = np.concatenate([np.zeros(0, dtype=bool), *(s.slope_on != s.slope_off for s in program.stages)])
    return Bending(passed.pattern[0], ~passed.certain[0] & bent)


def structure(program: Program, x: Array, y: Array) -> Structure:
    """The terms of the network between two inputs."""
    found = bending(program, x, y)
    touched = _touched(program, found, x != y)
    coefficients: dict[int, Array] = {}

    def note(stage: int, rows: Array) -> None:
        coefficients[stage - 1] = rows[0].T

    A, _ = output_forms(_without(program, found.free), found.signs[None], note)
    sets: dict[bytes, list[tuple[int, int]]] = {}
    for stage, rows in coefficients.items():
        first = program.first_gate[stage]
        here = found.free[first : first + len(rows)] & rows.any(axis=1)
        for gate in np.flatnonzero(here).tolist():
            sets.setdefault(touched[stage][:, gate].tobytes(), []).append((stage, gate))
    merged = _merged({key: np.frombuffer(key, dtype=bool) for key in sets})
    active = np.flatnonzero(x != y)
    terms = []
    for keys in merged:
        gates: dict[int, Array] = {}
        for stage, gate in (member for key in keys for member in sets[key]):
            chosen = gates.setdefault(stage, np.zeros_like(coefficients[stage]))
            chosen[gate] = coefficients[stage][gate]
        terms.append(Term(active[np.frombuffer(keys[0], dtype=bool)], gates))
    return Structure(A[0], tuple(terms))


def _merged(sets: dict[bytes, Flags]) -> list[list[bytes]]:
    """Sets put together with a larger one that holds them, the larger one in front."""
    kept: list[list[bytes]] = []
    for key in sorted(sets, key=lambda each: (-int(sets[each].sum()), each)):
        for group in kept:
            if not (sets[key] & ~sets[group[0]]).any():
                group.append(key)
                break
        else:
            kept.append([key])
    return kept


def _without(program: Program, free: Flags) -> Program:
    """The program in which gates that may bend put out nothing: what is left is affine."""
    stages = []
    for first, stage in zip(program.first_gate, program.stages, strict=False):
        still = ~free[first : first + stage.width]
        stages.append(Stage(stage.affine, stage.slope_on * still, stage.slope_off * still))
    return replace(program, stages=tuple(stages))


def _touched(program: Program, found: Bending, varies: Flags) -> dict[int, Flags]:
    """For each stage which of the features that vary (rows) reach which gates (columns)."""
    sets = np.eye(program.input_dim, dtype=bool)[varies]
    *stages, _ = reached(program, sets, found.signs, found.free)
    return {number: np.ascontiguousarray(stage) for number, stage in enumerate(stages)}
