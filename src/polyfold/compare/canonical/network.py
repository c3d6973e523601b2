"""The canonical pieces as a network with three hidden layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq

from polyfold._base.result import answered
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.compare.canonical.flats import Row, forward
from polyfold.compare.canonical.maps import DistinctMaps
from polyfold.compare.canonical.pieces import Piece
from polyfold.compare.canonical.rows import CellRows
from polyfold.exact.rational import as_float
from polyfold.network.graph import Network
from polyfold.rewrite.shallow import tiling
from polyfold.rewrite.shallow.exactly import GivenPieces, network_over
from polyfold.rewrite.shallow.network import Shallow


@dataclass(frozen=True, eq=False)
class CanonicalPieces(GivenPieces):
    """Pieces that were read off an atlas, whose network computes them."""

    atlas: Atlas

    def network(self) -> Network:
        return network_over(self.atlas)


def network_of(maps: DistinctMaps, pieces: Sequence[Piece]) -> Shallow:
    """The network; `pieces` are those of `maps`, in the order that they are to have."""
    # For every hyperplane the row that is positive on the centre's side: the one of closed conditions.
    inward: dict[Row, Row] = {}
    for piece in pieces:
        for condition in piece.conditions:
            row = condition.row if condition.closed else _opposite(condition.row)
            inward[_hyperplane(row)] = row
    number = {hyperplane: k for k, hyperplane in enumerate(sorted(inward))}
    halfspaces = [_halfspace(inward[hyperplane]) for hyperplane in number]
    numbers = np.array([[as_float(x) for x in one] for one in halfspaces]).reshape(-1, maps.atlas.dim + 1)
    length = np.linalg.norm(numbers[:, :-1], axis=1)
    lines = np.array([[[_nearest(x) for x in line] for line in piece.map] for piece in pieces])
    outer = {_hyperplane(row) for row in CellRows(maps.atlas).of_domain()}
    conditions = [condition for piece in pieces for condition in piece.conditions]
    network = Shallow(
        domain=maps.atlas.domain,
        H=numbers[:, :-1] / length[:, None],
        c=numbers[:, -1] / length,
        piece_start=np.cumsum([0, *(len(piece.conditions) for piece in pieces)]),
        condition=np.array([number[_hyperplane(condition.row)] for condition in conditions], dtype=np.int64),
        is_open=np.array([not condition.closed for condition in conditions], dtype=bool),
        of_domain=np.array([hyperplane in outer for hyperplane in number], dtype=bool),
        alpha=np.ascontiguousarray(lines[:, :, :-1]),
        beta=np.ascontiguousarray(lines[:, :, -1]),
        frozen=np.zeros(len(pieces), dtype=bool),
        sides=np.array(
            sorted((number[hyperplane], near, far) for hyperplane, near, far in _touching(maps, pieces, inward)),
            dtype=np.int64,
        ).reshape(-1, 3),
        head=maps.atlas.program.head,
        exact=CanonicalPieces(
            halfspaces,
            [[fmpq(x.numerator, x.denominator) for line in piece.map for x in line] for piece in pieces],
            maps.atlas,
        ),
    )
    return answered(network, evidence_of(maps.atlas))


def _touching(maps: DistinctMaps, pieces: Sequence[Piece], inward: Mapping[Row, Row]) -> Iterator[tuple[Row, int, int]]:
    """Hyperplanes with two pieces that have a facet's worth of them in common: the one on the centre's side first."""
    # Pieces of one region meet in whole facets, so that all their other sides are the same.
    number = {(piece.region, piece.sides): i for i, piece in enumerate(pieces)}
    for i, piece in enumerate(pieces):
        for condition in piece.conditions:
            row = condition.row
            across = number.get((piece.region, (piece.sides - {row}) | {_opposite(row)}))
            if condition.closed and row in piece.sides and across is not None:
                yield _hyperplane(row), i, across
    near: dict[tuple[Row, int], list[int]] = {}
    far: dict[tuple[Row, int], list[int]] = {}
    for i, piece in enumerate(pieces):
        for condition in piece.conditions:
            sides = near if condition.closed else far
            sides.setdefault((_hyperplane(condition.row), piece.region), []).append(i)
    rows = [[_halfspace(condition.row) for condition in piece.conditions] for piece in pieces]
    for hyperplane, one, other in set(_meetings(maps, inward)):
        pairs = [(i, j) for i in near[hyperplane, one] for j in far[hyperplane, other]]
        for i, j in pairs:
            # Regions that meet do so in some of their pieces: if each has only one there, in these.
            if len(pairs) == 1 or tiling.touch(rows[i], rows[j], _halfspace(hyperplane), maps.atlas.dim):
                yield hyperplane, i, j


def _meetings(maps: DistinctMaps, inward: Mapping[Row, Row]) -> Iterator[tuple[Row, int, int]]:
    """Hyperplanes with two regions that meet there: the one on the centre's side first."""
    atlas, rows = maps.atlas, CellRows(maps.atlas)
    for cell in np.unique(atlas.facet_owner[maps.bends]).tolist():
        for facet, row in zip(atlas.facets(cell), rows[cell], strict=True):
            if maps.bends[facet] and inward[_hyperplane(row)] == row:
                yield _hyperplane(row), int(maps.region[cell]), int(maps.region[atlas.neighbour[facet]])


def _halfspace(row: Row) -> tiling.Row:
    """a . x + b >= 0 as h . x <= c, with slopes of size one."""
    *a, b = row
    found = tiling.scaled([fmpq(-x) for x in a], fmpq(b))
    assert found is not None
    return found


def _hyperplane(row: Row) -> Row:
    found = forward(row)
    assert found is not None
    return found[0]


def _opposite(row: Row) -> Row:
    return tuple(-x for x in row)


def _nearest(value: Fraction) -> float:
    return as_float(fmpq(value.numerator, value.denominator))
