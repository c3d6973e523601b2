"""Cells by their patterns in the compiled core, which leaves to others what it takes exact arithmetic to tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold import _core as core
from polyfold._base.types import Array
from polyfold.atlas.core_problem import beyond_core, core_problem, stays_structured
from polyfold.atlas.patterns import pack
from polyfold.domain.domain import Domain
from polyfold.engine.cells.facets import Witness
from polyfold.engine.cells.frontier import Ahead
from polyfold.program.passes.beyond_floats import leaves_range
from polyfold.program.program import Program

# Up to so many dimensions a cell's vertices and rays are found sooner than linear programs tell its facets; and on
# domains that are not bounded, where programs cannot prove that a wall holds none, up to so many.
_FEW, _FEW_UNBOUNDED = 8, 10


@dataclass(frozen=True, eq=False)
class PlainCell:
    """A cell whose facets all lie on one wall each, so that behind it this gate alone is another.

    For every facet that a gate holds there is a point on it, and one beyond.
    """

    witness: Witness
    bounded: bool
    walls: npt.NDArray[np.int32]
    on: Array
    beyond: Array


class ByPattern:
    """Cells of one program on one domain, one at a time. Once it was stopped it stays so."""

    def __init__(self, program: Program, domain: Domain, still_wanted: Callable[[], bool]) -> None:
        self._cells = _in_core(program, domain, still_wanted)

    def __call__(self, ahead: Ahead, still_wanted: Callable[[], bool]) -> PlainCell | None:
        """What the core tells of a cell; GivenUp if it is not wanted any more."""
        if self._cells is None:
            return None
        pattern = pack(ahead.signs[None, :])[0]
        found = self._cells.look_at(pattern, ahead.on, ahead.beyond, still_wanted)
        if found is None:
            return None
        exact = found["exact_witness"]
        witness = Witness(found["witness"], None if exact is None else _affine(exact))
        return PlainCell(witness, found["bounded"], found["facet_wall"], found["on"], found["beyond"])


def _affine(homogeneous: list[str]) -> tuple[fmpq, ...]:
    *numerators, denominator = (int(number, 16) for number in homogeneous)
    return tuple(fmpq(number, denominator) for number in numerators)


def _in_core(program: Program, domain: Domain, still_wanted: Callable[[], bool]) -> core.NamedCells | None:
    if beyond_core(program, domain) or stays_structured(program) or program.exact_matrices is None:
        return None
    if leaves_range(program, domain):
        return None
    problem = core_problem(program, domain)
    if domain.dim > _FEW and domain.rows > domain.dim:
        try:
            return core.NamedCells.of(problem, True, still_wanted)
        except core.OpenDomain:
            pass  # not bounded after all
    return core.NamedCells.of(problem, False, still_wanted) if domain.dim <= _FEW_UNBOUNDED else None
