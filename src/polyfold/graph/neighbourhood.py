"""What lies behind the facets of a cell: read from an atlas as far as it goes, else found and proved on the fly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.evidence import Evidence
from polyfold._base.types import Signs
from polyfold.atlas.atlas import UNEXPLORED, Atlas
from polyfold.atlas.evidence import evidence_of, proof_without_atlas
from polyfold.atlas.patterns import pack
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.frontier import Found
from polyfold.program.passes.single_gates import ExactGates, TooMuchError


@dataclass(frozen=True, eq=False)
class Step:
    """Across one facet: the gates that it lies on, and the cell behind it."""

    gates: tuple[int, ...]
    to: Found


@dataclass(frozen=True, eq=False)
class Around:
    """The steps out of a cell. `sure` is False where walls were left undecided: there may be more."""

    steps: tuple[Step, ...]
    sure: bool


class Neighbourhood:
    """The cells around cells of one program on one domain; each is looked at once."""

    def __init__(self, cells: Cells, atlas: Atlas | None) -> None:
        self.cells = cells
        self._atlas = atlas
        self._known: dict[bytes, Around] = {}

    def __len__(self) -> int:
        """How many cells were looked at."""
        return len(self._known)

    @property
    def evidence(self) -> Evidence:
        """What answers from here rest on: the atlas that cells were read from, if there is one."""
        if self._atlas is not None:
            return evidence_of(self._atlas)
        return proof_without_atlas(self.cells.program, self.cells.domain, "every cell on the way was proved")

    def __contains__(self, cell: Found) -> bool:
        return key(cell.signs) in self._known

    def around(self, cell: Found, may_go_on: Callable[[], bool]) -> Around | None:
        """The steps out of a cell; None if `may_go_on` said no before they were all found."""
        name = key(cell.signs)
        if name not in self._known:
            found = self._listed(cell) or self._found(cell, may_go_on)
            if found is None:
                return None
            self._known[name] = found
        return self._known[name]

    def _listed(self, cell: Found) -> Around | None:
        """From the atlas, if it has the cell and all that is around it."""
        atlas = self._atlas
        if atlas is None:
            return None
        number = int(atlas.index.find(pack(cell.signs[None, :]))[0])
        if number < 0:
            return None
        facets = atlas.facets(number)
        behind = atlas.neighbour[facets.start : facets.stop]
        if (behind == UNEXPLORED).any():
            return None
        steps = []
        for facet, there in zip(facets, behind.tolist(), strict=True):
            if there >= 0:
                exact = atlas.rational_witness(there) if there in atlas.exact_witnesses else None
                to = Found(atlas.signs([there])[0], Witness(atlas.witnesses[there], exact))
                steps.append(Step(tuple(sorted(atlas.walls(facet))), to))
        return Around(tuple(steps), True)

    def _found(self, cell: Found, may_go_on: Callable[[], bool]) -> Around | None:
        stopped = False

        def go_on() -> bool:
            nonlocal stopped
            stopped = stopped or not may_go_on()
            return not stopped

        validity = self.cells.walls.under(cell.signs)
        witness = self.cells.witness(validity, cell.witness.point, cell.witness, go_on) or cell.witness
        facets = self.cells.facets(validity, witness, lambda rows: go_on())
        if stopped:
            return None
        steps = tuple(
            Step(tuple(sorted(facet.walls)), Found(facet.across, facet.witness))
            for facet in facets.facets
            if facet.across is not None and facet.witness is not None
        )
        return Around(steps, not facets.undecided)


class Separation:
    """A lower bound on the hops to a goal: the hyperplanes of the first stage that lie between.

    Gates of the first stage are affine on the whole domain. A facet lies in one hyperplane, so that crossing it
    switches only gates of the first stage that vanish on that hyperplane. Gates of later stages prove nothing of the
    kind: any number of them may switch on one facet.
    """

    def __init__(self, cells: Cells, goal: Signs) -> None:
        program = cells.program
        width = program.stages[0].width if program.stages else 0
        self._goal = goal
        self._group = np.zeros(width, dtype=np.int64)
        exact, names = ExactGates(program, cells.domain), dict[tuple[object, ...], int]()
        try:
            for gate in range(width):
                tick()
                (form,) = exact.forms(gate, goal[None, :])
                lead = next((slope for slope in form.coefficients[1:] if slope), None)
                # A gate that is constant on the domain switches nowhere.
                plane = () if lead is None else tuple(value / lead for value in form.coefficients)
                self._group[gate] = names.setdefault(plane, len(names))
        except TooMuchError:
            self._group[:] = 0  # as if all were one hyperplane: a weaker bound, and true

    def __call__(self, signs: Signs) -> int:
        differ = signs != self._goal
        first = len(np.unique(self._group[differ[: len(self._group)]]))
        return max(first, int(differ.any()))


def key(signs: Signs) -> bytes:
    """A pattern as something to look up."""
    return np.packbits(signs).tobytes()
