"""Claims: that a gate's pre-activation is nowhere negative, or nowhere positive, until that is proved or refuted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from polyfold._base.types import Array, Flags
from polyfold.program.passes.bounded_layers import Layers, Range, bounded_pass


@dataclass(frozen=True, order=True)
class Claim:
    """Gate `gate` of stage `stage` (both from 0) is never negative (side 1) or never positive (side -1)."""

    stage: int
    gate: int
    side: int


@dataclass(eq=False)
class Ledger:
    """What is known of every gate: ranges that hold on the whole domain, signs that were met, proofs."""

    layers: Layers
    ranges: list[Range]
    positive: list[Flags] = field(init=False)
    negative: list[Flags] = field(init=False)
    proofs: dict[Claim, str] = field(default_factory=dict)
    given_up: set[Claim] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.positive = [np.zeros(layer.width, dtype=bool) for layer in self.layers.layers]
        self.negative = [np.zeros(layer.width, dtype=bool) for layer in self.layers.layers]

    def tighten(self, ranges: Sequence[Range], proof: str) -> None:
        """Ranges that were proved; whoever has one sign by them is settled."""
        for stage, (low, high) in enumerate(ranges):
            least, most = self.ranges[stage]
            self.ranges[stage] = np.maximum(least, low), np.minimum(most, high)
            for side, bound in ((1, self.ranges[stage][0]), (-1, -self.ranges[stage][1])):
                for gate in np.flatnonzero(bound >= 0).tolist():
                    self.proofs.setdefault(Claim(stage, gate, side), proof)

    def meet(self, points: Array) -> None:
        """Remember which signs gates have at points of the domain, where rounding leaves no doubt."""
        if not len(points):
            return
        for stage, (z, error) in enumerate(zip(*bounded_pass(self.layers, points), strict=True)):
            self.positive[stage] |= (z > error).any(axis=0)
            self.negative[stage] |= (z < -error).any(axis=0)

    def prove(self, claim: Claim, proof: str) -> None:
        """A claim that holds; later bounds use it."""
        if self.refuted(claim):
            raise AssertionError(f"{claim} was proved ({proof}), and points refute it")
        self.proofs.setdefault(claim, proof)
        low, high = self.ranges[claim.stage]
        if claim.side > 0:
            low = low.copy()
            low[claim.gate] = max(low[claim.gate], 0.0)
        else:
            high = high.copy()
            high[claim.gate] = min(high[claim.gate], 0.0)
        self.ranges[claim.stage] = low, high

    def refuted(self, claim: Claim) -> bool:
        """Whether the other sign was met."""
        met = self.negative if claim.side > 0 else self.positive
        return bool(met[claim.stage][claim.gate])

    def proved(self, stage: int, gate: int) -> int:
        """1 or -1 if one of the two claims is proved, else 0."""
        return next((side for side in (-1, 1) if Claim(stage, gate, side) in self.proofs), 0)

    def open(self, stages: Iterable[int] | None = None) -> list[Claim]:
        """Claims that are neither proved nor refuted, nor given up; one per gate: that it is off, if none was met."""
        found = []
        for stage in range(len(self.layers.layers)) if stages is None else stages:
            for gate in range(self.layers.layers[stage].width):
                if self.proved(stage, gate):
                    continue
                claims = [Claim(stage, gate, side) for side in (-1, 1)]
                left = [claim for claim in claims if not self.refuted(claim) and claim not in self.given_up]
                found += left[:1]
        return found
