"""The cell of a point, where no atlas is at hand to be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polyfold._base.inputs import real_array
from polyfold._base.types import Array
from polyfold.atlas.geometry.domain_volume import no_gates
from polyfold.domain.points import contains
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.frontier import Found
from polyfold.engine.cells.touching import Touching
from polyfold.errors import DomainError, PolyfoldError, ShapeError, how_many
from polyfold.exact.rational import rational
from polyfold.exact.rounding import relative


class CellAt:
    """From a point of the domain to its cell; on walls the first one that touches it, in the order of gates.

    That is the cell of the point's own pattern, gates that are zero being off, wherever this is a cell.
    """

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    def point(self, name: str, value: Any) -> Array:
        """A point of the domain's parameters, or an error that quotes it."""
        domain = self._cells.domain
        point = real_array(f"{name} is no point of {how_many(domain.dim, 'number')}", value).ravel()
        if point.shape != (domain.dim,):
            raise ShapeError(f"{name} must be {how_many(domain.dim, 'number')}; it has shape {np.shape(value)}")
        if not np.isfinite(point).all():
            at = int(np.flatnonzero(~np.isfinite(point))[0])
            raise ShapeError(f"{name} must be finite; its entry {at} is {point[at]}")
        if not contains(domain, point[None, :])[0]:
            raise DomainError(f"{name} lies outside the domain, {domain.describe()}")
        return point

    def __call__(self, name: str, point: Array, may_go_on: Callable[[], bool] = lambda: True) -> Found:
        cells = self._cells
        gates = cells.program.gates
        # All over a tiny box, so that a gate which is zero at the point has no sign unless it vanishes around it.
        signs, certain = cells.walls.signs(point[None, :], relative(1) * (1 + np.abs(point[None, :])))
        pattern = signs[0, :gates]
        if not certain[0, :gates].all():
            if cells.exact is None:
                raise PolyfoldError(f"{name} lies on a wall, or too close to one to tell the side: move it a little")
            self._inside_domain(point)  # or there are no cells at all
            touching = Touching(cells.program, cells.domain, cells.exact.forms, [rational(x) for x in point.tolist()])
            first = next(touching.cells(may_go_on), None)
            if first is None:
                raise PolyfoldError(f"{name} lies on too many walls to tell the cells that touch it: move it a little")
            pattern = np.array(first.pattern, dtype=bool)
        witness = cells.witness(cells.walls.under(pattern), point, may_go_on=may_go_on)
        if witness is None:
            self._inside_domain(point)  # which may be why
            raise PolyfoldError(f"no point inside the cell of {name} could be proved: it is too thin to tell")
        return Found(pattern, witness)

    def _inside_domain(self, point: Array) -> Witness:
        domain = self._cells.domain
        whole = Cells(no_gates(domain), domain)
        witness = whole.witness(whole.walls.under(np.zeros(0, dtype=bool)), point)
        if witness is None:
            raise DomainError(f"the domain, {domain.describe()}, has no interior: its cells would all be flat")
        return witness
