"""from_pieces: the network of a continuous piecewise-linear function that is given by its pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.atlas.geometry.halfspaces import domain_rows
from polyfold.domain.domain import Domain, DomainLike, resolve_domain
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.linear_program import dot, integer_row
from polyfold.exact.rational import as_float
from polyfold.rewrite.shallow.exactly import GivenPieces, as_rational, vanishes_on
from polyfold.rewrite.shallow.network import Shallow
from polyfold.rewrite.shallow.tiling import (
    Point,
    Row,
    facets,
    gap,
    largest,
    loosened,
    meeting,
    overlap,
    parted_by,
    room,
    scaled,
    touch,
)


@dataclass(frozen=True)
class _Piece:
    """{x : all rows hold} with the map (slopes, constant) of every output."""

    rows: list[Row]
    map: list[list[fmpq]]


def from_pieces(pieces: Sequence[Any], domain: DomainLike = None, *, tolerance: float = 0.0) -> Shallow:
    """The network with three hidden layers of a continuous piecewise-linear function.

    Pieces that overlap, leave a gap in the domain or do not meet continuously are refused, with the place. All that is
    decided exactly for the numbers given, which may be fractions.

    Parameters
    ----------
    pieces: a list of ((A, b), (W, c)): where A x <= b the function is W x + c.
    domain: None for all of R^n, `pf.box` or `pf.polytope`; pieces may reach beyond it.
    tolerance: overlaps and gaps up to this size, and jumps accordingly, count as rounding errors.

    >>> import polyfold as pf
    >>> left, right = (([[1.0]], [0.0]), ([[-1.0]], [0.0])), (([[-1.0]], [0.0]), ([[1.0]], [0.0]))
    >>> absolute_value = pf.rewrite.from_pieces([left, right])
    >>> absolute_value([[-2.0], [0.0], [3.0]]).ravel().tolist()
    [2.0, 0.0, 3.0]
    """
    if not isinstance(pieces, Sequence) or not pieces:
        raise PolyfoldError(f"there are no pieces in {pieces!r}: give a list of ((A, b), (W, c))")
    parsed = [_parsed(number, piece) for number, piece in enumerate(pieces)]
    dim, outputs = _sizes(parsed)
    where = resolve_domain(domain, dim)
    if where.is_slice:
        raise PolyfoldError("pieces fill a box, a polytope or all of R^n; the domain given is a slice")
    allowed = _tolerance(tolerance)
    bounds = _rows(*domain_rows(where))
    found = [_Piece(facets([*piece.rows, *bounds]), piece.map) for piece in parsed]
    middles = list(_middles(found, dim))
    pairs = meeting([piece.rows for piece in found], dim, allowed)
    _check_tiling(found, pairs, bounds, dim, allowed)
    _check_continuity(found, pairs, allowed)
    network = _network(where, bounds, found, pairs, middles, outputs)
    # Rounded pieces may have no facet in common.
    return replace(network, sides=None) if allowed else network


# -- what was given


def _tolerance(tolerance: Any) -> fmpq:
    try:
        allowed = as_rational(tolerance)
    except (TypeError, ValueError, OverflowError):
        raise PolyfoldError(f"tolerance={tolerance!r} must be a finite number, 0 or larger") from None
    if allowed < 0:
        raise PolyfoldError(f"tolerance={tolerance!r} must be a finite number, 0 or larger")
    return allowed


def _parsed(number: int, piece: Any) -> _Piece:
    try:
        (A, b), (W, c) = piece
    except (TypeError, ValueError):
        raise ShapeError(f"piece {number} is no ((A, b), (W, c)): {piece!r}") from None
    A, W = (np.atleast_2d(np.asarray(array, dtype=object)) for array in (A, W))
    b, c = (np.atleast_1d(np.asarray(array, dtype=object)) for array in (b, c))
    if A.ndim != 2 or W.ndim != 2 or b.shape != A.shape[:1] or c.shape != W.shape[:1] or A.shape[1] != W.shape[1]:
        raise ShapeError(
            f"piece {number}: A (rows, n), b (rows,), W (outputs, n) and c (outputs,) do not fit together; they have "
            f"shapes {A.shape}, {b.shape}, {W.shape} and {c.shape}"
        )
    try:
        lines = [[as_rational(x) for x in line] for line in np.column_stack([W, c]).tolist()]
        return _Piece(_rows(A, b, f"piece {number}: "), lines)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"piece {number} has something that is not a finite number: {error}") from None


def _rows(A: npt.NDArray[Any], b: npt.NDArray[Any], name: str = "the domain: ") -> list[Row]:
    rows = []
    for i, (line, bound) in enumerate(zip(A.tolist(), b.tolist(), strict=True)):
        row = scaled([as_rational(x) for x in line], as_rational(bound))
        if row is not None:
            rows.append(row)
        elif as_rational(bound) < 0:
            raise PolyfoldError(f"{name}row {i} holds nowhere: 0 <= {bound}")
    return rows


def _sizes(pieces: list[_Piece]) -> tuple[int, int]:
    sizes = [(len(piece.map[0]) - 1, len(piece.map)) for piece in pieces]
    for number, size in enumerate(sizes):
        if size != sizes[0]:
            raise ShapeError(
                f"piece {number} maps {how_many(size[0], 'input')} to {how_many(size[1], 'output')}, piece 0 maps "
                f"{sizes[0][0]} to {sizes[0][1]}"
            )
    return sizes[0]


def _middles(pieces: list[_Piece], dim: int) -> Iterator[Point]:
    for number, piece in enumerate(pieces):
        found = room(piece.rows, dim, fmpq(0))
        if found is None or found.radius == 0:
            reason = "is empty" if found is None else "has no interior"
            raise PolyfoldError(f"piece {number} {reason} within the domain: leave it out")
        yield found.point


# -- whether it is a function, everywhere, and continuous


def _check_tiling(
    pieces: list[_Piece], pairs: list[tuple[int, int]], bounds: list[Row], dim: int, tolerance: fmpq
) -> None:
    rows = [piece.rows for piece in pieces]
    twice = overlap(rows, pairs, dim, tolerance)
    if twice is not None:
        one, other, point = twice
        raise PolyfoldError(f"pieces {one} and {other} overlap around {_shown(point)}")
    nowhere = gap(bounds, rows, dim, tolerance)
    if nowhere is not None:
        raise PolyfoldError(f"no piece covers {_shown(nowhere)}: give a piece for it, or a domain that leaves it out")


def _check_continuity(pieces: list[_Piece], pairs: list[tuple[int, int]], tolerance: fmpq) -> None:
    """Pieces that fill a convex set meet continuously if they do across facets: these lead around every corner.

    Rounded pieces may have no facets in common, so that all pairs are looked at.
    """
    for i, j in pairs:
        shared = parted_by(pieces[i].rows, pieces[j].rows)
        changes = [
            [a - b for a, b in zip(here, there, strict=True)]
            for here, there in zip(pieces[i].map, pieces[j].map, strict=True)
        ]
        if not shared and not tolerance:
            continue
        if shared and all(vanishes_on(change, shared[0]) for change in changes):
            continue
        common = loosened([*pieces[i].rows, *pieces[j].rows], tolerance)
        for output, change in enumerate(changes):
            allowed = tolerance * sum((abs(x) for x in change[:-1]), fmpq(1))
            for sign in (1, -1):
                jump = largest([sign * x for x in change[:-1]], sign * change[-1], common, allowed)
                if jump is not None and (jump.value is None or jump.value > allowed):
                    size = "more and more" if jump.value is None else f"{as_float(jump.value):.6g}"
                    raise PolyfoldError(
                        f"pieces {i} and {j} do not meet continuously: at {_shown(jump.point)} output {output} jumps "
                        f"by {size}; tolerance=... allows for rounding errors"
                    )


def _shown(point: Point) -> list[float]:
    return [as_float(x) for x in point]


# -- the network


def _network(
    domain: Domain,
    bounds: list[Row],
    pieces: list[_Piece],
    pairs: list[tuple[int, int]],
    middles: list[Point],
    outputs: int,
) -> Shallow:
    number: dict[tuple[int, ...], int] = {}
    for piece in pieces:
        for row in piece.rows:
            number.setdefault(_unsigned(row), len(number))
    centre = _centre(middles, list(number))
    # Every hyperplane with the centre on its inner side.
    sides = [_turned(form, centre) for form in number]
    condition, is_open = [], []
    for piece in pieces:
        for row in piece.rows:
            condition.append(number[_unsigned(row)])
            is_open.append(dot(row[:-1], centre) > row[-1])
    outer = {_unsigned(row) for row in bounds}
    touching = []
    for i, j in pairs:
        for row in parted_by(pieces[i].rows, pieces[j].rows):
            if touch(pieces[i].rows, pieces[j].rows, row, len(middles[0])):
                near, far = (i, j) if dot(row[:-1], centre) < row[-1] else (j, i)
                touching.append((number[_unsigned(row)], near, far))
    H = np.array([[as_float(x) for x in side[:-1]] for side in sides]).reshape(len(sides), len(middles[0]))
    c = np.array([as_float(side[-1]) for side in sides])
    length = np.linalg.norm(H, axis=1)
    maps = [[x for line in piece.map for x in line] for piece in pieces]
    numbers = np.array([[as_float(x) for x in line] for line in maps]).reshape(len(pieces), outputs, -1)
    return Shallow(
        domain=domain,
        H=H / length[:, None],
        c=c / length,
        piece_start=np.cumsum([0, *(len(piece.rows) for piece in pieces)]),
        condition=np.array(condition, dtype=np.int64),
        is_open=np.array(is_open, dtype=bool),
        of_domain=np.array([form in outer for form in number], dtype=bool),
        alpha=np.ascontiguousarray(numbers[:, :, :-1]),
        beta=np.ascontiguousarray(numbers[:, :, -1]),
        frozen=np.zeros(len(pieces), dtype=bool),
        sides=np.array(touching, dtype=np.int64).reshape(-1, 3),
        exact=GivenPieces(sides, maps),
    )


def _unsigned(row: Row) -> tuple[int, ...]:
    """The hyperplane of a row: integers without a common factor, the first one positive."""
    integers = integer_row(row)
    sign = 1 if next(x for x in integers if x) > 0 else -1
    return tuple(sign * x for x in integers)


def _turned(form: tuple[int, ...], centre: Point) -> Row:
    *h, c = (fmpq(x) for x in form)
    row = scaled(h, c) if dot(h, centre) < c else scaled([-x for x in h], -c)
    assert row is not None
    return row


def _centre(middles: list[Point], forms: list[tuple[int, ...]]) -> Point:
    """A point in the interior of the domain that lies on no hyperplane: a mixture of inner points."""
    rng = np.random.default_rng(0)
    while True:
        weights = [fmpq(int(weight)) for weight in rng.integers(1, 1 << 20, size=len(middles))]
        total = sum(weights, fmpq(0))
        point = tuple(dot(weights, column) / total for column in zip(*middles, strict=True))
        if all(dot([fmpq(x) for x in form[:-1]], point) != form[-1] for form in forms):
            return point
