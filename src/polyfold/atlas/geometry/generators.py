"""Vertices, rays and lines of cells and their facets, found again by walking the cells' patterns through the core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.apart import apart_if_wanted
from polyfold._base.clock import running
from polyfold._base.inputs import one_of
from polyfold._base.types import Array, Ids
from polyfold.atlas.core_problem import core_problem
from polyfold.atlas.patterns import Packed, order_by_gate
from polyfold.domain.domain import Domain
from polyfold.errors import LimitError, how_many
from polyfold.program.program import Program

if TYPE_CHECKING:
    from polyfold.atlas.atlas import Atlas

VERTEX, RAY, LINE = 0, 1, 2

# Cells that the core looks at in one call, which cannot be asked to stop. What it finds is the same whatever the time,
# but its last digits may depend on which cells are looked at together: so their number is fixed.
_TOGETHER = 1 << 12


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


def find_generators(program: Program, domain: Domain, patterns: Packed) -> Generators:
    """The generators of the cells with these patterns, in their order. Patterns must be distinct."""
    order = order_by_gate(patterns)
    problem, in_order = core_problem(program, domain), np.ascontiguousarray(patterns[order])
    with _limits_named():
        found = [apart_if_wanted(partial(_trace, problem, part)) for part in _parts(in_order)]
    in_core_order = Generators(
        _joined_starts([part["start"] for part in found]),
        np.concatenate([np.zeros((0, domain.dim)), *(part["coordinates"][:, : domain.dim] for part in found)]),
        np.concatenate([np.zeros(0, dtype=np.uint8), *(part["kind"] for part in found)]),
        _joined_starts([part["facet_start"] for part in found]),
        np.concatenate([np.zeros(0, dtype=np.int32), *(part["facet"] for part in found)]),
    )
    _check_all_there(len(in_core_order), len(patterns))
    return in_core_order.take(np.argsort(order, kind="stable"))


def facet_generators(atlas: Atlas, facet: Ids) -> tuple[Ids, Ids, Generators]:
    """For each facet the generators that lie on it: where they start, and their rows in those of the cells."""
    cells = np.unique(atlas.facet_owner[facet])
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


def find_measures(program: Program, domain: Domain, patterns: Packed) -> tuple[Array, Array]:
    """Volumes and centroids of the cells with these patterns, in their order. Patterns must be distinct."""
    volumes, centroids, _ = _measured(program, domain, patterns, False)
    return volumes, centroids


def find_covariances(program: Program, domain: Domain, patterns: Packed) -> tuple[Array, Array, Array]:
    """The same, and the covariances of the uniform distributions on the cells."""
    return _measured(program, domain, patterns, True)


def _measured(program: Program, domain: Domain, patterns: Packed, covariance: bool) -> tuple[Array, Array, Array]:
    order = order_by_gate(patterns)
    problem, in_order = core_problem(program, domain), np.ascontiguousarray(patterns[order])
    d = domain.dim
    found = [(np.zeros(0), np.zeros((0, d)), np.zeros((0, d, d)))]
    with _limits_named():
        found += [apart_if_wanted(partial(_measure, problem, part, covariance)) for part in _parts(in_order)]
    volumes, centroids, covariances = (np.concatenate(parts) for parts in zip(*found, strict=True))
    _check_all_there(len(volumes), len(patterns))
    back = np.argsort(order, kind="stable")
    return volumes[back], centroids[back], covariances[back] if covariance else covariances


def _check_all_there(found: int, asked: int) -> None:
    if found != asked:
        raise LimitError(
            f"{how_many(asked - found, 'cell')} of {asked:,} cannot be measured: they are so thin that they vanish "
            "when the network is written out as matrices, which are rounded"
        )


def count_faces(program: Program, domain: Domain, threads: int) -> tuple[int, ...]:
    """Numbers of faces of dimension 0, 1, ..., d of the whole complex."""
    problem, clock = core_problem(program, domain, rounded=False), running()
    with _limits_named(), clock.noting_interrupts(raising=False):
        counts = core.count_faces(problem, threads, lambda cells: not clock.over)
    if not counts:  # it was stopped
        clock.check()
    return tuple(counts)


@contextmanager
def _limits_named() -> Iterator[None]:
    """The core refuses cells with very many vertices; say so in our words."""
    try:
        yield
    except core.TooLarge as error:
        raise LimitError(str(error)) from None


def _trace(problem: core.Problem, patterns: Packed, wanted: object) -> dict[str, Any]:
    return core.trace(problem, patterns)


def _measure(problem: core.Problem, patterns: Packed, covariance: bool, wanted: object) -> tuple[Array, Array, Array]:
    return core.measure(problem, patterns, covariance)


def _parts(patterns: Packed) -> Iterator[Packed]:
    return (patterns[first : first + _TOGETHER] for first in range(0, len(patterns), _TOGETHER))


def _joined_starts(starts: list[Ids]) -> Ids:
    """Where the lists of several tables start in all of them, one behind the other."""
    lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(start) for start in starts)])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _ragged_take(start: Ids, order: Ids) -> tuple[Ids, Ids]:
    """Ragged lists in another order: the new starts, and the old row behind every new one."""
    lengths = np.diff(start)[order]
    new_start = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(start[:-1][order] - new_start[:-1], lengths) + np.arange(new_start[-1])
    return new_start, rows
