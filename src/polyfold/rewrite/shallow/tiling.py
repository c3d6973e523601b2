"""Do polyhedra fill a domain without overlapping? Decided in rationals, with the place where they do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from flint import fmpq

from polyfold.exact.linear_program import dot, maximise

Row = tuple[fmpq, ...]  # (a, b) meaning a . x <= b, its slopes of size one in the sum norm
Point = tuple[fmpq, ...]

_NOTHING = fmpq(0)


@dataclass(frozen=True)
class Room:
    """The middle of a set, and how far it is from there to the next side, in the largest-entry norm."""

    point: Point
    radius: fmpq


def scaled(slopes: Sequence[fmpq], offset: fmpq) -> Row | None:
    """The inequality with slopes that add up to one in size; None if it has no slopes."""
    size = sum((abs(x) for x in slopes), fmpq(0))
    return None if size == 0 else (*(x / size for x in slopes), offset / size)


def room(rows: Sequence[Row], dim: int, tolerance: fmpq) -> Room | None:
    """The largest cube in {x : all rows hold}, up to one that is clearly larger than the tolerance; None: no point."""
    zeros = [fmpq(0)] * dim
    A = [[*row[:-1], fmpq(1)] for row in rows] + [[*zeros, fmpq(1)]]
    best = maximise([*zeros, fmpq(1)], A, [*(row[-1] for row in rows), 1 + 2 * tolerance])
    assert best.point is not None and best.value is not None
    return None if best.value < 0 else Room(best.point[:-1], best.value)


def meeting(pieces: Sequence[Sequence[Row]], dim: int, tolerance: fmpq) -> list[tuple[int, int]]:
    """Pairs of pieces whose bounding boxes have a point in common, up to the tolerance: no others can meet."""
    boxes = [_bounding_box(loosened(rows, tolerance), dim) for rows in pieces]
    return [
        (i, j)
        for i, j in combinations(range(len(pieces)), 2)
        if all(_reach(a, b) for a, b in zip(boxes[i], boxes[j], strict=True))
    ]


def loosened(rows: Sequence[Row], tolerance: fmpq) -> list[Row]:
    """Rows that also hold where the given ones are violated within the tolerance."""
    return [(*row[:-1], row[-1] + tolerance) for row in rows]


def overlap(
    pieces: Sequence[Sequence[Row]], pairs: Sequence[tuple[int, int]], dim: int, tolerance: fmpq
) -> tuple[int, int, Point] | None:
    """Two pieces that have more in common than the tolerance, and where; None if there are none."""
    for i, j in pairs:
        if not parted_by(pieces[i], pieces[j]):
            common = room([*pieces[i], *pieces[j]], dim, tolerance)
            if common is not None and common.radius > tolerance:
                return i, j, common.point
    return None


def gap(domain: Sequence[Row], pieces: Sequence[Sequence[Row]], dim: int, tolerance: fmpq) -> Point | None:
    """A point of the domain that is in no piece, in the middle of a gap that is larger than the tolerance."""
    left = [list(domain)]
    for piece in pieces:
        left = [part for whole in left for part in _without(whole, piece, dim, tolerance)]
    if not left:
        return None
    found = room(left[0], dim, tolerance)
    assert found is not None
    return found.point


def _without(whole: list[Row], piece: Sequence[Row], dim: int, tolerance: fmpq) -> Iterator[list[Row]]:
    """What is left of a polyhedron without a piece, cut into polyhedra."""
    common = None if parted_by(whole, piece) else room([*whole, *piece], dim, tolerance)
    if common is None or common.radius <= tolerance:
        yield whole
        return
    inside = whole
    for row in piece:
        beyond = [*inside, tuple(-x for x in row)]
        found = room(beyond, dim, tolerance)
        if found is not None and found.radius > tolerance:
            yield beyond
        inside = [*inside, row]


def facets(rows: Sequence[Row]) -> list[Row]:
    """The rows of a polyhedron without those that the others imply, and each hyperplane once."""
    needed = list(dict.fromkeys(rows))
    for row in list(needed):
        others = [other for other in needed if other != row]
        top = largest(row[:-1], -row[-1], [*others, (*row[:-1], row[-1] + 1)])
        if top is not None and top.value is not None and top.value <= 0:
            needed.remove(row)
    return needed


def touch(one: Sequence[Row], other: Sequence[Row], side: Row, dim: int) -> bool:
    """Whether two polyhedra on opposite sides of a hyperplane have a facet's worth of it in common."""
    opposite = tuple(-x for x in side)
    rows = [row for row in (*one, *other) if row not in (side, opposite)]
    zeros = [fmpq(0)] * dim
    A = [[*row[:-1], fmpq(1)] for row in rows] + [[*zeros, fmpq(1)]]
    b = [*(row[-1] for row in rows), fmpq(1)]
    best = maximise([*zeros, fmpq(1)], A, b, equalities=([[*side[:-1], fmpq(0)]], [side[-1]]))
    return best.value is not None and best.value > 0


Extent = tuple[fmpq | None, fmpq | None]


def _bounding_box(rows: Sequence[Row], dim: int) -> list[Extent]:
    """From where to where a polyhedron goes along every axis; None is for ever."""
    A, b = [row[:-1] for row in rows], [row[-1] for row in rows]

    def farthest(axis: int, sign: int) -> fmpq | None:
        way = [fmpq(sign) if k == axis else fmpq(0) for k in range(dim)]
        best = maximise(way, A, b)
        return best.value * sign if best.status == "optimal" and best.value is not None else None

    return [(farthest(axis, -1), farthest(axis, 1)) for axis in range(dim)]


def _reach(a: Extent, b: Extent) -> bool:
    return all(low is None or high is None or low <= high for low, high in ((a[0], b[1]), (b[0], a[1])))


def parted_by(one: Sequence[Row], other: Sequence[Row]) -> list[Row]:
    """Sides of the first polyhedron with the second one behind them: if there are any, the two cannot overlap."""
    behind = {tuple(-x for x in row) for row in other}
    return [row for row in one if row in behind]


@dataclass(frozen=True)
class Top:
    """The largest value, None if it grows for ever, and a place: where it is, or where it is larger than asked for."""

    value: fmpq | None
    point: Point


def largest(slopes: Sequence[fmpq], constant: fmpq, rows: Sequence[Row], enough: fmpq = _NOTHING) -> Top | None:
    """The largest value of an affine function where all rows hold; None if they hold nowhere."""
    best = maximise(list(slopes), [row[:-1] for row in rows], [row[-1] for row in rows])
    if best.point is None:
        return None
    value = dot(slopes, best.point) + constant
    if best.status == "optimal":
        return Top(value, best.point)
    assert best.ray is not None
    steps = (abs(value) + enough + 1) / dot(slopes, best.ray)
    return Top(None, tuple(x + steps * r for x, r in zip(best.point, best.ray, strict=True)))
