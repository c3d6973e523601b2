"""What cuts the cells of a line or plane, stage by stage: gates, and pools as switches of k ways.

A pool's members are compared each with each. The difference of two of them is what the gate of their match is worth
while the matches before it are held, so that these two meet: an affine function on a cell, for which the program has
all that is needed. A pool cuts where its first matches stand, since its members are known there; with its winner all
its matches are decided, those of later stages too, and idle ones are off.

Walls are numbered anew, one for every gate that cuts by itself and one for every pair of members. Where no pool is a
switch of its own, the number of a wall is that of its gate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Flags, Ids, Signs
from polyfold.errors import PolyfoldError
from polyfold.program.passes.bounded_jets import BoundedJets, affine_of, passed_on
from polyfold.program.program import Program


@dataclass(frozen=True, eq=False)
class Held:
    """Gates that are held on or off, whatever a pattern says of them."""

    gates: Ids
    on: Flags

    def under(self, signs: Signs) -> Signs:
        """Patterns with these gates held."""
        if not len(self.gates):
            return signs
        gates = max(signs.shape[-1], int(self.gates.max()) + 1)
        held: Signs = np.zeros((*signs.shape[:-1], gates), dtype=np.bool_)
        held[..., : signs.shape[-1]] = signs
        held[..., self.gates] = self.on
        return held


_NOTHING = Held(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))


@dataclass(frozen=True, eq=False)
class Walls:
    """The gate of every wall, and what is held where it is one of a pool's."""

    gate: Ids
    hold: Ids
    holds: tuple[Held, ...]

    def __len__(self) -> int:
        return len(self.gate)

    def under(self, wall: int, signs: Signs) -> Signs:
        """The patterns under which a wall's gate is the wall's function."""
        return self.holds[int(self.hold[wall])].under(signs)


@dataclass(frozen=True, eq=False)
class Columns:
    """Some of the walls at which a stage cuts: gates of one stage (their places there) while others are held."""

    column: Ids
    stage: int
    gate: Ids
    held: Held


@dataclass(frozen=True, eq=False)
class PoolTable:
    """The pools that a stage decides: their first columns, their members, and what follows from who wins.

    If member w of pool p wins, gate[p, k] is on where on[p, w, k] is set; gates of -1 only fill the table up.
    """

    first: Ids
    members: Ids
    gate: Ids
    on: Flags

    def winners(self, signs: Signs) -> Ids:
        """Who wins each pool under a pattern whose idle gates are off."""
        if not self.gate.size:
            return np.zeros(0, dtype=np.int64)
        same = (self.on == signs[self.gate][:, None]) | (self.gate < 0)[:, None]
        possible = same.all(axis=2) & (np.arange(self.on.shape[1]) < self.members[:, None])
        found: Ids = possible.argmax(axis=1)
        return found

    def decided(self, pools: slice, winner: Ids) -> tuple[Ids, Flags]:
        """The gates of some of the pools, and their signs on cells with these winners (cells, pools)."""
        gate = self.gate[pools]
        signs = self.on[pools][np.arange(len(gate))[None], winner]
        real = gate.ravel() >= 0
        return gate.ravel()[real], signs.reshape(len(winner), -1)[:, real]


@dataclass(frozen=True, eq=False)
class StageSwitches:
    """At what a stage cuts: its gates that are no matches of a pool, and pairs of members."""

    first_wall: int
    plain: Columns
    pairs: tuple[Columns, ...]
    pools: PoolTable

    @property
    def width(self) -> int:
        return len(self.plain.column) + sum(len(each.column) for each in self.pairs)

    @property
    def parts(self) -> tuple[Columns, ...]:
        """All columns."""
        return (self.plain, *self.pairs)

    def expected(self, program: Program, signs: Signs) -> Ids:
        """The signs of all columns on the cell of a pattern: 1, -1 or, between two losers of a pool, 0."""
        found = np.zeros(self.width, dtype=np.int64)
        on = signs[program.first_gate[self.plain.stage] + self.plain.gate]
        found[self.plain.column] = np.where(on, 1, -1)
        winners = self.pools.winners(signs).tolist()
        for first, members, winner in zip(self.pools.first.tolist(), self.pools.members.tolist(), winners, strict=True):
            # The pair of members i < j is on where j is the larger one.
            earlier, later = np.arange(winner), np.arange(winner + 1, members)
            found[first + winner * (winner - 1) // 2 + earlier] = 1
            found[first + later * (later - 1) // 2 + winner] = -1
        return found


@dataclass(frozen=True, eq=False)
class Switches:
    """What cuts, for every stage, and all walls."""

    stages: tuple[StageSwitches, ...]
    walls: Walls


def switches_of(program: Program, *, pools: bool) -> Switches:
    """Every gate by itself; or, with `pools`, pools as switches of k ways."""
    by_stage = _pools_by_stage(program) if pools else {}
    gate, hold, holds = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [_NOTHING]
    in_pools = np.zeros(program.gates, dtype=bool)
    for trees in by_stage.values():
        in_pools[[g for tree in trees for g in tree.gates]] = True
    stages, first_wall = [], 0
    for number, first in enumerate(program.first_gate[:-1]):
        own = np.flatnonzero(~in_pools[first : program.first_gate[number + 1]])
        plain = Columns(np.arange(len(own)), number, own, _NOTHING)
        pairs, table = _pairs(program, by_stage.get(number, []), len(own))
        switches = StageSwitches(first_wall, plain, pairs, table)
        walls = np.zeros((2, switches.width), dtype=np.int64)
        for part in switches.parts:
            walls[0, part.column] = program.first_gate[part.stage] + part.gate
            walls[1, part.column] = len(holds) if len(part.held.gates) else 0
            if len(part.held.gates):
                holds.append(part.held)
        gate.append(walls[0])
        hold.append(walls[1])
        stages.append(switches)
        first_wall += switches.width
    return Switches(tuple(stages), Walls(np.concatenate(gate), np.concatenate(hold), tuple(holds)))


# -- pools


@dataclass(frozen=True, eq=False)
class _Shape:
    """Tournaments that are played alike: matches by their places in the tree, the final first.

    Pair j (j - 1) / 2 + i is that of members i < j: they meet in match meet[pair], in round[pair] of those that end
    there, if the matches of held[pair] come out as said. wins[m] is how all matches come out if member m wins.
    """

    meet: tuple[int, ...]
    round: tuple[int, ...]
    held: tuple[tuple[tuple[int, bool], ...], ...]
    wins: Flags

    @staticmethod
    def of(before: tuple[tuple[int, int], ...]) -> _Shape:
        """`before` are the matches that lead to each, on its left and on its right; -1 for a member."""

        def members(match: int) -> Iterator[tuple[tuple[int, bool], ...]]:
            for side, earlier in enumerate(before[match]):
                step = (match, bool(side))
                if earlier < 0:
                    yield (step,)
                else:
                    yield from ((step, *way) for way in members(earlier))

        ways = list(members(0))
        meet, rounds = [], []
        held: list[tuple[tuple[int, bool], ...]] = []
        met: dict[int, int] = defaultdict(int)
        for j, other in enumerate(ways):
            for one in ways[:j]:
                common = next(k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
                meet.append(one[common][0])
                held.append((*one[common + 1 :], *other[common + 1 :]))
                rounds.append(met[meet[-1]])
                met[meet[-1]] += 1
        wins = np.zeros((len(ways), len(before)), dtype=bool)
        for member, way in enumerate(ways):
            for match, side in way:
                wins[member, match] = side
        return _Shape(tuple(meet), tuple(rounds), tuple(held), wins)


@dataclass(frozen=True, eq=False)
class _Tree:
    """One pool: its gates, the final's first."""

    gates: list[int]
    shape: _Shape


def _pools_by_stage(program: Program) -> dict[int, list[_Tree]]:
    """The pools with three members or more, by the stage of their first matches."""
    pools, found = program.pools, defaultdict(list)
    shapes: dict[tuple[tuple[int, int], ...], _Shape] = {}
    gate, known = pools.gate.tolist(), pools.known.tolist()
    sides = list(zip(pools.left.tolist(), pools.right.tolist(), strict=True))
    stage_of = (np.searchsorted(program.first_gate, pools.gate, side="right") - 1).tolist()
    for tree in pools.trees:
        place = {gate[match]: k for k, match in enumerate(tree)}
        before = tuple((place.get(sides[match][0], -1), place.get(sides[match][1], -1)) for match in tree)
        if before not in shapes:
            shapes[before] = _Shape.of(before)
        first = min(stage_of[match] for match in tree)
        if first < max(known[match] for match in tree):
            raise PolyfoldError(
                f"the members of the pool of gate {program.origins[gate[tree[0]]]} are not known before it begins, "
                "since what they have in common is deeper than what they differ in: cells='function' cannot be had, "
                "cells='gates' can"
            )
        found[first].append(_Tree([gate[match] for match in tree], shapes[before]))
    return found


def _pairs(program: Program, trees: list[_Tree], before: int) -> tuple[tuple[Columns, ...], PoolTable]:
    """The columns of all pairs, from column `before` on, by the stage and the round in which they meet."""
    columns: dict[tuple[int, int], list[int]] = defaultdict(list)
    meets: dict[tuple[int, int], list[int]] = defaultdict(list)
    held: dict[tuple[int, int], list[tuple[int, bool]]] = defaultdict(list)
    first, column = [], before
    for tree in trees:
        first.append(column)
        shape = tree.shape
        for match, round_, outcomes in zip(shape.meet, shape.round, shape.held, strict=True):
            gate = tree.gates[match]
            key = (int(np.searchsorted(program.first_gate, gate, side="right")) - 1, round_)
            columns[key].append(column)
            meets[key].append(gate)
            held[key] += [(tree.gates[k], side) for k, side in outcomes]
            column += 1
    parts = tuple(
        Columns(
            np.array(columns[key]),
            key[0],
            np.array(meets[key]) - program.first_gate[key[0]],
            Held(
                np.array([g for g, _ in held[key]], dtype=np.int64), np.array([on for _, on in held[key]], dtype=bool)
            ),
        )
        for key in sorted(columns)
    )
    matches = max((len(tree.gates) for tree in trees), default=0)
    gates, on = np.full((len(trees), matches), -1), np.zeros((len(trees), matches + 1, matches), dtype=bool)
    for p, tree in enumerate(trees):
        count = len(tree.gates)
        gates[p, :count], on[p, : count + 1, :count] = tree.gates, tree.shape.wins
    members = np.array([len(tree.gates) + 1 for tree in trees], dtype=np.int64)
    return parts, PoolTable(np.array(first, dtype=np.int64), members, gates, on)


# -- their functions on cells


def jets_of(
    program: Program, switches: StageSwitches, step: int, values: dict[int, BoundedJets], z: BoundedJets
) -> BoundedJets:
    """The functions of all columns of a stage; z are those of the stage's own gates, made by this step of `values`."""
    if not len(switches.pools.first) and len(switches.plain.column) == z.values.shape[2]:
        return z
    found = [(part, _held_gates(program, part, step, values, z)) for part in switches.parts]
    cells, rows, width = *z.values.shape[:2], switches.width
    jets = BoundedJets(
        np.empty((cells, rows, width)),
        np.max([each.errors for _, each in found], axis=0),
        np.empty(width),
        np.empty((cells, width), dtype=bool),
    )
    for part, each in found:
        jets.values[:, :, part.column] = each.values[:, :, part.gate]
        jets.scale[part.column] = each.scale[part.gate]
        jets.nothing[:, part.column] = each.nothing[:, part.gate]
    return jets


def _held_gates(
    program: Program, part: Columns, step: int, values: dict[int, BoundedJets], z: BoundedJets
) -> BoundedJets:
    """All gates of the stage of some columns, with what is held for these."""
    last = step + sum(1 for _ in _steps_between(program, step, part.stage))
    if last == step:
        return z
    cells, rows = z.values.shape[:2]
    return affine_of(program.steps.steps[last].affine, held_values(program, part, step, values, z), cells, rows - 1)


def held_values(
    program: Program, part: Columns, step: int, values: dict[int, BoundedJets], z: BoundedJets
) -> dict[int, BoundedJets]:
    """The values of all steps before the stage of some columns, with what is held for these."""
    cells, rows = z.values.shape[:2]
    values = dict(values)
    for number in _steps_between(program, step, part.stage):
        each = program.steps.steps[number]
        jets = z if number == step else affine_of(each.affine, values, cells, rows - 1)
        if each.stage is not None:
            first, width = program.first_gate[each.stage], program.stages[each.stage].width
            here = (part.held.gates >= first) & (part.held.gates < first + width)
            on = np.zeros((cells, width), dtype=bool)
            on[:, part.held.gates[here] - first] = part.held.on[here]
            jets = passed_on(program.stages[each.stage], jets, np.arange(cells), on, np.zeros_like(on))
        values[number + 1] = jets
    return values


def _steps_between(program: Program, step: int, stage: int) -> Iterator[int]:
    """The steps from one on, up to that of a stage, which is not among them."""
    while program.steps.steps[step].stage != stage:
        yield step
        step += 1
