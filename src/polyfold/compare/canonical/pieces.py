"""The canonical pieces of a function: convex sets with one map each, which depend on the function only.

A region need not be convex, and there are many ways to cut it into convex parts. Here each is cut along the hyperplanes
of its own boundary, all the way through. What comes out depends on the region alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from flint import fmpq

from polyfold.atlas.patterns import pack
from polyfold.compare.canonical.centre import Point, centre
from polyfold.compare.canonical.flats import Row, forward
from polyfold.compare.canonical.maps import DistinctMaps, Map
from polyfold.compare.canonical.rows import CellRows
from polyfold.domain.points import jets_around
from polyfold.exact.implied import Inequalities
from polyfold.exact.linear_program import dot, integer_row
from polyfold.program.passes.rationals import RationalProgram


@dataclass(frozen=True)
class Condition:
    """a . x + b >= 0 if it is closed, a . x + b > 0 if not, for the primitive row (a, b)."""

    row: Row
    closed: bool


@dataclass(frozen=True)
class Piece:
    """Where all conditions hold, none of which follows from the others, and the map there, output by output.

    `region` says from which region it was cut, and `sides` on which sides of the region's hyperplanes it lies, as rows
    that are positive there; neither is part of the form.
    """

    conditions: tuple[Condition, ...]
    map: Map
    region: int = field(compare=False, repr=False)
    sides: frozenset[Row] = field(compare=False, repr=False)


def canonical_pieces(maps: DistinctMaps) -> tuple[Piece, ...]:
    """All pieces in lexicographic order. Every point of the domain lies in exactly one.

    A point on the boundary of pieces belongs to the one that is entered on the way to the domain's centre. If that
    lies on a hyperplane itself, a point next to it counts, on the side where the forward row is positive.
    """
    cutter = _Cutter(maps)
    middle = centre(cutter.outer, maps.atlas.dim)
    pieces = [
        Piece(
            tuple(Condition(row, _sees(middle, row)) for row in conditions),
            maps.lines(int(maps.of_cell[cells[0]])),
            region,
            sides,
        )
        for region, cells in enumerate(cutter.regions())
        for conditions, sides in cutter.parts(cells)
    ]
    return tuple(sorted(pieces, key=lambda piece: [condition.row for condition in piece.conditions]))


class _Cutter:
    """Cuts the regions of an atlas into convex parts."""

    def __init__(self, maps: DistinctMaps) -> None:
        self.maps = maps
        self.rows = CellRows(maps.atlas)
        self.outer = self.rows.of_domain()
        self._atlas = maps.atlas
        self._program = RationalProgram(maps.atlas.program)

    def regions(self) -> list[list[int]]:
        """The cells of every region, by its number."""
        order = np.argsort(self.maps.region, kind="stable")
        return [cells.tolist() for cells in np.split(order, np.cumsum(np.bincount(self.maps.region))[:-1])]

    def parts(self, cells: list[int]) -> Iterator[tuple[list[Row], frozenset[Row]]]:
        """The parts of a region, from one across its facets to all others: rows of their facets, and their sides."""
        if len(cells) == 1:
            yield sorted(self.rows[cells[0]]), frozenset()
            return
        hyperplanes = self._border(cells)
        region = self.maps.region[cells[0]]
        start = _off(hyperplanes, self.rows[cells[0]], self._atlas.rational_witness(cells[0]))
        queue, known = [start], {_sides(hyperplanes, start)}
        while queue:
            point = queue.pop()
            signs = _sides(hyperplanes, point)
            rows = [*(tuple(sign * x for x in row) for sign, row in zip(signs, hyperplanes, strict=True)), *self.outer]
            facets = []
            for number, beyond in _facets(rows, point):
                facets.append(rows[number])
                if number < len(hyperplanes):
                    across = (*signs[:number], -signs[number], *signs[number + 1 :])
                    if across not in known:
                        known.add(across)
                        others = [*rows[:number], tuple(-x for x in rows[number]), *rows[number + 1 :]]
                        inside = _simple(others, _between(rows[number], point, beyond))
                        if self._region(inside) == region:
                            queue.append(inside)
            yield sorted(facets), frozenset(rows[: len(hyperplanes)])

    def _border(self, cells: list[int]) -> list[Row]:
        """The hyperplanes between a region and others, as forward rows."""
        return sorted(
            {
                _forward(row)
                for cell in cells
                for row, facet in zip(self.rows[cell], self._atlas.facets(cell), strict=True)
                if self.maps.bends[facet]
            }
        )

    def _region(self, point: Point) -> int:
        """The region around a point inside the domain that lies on no border of the region asked for."""
        pattern = self._program.forward(jets_around(self._atlas.domain, point)).pattern
        cell = self._atlas.index.find(pack(np.array([pattern], dtype=bool)))[0]
        return int(self.maps.region[cell])


def _sides(hyperplanes: Sequence[Row], point: Point) -> tuple[int, ...]:
    return tuple(1 if _value(row, point) > 0 else -1 for row in hyperplanes)


def _off(hyperplanes: Sequence[Row], rows: Sequence[Row], point: Point) -> Point:
    """A point inside the same cell as a point inside it, but on none of the hyperplanes."""
    through = [row for row in hyperplanes if _value(row, point) == 0]
    # Along (1, k, k^2, ...) a row stays zero for fewer than d numbers k.
    directions = (tuple(fmpq(k**power) for power in range(len(point))) for k in count(1))
    along = next(v for v in directions if all(dot(_slopes(row), v) != 0 for row in through))
    reach = fmpq(1)
    for row in (*hyperplanes, *rows):
        here, speed = _value(row, point), dot(_slopes(row), along)
        if here * speed < 0:
            reach = min(reach, -here / speed)
    return tuple(x + reach / 2 * v for x, v in zip(point, along, strict=True))


def _facets(rows: Sequence[Row], point: Point) -> Iterator[tuple[int, Point]]:
    """The rows that do not follow from the others, and a point beyond each on the right side of all others.

    They are seen from a point inside; no row is there twice.
    """
    table = Inequalities([integer_row([*_slopes(row), _value(row, point)]) for row in rows], len(point))
    for number in range(len(rows)):
        found = table.beyond(number)
        if found is not None:
            numerators, denominator = found
            yield number, tuple(x + fmpq(n, denominator) for x, n in zip(point, numerators, strict=True))


def _between(row: Row, point: Point, beyond: Point) -> Point:
    """A point on the way from one beyond a row to one before it, still beyond."""
    here, there = _value(row, point), _value(row, beyond)
    step = there / (there - here) / 2
    return tuple(y + step * (x - y) for x, y in zip(point, beyond, strict=True))


def _simple(rows: Sequence[Row], point: Point) -> Point:
    """A point with few digits where all rows are positive, as they are at the given one."""
    for bits in (8 << k for k in count()):
        scale = 1 << bits
        near = tuple(fmpq((x * scale).floor(), scale) for x in point)
        if all(_value(row, near) > 0 for row in rows):
            return near
    raise AssertionError("digits go on for ever")


def _sees(middle: Point, row: Row) -> bool:
    value = _value(row, middle)
    return value > 0 or (value == 0 and _forward(row) == row)


def _value(row: Row, point: Point) -> fmpq:
    return dot(_slopes(row), point) + row[-1]


def _slopes(row: Row) -> list[fmpq]:
    return [fmpq(x) for x in row[:-1]]


def _forward(row: Row) -> Row:
    found = forward(row)
    assert found is not None
    return found[0]
