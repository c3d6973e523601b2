"""Vertices, rays and lines of cells and their facets, found again by walking the cells' patterns through the core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.apart import apart_if_wanted
from polyfold._base.clock import running
from polyfold._base.distinct import distinct
from polyfold._base.inputs import one_of
from polyfold._base.types import Array, Ids
from polyfold.atlas.core_problem import core_problem
from polyfold.atlas.patterns import Packed, order_by_gate
from polyfold.domain.domain import Domain
from polyfold.errors import LimitError, how_many
from polyfold.program.derive.few_coordinates import few_coordinates
from polyfold.program.program import Program

if TYPE_CHECKING:
    from polyfold.atlas.atlas import Atlas

VERTEX, RAY, LINE = 0, 1, 2


@dataclass(frozen=True, eq=False, repr=False)
class Generators:
    """What spans each of a list of cells: cell = hull(vertices) + cone(rays) + span(lines).

    Item i's generators are rows start[i]:start[i + 1] of `points` (a vertex, or the direction of a ray or line) and
    `kind`. Generator g lies on the facets facet[facet_start[g]:facet_start[g + 1]] of its cell, counted from the
    cell's first facet.
    """

    start: Ids
    points: Array
    kind: npt.NDArray[np.uint8]
    facet_start: Ids
    facet: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.start) - 1

    def __repr__(self) -> str:
        return f"Generators: {len(self.points):,} vertices, rays and lines of {how_many(len(self), 'item')}"

    @cached_property
    def owner(self) -> Ids:
        """The item that each generator belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def vertices(self, item: int) -> Array:
        """The vertices of one item."""
        item = one_of(item, len(self), "item", "the list")
        rows = slice(self.start[item], self.start[item + 1])
        found: Array = self.points[rows][self.kind[rows] == VERTEX]
        return found

    def each_vertices(self) -> list[Array]:
        """The vertices of every item, one array each."""
        points, start = self.points, self.start
        if self.kind.any():
            points = points[self.kind == VERTEX]
            start = np.concatenate([[0], np.cumsum(self.kind == VERTEX)])[start]
        return [points[first:last] for first, last in pairwise(start.tolist())]

    def take(self, items: Ids) -> Generators:
        """The same for other items: reordered, repeated or left out."""
        start, rows = _ragged_take(self.start, items)
        facet_start, facets = _ragged_take(self.facet_start, rows)
        return Generators(start, self.points[rows], self.kind[rows], facet_start, self.facet[facets])

    def bounding_boxes(self) -> tuple[Array, Array]:
        """Least and greatest coordinates of every item; infinite where it is unbounded."""
        vertex = (self.kind == VERTEX)[:, None]
        line = (self.kind == LINE)[:, None]
        down = np.where((self.points < 0) | (line & (self.points != 0)), -np.inf, np.inf)
        up = np.where((self.points > 0) | (line & (self.points != 0)), np.inf, -np.inf)
        lo = np.where(vertex, self.points, down)
        hi = np.where(vertex, self.points, up)
        return np.minimum.reduceat(lo, self.start[:-1]), np.maximum.reduceat(hi, self.start[:-1])


def find_generators(program: Program, domain: Domain, patterns: Packed, threads: int = 1) -> Generators:
    """The generators of the cells with these patterns, in their order. Patterns must be distinct."""
    problem = core_problem(program, domain)
    in_order, back = _in_core_order(patterns)
    with _limits_named():
        found = apart_if_wanted(lambda wanted: core.trace(problem, in_order, threads, wanted))
    in_core_order = Generators(**found)
    _check_all_there(len(in_core_order), len(patterns))
    return in_core_order if back is None else in_core_order.take(back)


def facet_generators(atlas: Atlas, facet: Ids) -> tuple[Ids, Ids, Generators]:
    """For each facet the generators that lie on it: where they start, and their rows in those of the cells."""
    cells = distinct(atlas.facet_owner[facet])
    generators = atlas.generators(cells)
    row = np.repeat(np.arange(len(generators.points)), np.diff(generators.facet_start))
    # Numbers of the facets between the first and the last that are asked for: few, where they are a part of all.
    first, end = (int(facet.min()), int(facet.max()) + 1) if len(facet) else (0, 0)
    number = np.full(end - first, -1)
    number[facet - first] = np.arange(len(facet))
    place = atlas.facet_start[cells[generators.owner[row]]] + generators.facet - first
    near = (place >= 0) & (place < end - first)
    row, piece = row[near], number[place[near]]
    row, piece = row[piece >= 0], piece[piece >= 0]
    order = np.lexsort((row, piece))
    start = np.concatenate([[0], np.cumsum(np.bincount(piece, minlength=len(facet)))]).astype(np.int64)
    return start, row[order], generators


@dataclass(frozen=True, eq=False)
class Measures:
    """What cells measure: volumes (n,), centroids (n, d), and how many facets their vertices and rays say they have.

    Covariances (n, d, d) of the uniform distributions on them are there where they were asked for. Of an unbounded cell
    the volume is infinite, and all but the number of its facets is NaN.
    """

    volumes: Array
    centroids: Array
    covariances: Array
    facets: npt.NDArray[np.int32]

    def take(self, items: Ids) -> Measures:
        """The same for other items: reordered, repeated or left out."""
        covariances = self.covariances[items] if len(self.covariances) else self.covariances
        return Measures(self.volumes[items], self.centroids[items], covariances, self.facets[items])


def find_measures(
    program: Program, domain: Domain, patterns: Packed, threads: int = 1, *, covariance: bool = False
) -> Measures:
    """What the cells with these patterns measure, in their order. Patterns must be distinct."""
    few = few_coordinates(program, domain)
    problem = core_problem(few.program, few.domain)
    in_order, back = _in_core_order(patterns)
    with _limits_named():
        found = Measures(*apart_if_wanted(lambda wanted: core.measure(problem, in_order, covariance, threads, wanted)))
    _check_all_there(len(found.volumes), len(patterns))
    found = found if few.all else _without_end(found, few.dim)
    return found if back is None else found.take(back)


def _without_end(found: Measures, dim: int) -> Measures:
    """What cells measure that are these times a linear space."""
    count, unknown = len(found.volumes), np.nan
    covariances = np.full((count, dim, dim), unknown) if len(found.covariances) else found.covariances
    return Measures(np.full(count, np.inf), np.full((count, dim), unknown), covariances, found.facets)


def _in_core_order(patterns: Packed) -> tuple[Packed, Ids | None]:
    """Patterns as the core wants them, and where each was; None where they are in that order already."""
    patterns = np.ascontiguousarray(patterns)
    if not core.count_disorder(patterns):
        return patterns, None
    order = order_by_gate(patterns)
    return np.ascontiguousarray(patterns[order]), np.argsort(order, kind="stable")


def _check_all_there(found: int, asked: int) -> None:
    if found != asked:
        raise LimitError(
            f"{how_many(asked - found, 'cell')} of {asked:,} cannot be measured: they are so thin that they vanish "
            "when the network is written out as matrices, which are rounded"
        )


def count_faces(program: Program, domain: Domain, threads: int) -> tuple[int, ...]:
    """Numbers of faces of dimension 0, 1, ..., d of the whole complex."""
    few, clock = few_coordinates(program, domain), running()
    problem = core_problem(few.program, few.domain, rounded=False)
    with _limits_named(), clock.noting_interrupts(raising=False):
        counts = core.count_faces(problem, threads, lambda cells: not clock.over)
    if not counts:  # it was stopped
        clock.check()
    # Every face goes on along the parameters that were left out.
    return (0,) * (few.dim - len(few.axes)) + tuple(counts)


@contextmanager
def _limits_named() -> Iterator[None]:
    """The core refuses cells with very many vertices; say so in our words."""
    try:
        yield
    except core.TooLarge as error:
        raise LimitError(str(error)) from None


def _ragged_take(start: Ids, order: Ids) -> tuple[Ids, Ids]:
    """Ragged lists in another order: the new starts, and the old row behind every new one."""
    lengths = np.diff(start)[order]
    new_start = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(start[:-1][order] - new_start[:-1], lengths) + np.arange(new_start[-1])
    return new_start, rows
