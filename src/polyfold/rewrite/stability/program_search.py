"""Claims proved by linear programs over relaxed gates, cut in two where a gate is relaxed most: branch and bound.

That works in many dimensions, as long as few gates matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyfold._base.clock import running
from polyfold._base.types import Array
from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.engine.bounds.relaxation import Region, Relaxation
from polyfold.errors import how_many
from polyfold.rewrite.stability.claims import Claim, Ledger

# Which open gates are taken to be on or off, by (stage, number among the open ones).
Taken = dict[tuple[int, int], bool]


def branch(
    ledger: Ledger, place: BoundedDomain, region: Region, stage: int, most_programs: int, tell: Callable[[], None]
) -> None:
    """Settle the open claims about one stage; a claim is given up after so many linear programs, or out of time."""
    claims = ledger.open([stage])
    if not claims:
        return
    relaxation = Relaxation(ledger.layers, ledger.ranges, region, stage)
    if not relaxation.usable:
        ledger.given_up.update(claims)
        return
    for claim in claims:
        _Tree(ledger, place, relaxation, claim, most_programs, tell).run()


class _Tree:
    """Branch and bound for one claim."""

    def __init__(
        self,
        ledger: Ledger,
        place: BoundedDomain,
        relaxation: Relaxation,
        claim: Claim,
        most_programs: int,
        tell: Callable[[], None],
    ) -> None:
        self._ledger, self._place, self._relaxation, self._claim = ledger, place, relaxation, claim
        self._most, self._programs, self._tell = most_programs, 0, tell

    def run(self) -> None:
        todo: list[Taken] = [{}]
        while todo:
            if self._ledger.refuted(self._claim):
                return
            self._tell()
            if running().over or self._programs >= self._most:
                self._ledger.given_up.add(self._claim)
                return
            taken = todo.pop()
            parts = self._look(taken)
            if parts is None:
                self._ledger.given_up.add(self._claim)
                return
            todo += parts
        if not self._ledger.refuted(self._claim):
            self._ledger.prove(self._claim, how_many(self._programs, "linear program"))

    def _look(self, taken: Taken) -> list[Taken] | None:
        """Nothing if a bound proves the claim here, else the two halves; None if there is nothing left to cut."""
        relaxation, claim = self._relaxation, self._claim
        low, high, upper = relaxation.low.copy(), relaxation.high.copy(), relaxation.upper.copy()
        for (stage, number), on in taken.items():
            gates = relaxation.open[stage]
            z, relu = gates.z[number], gates.relu[number]
            if on:
                low[z] = 0.0
                upper[gates.row[number]] = 0.0
            else:
                high[z] = high[relu] = 0.0
        self._programs += 1
        answer = relaxation.largest(claim.gate, -float(claim.side), low, high, upper)
        if answer.bound <= 0:
            return []
        if answer.point is not None:
            dim = len(self._place.inside.point)
            point = np.clip(answer.point[None, :dim], low[:dim], high[:dim])
            self._ledger.meet(point[self._place.contains(point)])
            if self._ledger.refuted(claim):
                return []
        chosen = self._most_relaxed(answer.point, taken)
        return None if chosen is None else [{**taken, chosen: True}, {**taken, chosen: False}]

    def _most_relaxed(self, point: Array | None, taken: Taken) -> tuple[int, int] | None:
        """The open gate whose output is farthest from what its pre-activation says."""
        best, most = None, -1.0
        for stage, gates in enumerate(self._relaxation.open):
            gap = np.zeros(len(gates.gate))
            if point is not None:
                gap = np.abs(point[gates.relu] - np.maximum(point[gates.z], 0.0))
            for number in np.argsort(-gap).tolist():
                if (stage, number) not in taken:
                    if gap[number] > most:
                        best, most = (stage, number), float(gap[number])
                    break
        return best
