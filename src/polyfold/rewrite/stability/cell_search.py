"""Signs of all gates from an atlas: every cell has every gate on one side, so a complete atlas settles everything."""

from __future__ import annotations

import numpy as np

from polyfold._base.clock import OutOfTimeError, running, tick, unwatched
from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import Domain
from polyfold.engine.method import as_method_takes_it
from polyfold.engine.proof.certify import certify
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, how_many
from polyfold.exact.rational_arrays import filled
from polyfold.program.exact_program import ExactProgram
from polyfold.rewrite.stability.claims import Claim, Ledger

# Cells at whose witnesses gates are computed in rationals, to tell what is zero on a cell from what is negative.
_MOST_EXACT = 4096
# Cells on either side of a gate whose witnesses are looked at in floats.
_WITNESSES_A_SIDE = 16


def list_cells(
    ledger: Ledger,
    program: ExactProgram,
    over_parameters: ExactProgram,
    domain: Domain,
    max_cells: int,
) -> None:
    """Settle all claims, if the cells can be listed in the time that the running clock leaves.

    The program's coefficients must be floats.
    """
    try:
        lowered = as_method_takes_it(program.to_program(), domain)
        atlas = unfold_program(lowered, domain, max_cells=max_cells, max_seconds=running().limit)
    except OutOfTimeError:
        raise
    except LimitError:
        return  # too large
    with unwatched():  # a few points for every gate, which take a moment
        ledger.meet(atlas.witnesses[_some_of_both_sides(atlas)])
    if not atlas.complete or atlas.certificate.level == "counted":
        return
    tick()
    if certify(atlas, max_seconds=running().limit).level != "certified":
        return
    signs = atlas.signs()
    proof = f"none of all {how_many(len(atlas), 'cell')} of the atlas (certified) says otherwise"
    for stage, (first, last) in enumerate(zip(lowered.first_gate[:-1], lowered.first_gate[1:], strict=True)):
        on = signs[:, first:last]
        # A gate is on in a cell if it is positive there.
        ledger.positive[stage] |= on.any(axis=0)
        for gate in np.flatnonzero(~on.any(axis=0)).tolist():
            ledger.prove(Claim(stage, gate, -1), proof)
        for claim in ledger.open([stage]):
            # Off means that it is nowhere positive: it may be zero there, which is not negative either.
            off = np.flatnonzero(~on[:, claim.gate])
            if claim.side > 0 and _never_negative(ledger, over_parameters, atlas, claim, off):
                ledger.prove(claim, proof)


def _some_of_both_sides(atlas: Atlas) -> Ids:
    """For every gate a few cells in which it is on and in which it is off: all of them would take minutes.

    Witnesses that are no floats are left out: what the array has for them is rounded, and may lie outside.
    """
    signs = atlas.signs()
    chosen = np.zeros(len(atlas), dtype=bool)
    for on in signs.T:
        for cells in (np.flatnonzero(on), np.flatnonzero(~on)):
            chosen[cells[:: max(1, len(cells) // _WITNESSES_A_SIDE)]] = True
    chosen[list(atlas.exact_witnesses)] = False
    return np.flatnonzero(chosen)


def _never_negative(ledger: Ledger, program: ExactProgram, atlas: Atlas, claim: Claim, cells: Ids) -> bool:
    """Whether a gate is zero at the witnesses of all cells in which it is off, and so on these cells."""
    if len(cells) > _MOST_EXACT:
        ledger.given_up.add(claim)
        return False
    for cell in cells.tolist():
        tick()
        witness = atlas.rational_witness(cell)
        if program.passes(filled(list(witness), (1, len(witness))))[claim.stage][claim.gate, 0] < 0:
            ledger.negative[claim.stage][claim.gate] = True
            return False
    return True
