"""Witnesses of a line's or plane's cells: those of cells that are too thin for floats, and the proof of all."""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.chunks import in_chunks
from polyfold._base.types import Ids, Signs
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Check
from polyfold.atlas.geometry.locate import ROW_FLOATS, proved_patterns
from polyfold.atlas.patterns import pack, unpack
from polyfold.domain.points import contains, contains_exactly
from polyfold.engine.slices.batch import walls_at
from polyfold.engine.slices.exact import ExactSlice, PausedError
from polyfold.engine.slices.switches import switches_of
from polyfold.exact.rational import as_float
from polyfold.program.passes.bounded_rows import Undecided, floats_a_row


def exact_witnesses(exact: ExactSlice, found: Mapping[str, Any]) -> dict[str, Any]:
    """The centres of thin cells as rational numbers, and all witnesses in floats; as the core gives them."""
    witnesses, rational = found["witnesses"].copy(), []
    try:
        for cell in found["thin"].tolist():
            centre = _centre(exact, found, cell)
            if centre is not None:
                witnesses[cell] = [as_float(x) for x in centre]
                rational.append((cell, _homogeneous(centre)))
    except PausedError:
        pass  # the others keep theirs, which will not be proved
    return {"witnesses": witnesses, "exact_witnesses": rational}


def _homogeneous(point: tuple[fmpq, ...]) -> list[str]:
    """Numerators over one denominator, and that, as hexadecimal numbers."""
    denominator = lcm(*(int(x.q) for x in point))
    return [f"{int(x * denominator):x}" for x in point] + [f"{denominator:x}"]


def _centre(exact: ExactSlice, found: Mapping[str, Any], cell: int) -> tuple[fmpq, ...] | None:
    first, last = found["facet_start"][cell : cell + 2].tolist()
    signs = unpack(found["patterns"][[cell]], exact.program.gates)[0]
    places = [
        exact.place(*walls_at(found["cut_wall"], first, last, corner, exact.domain.dim), signs)
        for corner in range(first, last)
    ]
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return None
    return tuple(sum(coordinates, fmpq(0)) / len(known) for coordinates in zip(*known, strict=True))


def check_slice_witnesses(atlas: Atlas, exact: ExactSlice | None = None) -> Check:
    """Every witness lies inside the domain and inside its cell: no gate but one that vanishes on it is zero. Proved.

    Floats with error bounds come first. A gate that they cannot tell from zero must vanish on the cell; a witness for
    which that is not so is proved in exact numbers, all gates of it. If time runs out, the rest stays unproved.
    """
    exact = exact or ExactSlice(
        atlas.program, atlas.domain, switches=switches_of(atlas.program, pools=atlas.of_function)
    )
    proof = _Proof(atlas, exact)
    floats = floats_a_row(atlas.program) + atlas.program.input_dim + atlas.gates
    in_chunks(len(atlas), floats, proof.look_at, ROW_FLOATS)
    state, unproved = proof.state, np.flatnonzero(proof.state < _BY_FLOATS)
    named = f": cells {', '.join(map(str, unproved[:4].tolist()))}{' ...' * (len(unproved) > 4)}" * bool(len(unproved))
    late = ", max_seconds was over" * proof.late
    return Check(
        "witnesses have their patterns",
        not len(unproved),
        f"{int((state == _BY_FLOATS).sum()):,} proved in floats, {int((state == _EXACTLY).sum()):,} in exact numbers, "
        f"{int((state == _UNPROVED).sum()):,} unproved{late}, {int((state == _WRONG).sum()):,} wrong{named}",
    )


_UNPROVED, _WRONG, _BY_FLOATS, _EXACTLY = range(4)


class _Proof:
    """What is known of every witness so far."""

    def __init__(self, atlas: Atlas, exact: ExactSlice) -> None:
        self.atlas, self.exact = atlas, exact
        self.state = np.full(len(atlas), _UNPROVED)
        self.late = False

    @np.errstate(over="ignore", invalid="ignore")
    def look_at(self, part: slice) -> None:
        """Some of the cells."""
        if self.late or not self.exact.may_go_on():
            self.late = True
            return
        atlas, exact, cells = self.atlas, self.exact, np.arange(part.start, part.stop)
        witnesses = atlas.witnesses[part]
        inside = contains(atlas.domain, witnesses, strictly=True)
        patterns, undecided = proved_patterns(atlas.program, atlas.domain, witnesses)
        same = (pack(atlas.as_listed(patterns)) == atlas.patterns[part]).all(axis=1)
        thin = np.isin(cells, list(atlas.exact_witnesses))
        doubtful = np.isin(np.arange(len(cells)), undecided.rows)
        self.state[cells[inside & same & ~doubtful & ~thin]] = _BY_FLOATS
        try:
            left = np.flatnonzero(inside & same & doubtful & ~thin)
            vanishing = self._vanishing(patterns, undecided, left)
            self.state[cells[left[vanishing]]] = _EXACTLY
            for cell in cells[self.state[part] < _BY_FLOATS].tolist():
                point = tuple(atlas.rational_witness(cell))
                found = contains_exactly(atlas.domain, point, strictly=True) and exact.has_pattern(
                    point, atlas.signs([cell])[0]
                )
                self.state[cell] = _UNPROVED if found is None else _EXACTLY if found else _WRONG
        except PausedError:
            self.late = True

    def _vanishing(self, patterns: Signs, undecided: Undecided, rows: Ids) -> npt.NDArray[np.bool_]:
        """Rows on whose cells all gates vanish that are undecided there."""
        fine = np.zeros(len(patterns), dtype=bool)
        fine[rows] = True
        asked = np.isin(undecided.rows, rows)
        row_of, gate_of = undecided.rows[asked], undecided.gates[asked]
        for gate in np.unique(gate_of).tolist():
            at = row_of[gate_of == gate]
            at = at[fine[at]]
            proved = np.zeros(len(at), dtype=bool)
            for form in self.exact.forms(gate, patterns[at]):
                proved[form.cells] = form.vanishes
            fine[at[~proved]] = False
        return fine[rows]
