"""The largest difference of two networks over all cells of their common atlas, exactly.

It lies at a vertex of a cell, or is infinite. Bounds proved in floats say which cells can hold it; of these, exact
linear programs find their largest values, the most promising first, until no other cell can have more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from flint import fmpq

from polyfold._base.clock import OutOfTimeError, running, tick
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.cell_maps import ExactMaps
from polyfold.atlas.geometry.generators import VERTEX
from polyfold.compare.equivalence.cell_differences import CellMaps
from polyfold.compare.equivalence.result import Difference, Point
from polyfold.compare.equivalence.rows import Rows
from polyfold.engine.bounds.bounded_domain import Box
from polyfold.engine.bounds.cell_bounds import CELLS_AT_ONCE, ExactPrograms, closer_bound, upper_bounds
from polyfold.exact.linear_program import dot
from polyfold.exact.rounding import relative


@dataclass(frozen=True)
class _Top:
    """The largest value of one function on one cell, and a point of parameters; if infinite, one where it exceeds
    what was asked for."""

    value: fmpq | None
    point: tuple[fmpq, ...]


class Extremes:
    """Finds largest differences, output by output."""

    def __init__(self, maps: CellMaps, box: Box | None, tolerance: Fraction) -> None:
        self._maps, self._tolerance = maps, tolerance
        self._atlas = maps.atlas
        self._exact = _ExactPrograms(maps.atlas, maps.rows)
        self._box = box

    def of_output(self, k: int) -> Difference:
        """The largest size of difference k."""
        maps, atlas = self._maps, self._atlas
        value, cell = max(((abs(v), cell) for v, cell in maps.levels[k].items()), default=(Fraction(0), 0))
        best, point = value, self._exact.lifted(atlas.rational_witness(cell)) if value else None
        varying = np.flatnonzero(~maps.flat[:, k])
        bounds = self._bounds(varying, k)
        for i in np.argsort(-self._promise(varying, bounds, k), kind="stable").tolist():
            item, sign = divmod(i, 2)
            cell, side = int(varying[item]), 1 - 2 * sign
            if bounds[item, sign] <= best:
                continue
            try:
                tick()
                bounds[item, sign] = min(bounds[item, sign], closer(maps, self._box, cell, k, side))
                if bounds[item, sign] <= best:
                    continue
                top = self._exact.largest(cell, k, side, self._tolerance)
            except OutOfTimeError:
                break  # what was found so far holds
            bounds[item, sign] = -inf
            if top.value is None:
                return Difference(inf, inf, self._exact.lifted(top.point))
            found = Fraction(int(top.value.p), int(top.value.q))
            if found > best:
                best, point = found, self._exact.lifted(top.point)
        left = float(bounds.max(initial=-inf))
        upper = best if left <= best else (inf if left == inf else Fraction(left))
        return Difference(best, upper, point)

    def _bounds(self, cells: Ids, k: int) -> Array:
        """What difference k, and its negative, are at most on each cell."""
        bounds = np.full((len(cells), 2), inf)
        if self._box is None:
            return bounds
        for start in range(0, len(cells), CELLS_AT_ONCE):
            if running().over:
                break
            some = cells[start : start + CELLS_AT_ONCE]
            values, errors = self._maps.values[some, k], self._maps.errors[some, k]
            both = np.stack([values, -values], axis=1)
            bounds[start : start + len(some)] = upper_bounds(
                self._atlas, some, both, np.stack([errors, errors], axis=1), self._box
            )
        return bounds

    def _promise(self, cells: Ids, bounds: Array, k: int) -> Array:
        """In which order to look: by bounds; where the domain has no end, those first that seem to grow for ever."""
        if self._box is not None:
            return bounds.ravel()
        promise = np.empty((len(cells), 2))
        for start in range(0, len(cells), CELLS_AT_ONCE):
            tick()
            some = cells[start : start + CELLS_AT_ONCE]
            generators = self._atlas.generators(some)
            slopes = self._maps.values[some, k, :-1]
            rates = np.einsum("gd,gd->g", slopes[generators.owner], generators.points)
            rates /= np.maximum(np.linalg.norm(generators.points, axis=1), relative(1))
            rates[generators.kind == VERTEX] = 0.0
            for sign, side in enumerate((1.0, -1.0)):
                largest = np.zeros(len(some))
                np.maximum.at(largest, generators.owner, side * rates)
                promise[start : start + len(some), sign] = largest
        return promise.ravel()


def closer(maps: CellMaps, box: Box | None, cell: int, k: int, side: int) -> float:
    """A second look in floats at a cell that may hold more than what was found."""
    if box is None:
        return inf
    return closer_bound(maps.atlas, cell, side * maps.values[cell, k], maps.errors[cell, k], box.reach)


class _ExactPrograms:
    """Largest differences on single cells, in rationals."""

    def __init__(self, atlas: Atlas, rows: Rows) -> None:
        self._width, self._rows = atlas.dim + 1, rows
        self._maps = ExactMaps(atlas)
        self._programs = ExactPrograms(atlas)

    def largest(self, cell: int, k: int, side: int, enough: Fraction) -> _Top:
        """The largest value of side * difference k on a cell; if there is none, a point with more than `enough`."""
        *slopes, constant = (side * x for x in self._rows.of_rationals(self._maps[cell], k, self._width))
        found = self._programs.largest(cell, slopes)
        assert found.point is not None
        if found.status == "optimal":
            assert found.value is not None
            return _Top(found.value + constant, found.point)
        assert found.ray is not None
        rate, here = dot(slopes, found.ray), dot(slopes, found.point) + constant
        steps = max(fmpq(0), (fmpq(enough.numerator, enough.denominator) - here) / rate) + 1
        return _Top(None, tuple(x + steps * r for x, r in zip(found.point, found.ray, strict=True)))

    def lifted(self, parameters: tuple[fmpq, ...]) -> Point:
        """The input of a point of parameters."""
        return tuple(Fraction(int(x.p), int(x.q)) for x in self._programs.lifted(parameters))
