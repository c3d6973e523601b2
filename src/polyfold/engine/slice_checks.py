"""What is looked at where a line or plane was unfolded by its vertices."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Check
from polyfold.atlas.domain import Domain
from polyfold.atlas.location import ROW_FLOATS, contains, proved_patterns
from polyfold.atlas.maps import in_chunks
from polyfold.atlas.patterns import pack
from polyfold.engine.measure_domain import domain_volume
from polyfold.engine.slices import Doubts
from polyfold.exact.scaled import floats_a_row
from polyfold.exact.tolerances import VOLUME_SUM


def check_decided(atlas: Atlas, doubts: Doubts) -> Check:
    """Every sign at every vertex was proved, or its gate vanishes on all cells where it is near zero. Else walls that
    seem to meet may in fact miss each other."""
    open_gates = [gate for gate in sorted(doubts.gates) if not _settled(atlas, gate)]
    named = f": gate {open_gates[0]} ({atlas.program.origins[open_gates[0]]}) is the first" if open_gates else ""
    return Check(
        "signs at vertices are decided",
        not open_gates and not doubts.crooked,
        f"{doubts.signs:,} signs of {len(doubts.gates):,} gates taken for zero, "
        f"{len(doubts.gates) - len(open_gates):,} of the gates settled in rationals, {doubts.crooked:,} cuts left out"
        f"{named}",
    )


def check_sum(domain: Domain, total: float) -> Check:
    """The cells' volumes add up to the domain's."""
    whole = domain_volume(domain)
    gap = abs(total - whole) / whole
    return Check("volumes add up", gap <= VOLUME_SUM, f"{total:.12g} of {whole:.12g}, {gap:.2g} relative")


def check_slice_witnesses(atlas: Atlas) -> Check:
    """Every witness lies inside the domain and inside its cell: no gate but one that vanishes on it is zero. Proved.

    The network may be too large for rational arithmetic, so a witness that floats cannot prove stays unproved.
    """
    agree = contains(atlas.domain, atlas.witnesses, strictly=True)
    proved = np.zeros(len(atlas), dtype=bool)

    def prove(part: slice) -> None:
        patterns, sure = proved_patterns(atlas.program, atlas.domain, atlas.witnesses[part])
        agree[part] &= (pack(patterns) == atlas.patterns[part]).all(axis=1)
        proved[part] = agree[part] & sure

    in_chunks(len(atlas), floats_a_row(atlas.program) + atlas.program.input_dim + atlas.gates, prove, ROW_FLOATS)
    left = np.flatnonzero(~proved)
    named = f": cells {', '.join(map(str, left[:4].tolist()))}{' ...' * (len(left) > 4)}" if len(left) else ""
    return Check(
        "witnesses have their patterns",
        not len(left),
        f"{int(proved.sum()):,} proved in floats, {int((agree & ~proved).sum()):,} right as far as floats can tell, "
        f"{int((~agree).sum()):,} others{named}",
    )
