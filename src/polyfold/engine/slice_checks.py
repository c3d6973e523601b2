"""What is looked at where a line or plane was unfolded by its vertices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Check
from polyfold.atlas.domain import Domain
from polyfold.atlas.exact_gates import TooMuchError
from polyfold.atlas.location import ROW_FLOATS, contains, proved_patterns
from polyfold.atlas.maps import in_chunks
from polyfold.atlas.patterns import pack
from polyfold.engine.measure_domain import domain_volume
from polyfold.engine.slice_settle import Doubts
from polyfold.exact.scaled import Undecided, floats_a_row
from polyfold.exact.tolerances import VOLUME_SUM
from polyfold.program.program import Program


def check_decided(program: Program, doubts: Doubts) -> Check:
    """Every sign at every vertex was proved."""
    first = min(doubts.gates, default=0)
    named = f"; gate {first} ({program.origins[first]}) is the first of {len(doubts.gates):,}" if doubts.gates else ""
    return Check(
        "signs at vertices are decided",
        doubts.none_left,
        f"{doubts.near_zero:,} signs near zero, {doubts.exact:,} of them decided in exact numbers, {doubts.open:,} left "
        f"open{named}; {doubts.crooked:,} cuts left out",
    )


def check_sum(domain: Domain, total: float) -> Check:
    """The cells' volumes add up to the domain's."""
    whole = domain_volume(domain)
    gap = abs(total - whole) / whole
    return Check("volumes add up", gap <= VOLUME_SUM, f"{total:.12g} of {whole:.12g}, {gap:.2g} relative")


def check_slice_witnesses(atlas: Atlas) -> Check:
    """Every witness lies inside the domain and inside its cell: no gate but one that vanishes on it is zero. Proved.

    A gate that floats cannot tell from zero must vanish on the cell, which rationals prove where the gate depends on
    few others. The rest of such witnesses stays unproved.
    """
    agree = contains(atlas.domain, atlas.witnesses, strictly=True)
    undecided: list[Undecided] = []

    def prove(part: slice) -> None:
        patterns, left = proved_patterns(atlas.program, atlas.domain, atlas.witnesses[part])
        agree[part] &= (pack(patterns) == atlas.patterns[part]).all(axis=1)
        undecided.append(Undecided(left.rows + part.start, left.gates))

    in_chunks(len(atlas), floats_a_row(atlas.program) + atlas.program.input_dim + atlas.gates, prove, ROW_FLOATS)
    by_floats = agree.copy()
    for part in undecided:
        by_floats[part.rows] = False
    proved = agree & (by_floats | _vanishing(atlas, undecided))
    left = np.flatnonzero(~proved)
    named = f": cells {', '.join(map(str, left[:4].tolist()))}{' ...' * (len(left) > 4)}" if len(left) else ""
    return Check(
        "witnesses have their patterns",
        not len(left),
        f"{int(by_floats.sum()):,} proved in floats, {int((proved & ~by_floats).sum()):,} in rationals, "
        f"{int((agree & ~proved).sum()):,} right as far as floats can tell, {int((~agree).sum()):,} others{named}",
    )


def _vanishing(atlas: Atlas, undecided: Sequence[Undecided]) -> npt.NDArray[np.bool_]:
    """The cells on which all gates vanish that are undecided at their witnesses."""
    fine = np.ones(len(atlas), dtype=bool)
    cells = np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in undecided)])
    gates = np.concatenate([np.zeros(0, dtype=np.int64), *(part.gates for part in undecided)])
    signs = atlas.signs() if len(gates) else np.zeros((0, 0), dtype=bool)
    for gate in np.unique(gates).tolist():
        at = cells[gates == gate]
        try:
            for form in atlas.exact_gates.forms(gate, signs, at):
                fine[form.cells] &= form.vanishes
        except TooMuchError:
            fine[at] = False
    return fine
