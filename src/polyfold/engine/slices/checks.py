"""What is looked at where a line or plane was unfolded by its vertices."""

from __future__ import annotations

from polyfold.atlas.certificate import Check
from polyfold.engine.slices.settle import Doubts
from polyfold.exact.tolerances import VOLUME_SUM
from polyfold.program.program import Program


def check_decided(program: Program, doubts: Doubts) -> Check:
    """Every sign at every vertex was proved."""
    first = min(doubts.gates, default=0)
    named = f"; gate {first} ({program.origins[first]}) is the first of {len(doubts.gates):,}" if doubts.gates else ""
    return Check(
        "signs at vertices are decided",
        doubts.none_left,
        f"{doubts.near_zero:,} signs near zero, {doubts.exact:,} of them looked at in exact numbers, {doubts.open:,} "
        f"left open{named}; {doubts.crooked:,} cuts left out",
    )


def check_sum(total: float, whole: float) -> Check:
    """The cells' volumes add up to the domain's."""
    gap = abs(total - whole) / whole
    return Check("volumes add up", gap <= VOLUME_SUM, f"{total:.12g} of {whole:.12g}, {gap:.2g} relative")
