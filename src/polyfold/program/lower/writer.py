"""How lowering writes a Program: gates go into the first stage that comes after all that they depend on.

Stages grow while the network is walked, so their affine functions are put together at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from polyfold._base.types import Array
from polyfold.network.head import Head
from polyfold.network.ops.op import Shape
from polyfold.program.lower.rows import Index, Rows, frozen
from polyfold.program.origins import GateOrigins, OriginGroup
from polyfold.program.pools import NO_POOLS, Pools
from polyfold.program.program import Program, Stage
from polyfold.program.rounding import Rounding


@dataclass(eq=False)
class _OpenStage:
    """A stage that may still get gates."""

    width: int = 0
    pre_activations: list[Rows] = field(default_factory=list)
    slopes: list[tuple[Array, Array]] = field(default_factory=list)
    origins: list[OriginGroup] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Matches:
    """Gates of one stage, first ..., that are matches: numbers of the matches before each on its two sides, or -1.

    What is compared depends on no source beyond `depth`.
    """

    stage: int
    first: int
    left: Index
    right: Index
    depth: int


@dataclass(eq=False)
class Writer:
    """The stages so far; stage s is entry s - 1. All expressions are of one kind."""

    kind: type[Rows]
    stages: list[_OpenStage] = field(default_factory=list)
    salt: bytes = b""
    """Whatever the neighbours of irrational numbers are drawn with."""
    rounded: list[str] = field(default_factory=list)
    """The nodes that were rounded, and why."""
    _matches: list[_Matches] = field(default_factory=list)

    def gates(self, z: Rows, on: Array, off: Array, origins: OriginGroup) -> Rows:
        """New gates on the rows of z; the result is their outputs."""
        if not len(origins):
            return self.kind.numbers(np.zeros(0))
        number = 1 + z.depth
        while number > len(self.stages):
            self.stages.append(_OpenStage())
        stage = self.stages[number - 1]
        first = stage.width
        stage.width += len(origins)
        stage.pre_activations.append(z)
        stage.slopes.append((on, off))
        stage.origins.append(origins)
        return self.kind.entries(number, first, len(origins))

    def matches(self, gates: Rows, left: Index, right: Index, depth: int) -> Index:
        """Note that the gates last written are matches of a pool whose members have this depth; numbers them."""
        stage = gates.depth
        before = sum(len(each.left) for each in self._matches)
        self._matches.append(_Matches(stage, self.stages[stage - 1].width - len(left), left, right, depth))
        return before + np.arange(len(left))

    def finish(self, input_dim: int, output: Rows, head: Head | None = None) -> Program:
        """The program with everything read-only."""
        widths = [input_dim, *(stage.width for stage in self.stages)]
        pre_activations = [self.kind.stacked(stage.pre_activations) for stage in self.stages]
        stages = tuple(
            Stage(
                z.affine(widths),
                frozen(np.concatenate([on for on, _ in stage.slopes])),
                frozen(np.concatenate([off for _, off in stage.slopes])),
            )
            for stage, z in zip(self.stages, pre_activations, strict=True)
        )
        origins = GateOrigins([group for stage in self.stages for group in stage.origins])
        rounding = self.rounding([*pre_activations, output])
        return Program(input_dim, stages, output.affine(widths), origins, rounding, head, self._pools(widths))

    def _pools(self, widths: list[int]) -> Pools:
        """All tournaments, by the numbers of their gates."""
        if not self._matches:
            return NO_POOLS
        first_gate = np.cumsum([0, *widths[1:]])
        gate = np.concatenate([first_gate[m.stage - 1] + m.first + np.arange(len(m.left)) for m in self._matches])
        left, right = (np.concatenate([getattr(m, side) for m in self._matches]) for side in ("left", "right"))
        known = np.concatenate([np.full(len(m.left), m.depth) for m in self._matches])
        sides = (np.where(side < 0, -1, gate[side]) for side in (left, right))
        arrays: list[Index] = [gate, *sides, known]
        for array in arrays:
            array.setflags(write=False)
        return Pools(*arrays)

    def rounding(self, rows: Sequence[Rows]) -> Rounding | None:
        """What was rounded on the way to the rows of all stages and of the output; None if nothing was."""
        changes = tuple(each.change for each in rows)
        return None if all(change is None for change in changes) else Rounding(tuple(self.rounded), changes)


@dataclass(frozen=True, eq=False)
class NodeGates:
    """The node that is being translated: where its gates go and what they are called."""

    writer: Writer
    node: str
    shape: Shape

    def gates(self, z: Rows, role: str, entries: Index | None = None) -> Rows:
        """relu(z), with a gate for each of these entries of the node's value (all of them by default)."""
        return self.switches(z, np.ones(z.size), np.zeros(z.size), role, entries)

    def switches(self, z: Rows, on: Array, off: Array, role: str, entries: Index | None = None) -> Rows:
        """The same with any two slopes."""
        if entries is None:
            entries = np.arange(z.size)
        return self.writer.gates(z, on, off, OriginGroup(self.node, self.shape, entries, role))

    def numbers(self, values: Array) -> Rows:
        """Constants."""
        return self.writer.kind.numbers(values)

    def stacked(self, parts: Sequence[Rows]) -> Rows:
        """The rows of all parts, one part after the other."""
        return self.writer.kind.stacked(parts)
