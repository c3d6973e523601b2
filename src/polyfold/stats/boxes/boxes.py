"""boxes: the smallest boxes and hypercubes around cells or regions, and the largest ones inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.clock import Report, tick
from polyfold._base.question import question
from polyfold._base.result import InFloats, Rows, answered
from polyfold._base.types import Array, ArrayLike, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.chebyshev import chebyshev_balls
from polyfold.atlas.geometry.facet_rows import ExactRows, facets_of, rows_of
from polyfold.atlas.geometry.facet_rows import Rows as FacetRows
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike, own_domain
from polyfold.engine.unfold import as_atlas
from polyfold.errors import LimitError, ShapeError, how_many
from polyfold.stats.boxes.convex import is_convex, outer_facets
from polyfold.stats.boxes.enclose import enclosing
from polyfold.stats.boxes.inscribed import largest_boxes
from polyfold.stats.boxes.inward import inside_boxes, inside_radii
from polyfold.stats.boxes.outer import extents

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Boxes(InFloats, Rows):
    """Boxes around and inside cells or linear regions of an atlas, row by row.

    Everything is in the domain's parameters. What is no field is computed when it is asked for, and kept; of
    `enclosing` and of what lies inside it is proved that it does.

    Attributes
    ----------
    atlas : Atlas
        The cells.
    regions : Regions or None
        The regions, if the boxes are theirs.
    ids : array of int, shape (n,)
        The cells or regions that the rows are about.
    lo, hi : array of float, shape (n, d)
        Least and greatest coordinates, rounded to floats and infinite where there are none.
    """

    atlas: Atlas
    regions: Regions | None
    ids: Ids
    lo: Array
    hi: Array

    def __post_init__(self) -> None:
        for array in (self.ids, self.lo, self.hi):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        finite = int(np.isfinite(self.sides).all(axis=1).sum())
        where = how_many(self.atlas.dim, "dimension")
        return f"Boxes of {how_many(len(self), self._thing)} in {where}, {finite:,} bounded; {self.evidence}"

    # -- around

    @cached_property
    def sides(self) -> Array:
        """The sides (n, d) of the smallest boxes."""
        return _fixed(self.hi - self.lo)

    @cached_property
    def centre(self) -> Array:
        """The centres (n, d) of the smallest boxes, and of the hypercubes; NaN along infinite sides."""
        with np.errstate(invalid="ignore"):
            middle = self.lo + self.sides / 2
        return _fixed(np.where(np.isfinite(self.sides), middle, np.nan))

    @cached_property
    def size(self) -> Array:
        """The side (n,) of a smallest hypercube: as long as the greatest side of the smallest box.

        There are many smallest hypercubes as soon as two sides differ; this one has the box's centre.
        """
        return _fixed(self.sides.max(axis=1, initial=0.0))

    @cached_property
    def enclosing(self) -> tuple[Array, Array]:
        """(lo, hi) rounded outwards: boxes that are proved to hold the cells or regions.

        Sides for which that cannot be proved are infinite.
        """
        cells, start = self._cells
        lo, hi = enclosing(self.atlas, cells, *extents(self.atlas, cells))
        if len(self) and self.regions is not None:
            lo, hi = np.minimum.reduceat(lo, start[:-1]), np.maximum.reduceat(hi, start[:-1])
        return _fixed(lo), _fixed(hi)

    # -- inside

    @cached_property
    def convex(self) -> Flags:
        """Whether each item is proved to be convex, as every cell is.

        Inside other regions only single cells are looked into, and the best of these may be less than the best.
        """
        if self.regions is None:
            return np.ones(len(self), dtype=bool)
        exact = ExactRows(self.atlas) if ExactRows.reach(self.atlas) else None
        return np.array([is_convex(self.regions, int(region), exact) for region in self.ids], dtype=bool)

    @property
    def inner_lo(self) -> Array:
        """Least coordinates (n, d) of the largest box inside, by volume. That it lies inside is proved.

        NaN where the item is not bounded, for then there need be no largest one, or is too thin for floats.
        """
        return self._inner_boxes[0]

    @property
    def inner_hi(self) -> Array:
        """Greatest coordinates (n, d) of the largest box inside; see `inner_lo`."""
        return self._inner_boxes[1]

    @property
    def inner_cube_centre(self) -> Array:
        """Centres (n, d) of largest hypercubes inside. NaN where they may be of any size."""
        return self._inner_cubes[0]

    @property
    def inner_cube_size(self) -> Array:
        """Sides (n,) of the largest hypercubes inside, proved to lie inside; infinite where they may be of any size."""
        return self._inner_cubes[1]

    @property
    def ball_centre(self) -> Array:
        """Centres (n, d) of largest balls inside. NaN where, so the linear program says, they may be of any size."""
        return self._balls[0]

    @property
    def ball_radius(self) -> Array:
        """Radii (n,) of the largest balls inside, proved to lie inside; infinite where they may be of any size."""
        return self._balls[1]

    # -- how faithful they are

    @cached_property
    def volumes(self) -> Array:
        """Volumes (n,) of the cells or regions; infinite where they are unbounded."""
        cells, start = self._cells
        found = self.atlas.volumes(cells)
        return _fixed(np.add.reduceat(found, start[:-1]) if len(self) else found)

    @cached_property
    def faithfulness(self) -> Array:
        """Which part (n,) of the smallest box belongs to the cell or region. NaN where that is infinite."""
        return _share(self.volumes, self.sides.prod(axis=1))

    @cached_property
    def cube_faithfulness(self) -> Array:
        """The same for the hypercube."""
        return _share(self.volumes, self.size**self.atlas.dim)

    @cached_property
    def inner_faithfulness(self) -> Array:
        """Which part (n,) of the cell or region the largest box inside fills. NaN where there is none."""
        return _share((self.inner_hi - self.inner_lo).prod(axis=1), self.volumes)

    def rows(self) -> dict[str, Any]:
        """One row per cell or region: the box, the hypercube, the box and the ball inside, and what they cover.

        Without volumes, and what follows from them, where cells have too many vertices for that.
        """
        columns: dict[str, Any] = {self._thing: self.ids}
        for name in ("lo", "hi", "centre"):
            columns |= {f"{name}_{k}": getattr(self, name)[:, k] for k in range(self.atlas.dim)}
        columns["size"] = self.size
        for name in ("inner_lo", "inner_hi", "ball_centre"):
            columns |= {f"{name}_{k}": getattr(self, name)[:, k] for k in range(self.atlas.dim)}
        columns |= {"ball_radius": self.ball_radius, "convex": self.convex}
        try:
            columns["volume"] = self.volumes
            for name in ("faithfulness", "cube_faithfulness", "inner_faithfulness"):
                columns[name] = getattr(self, name)
        except LimitError:
            tick()  # the end of the time is another limit; volumes need all vertices
        return columns

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame, by cell or region."""
        return super().to_pandas().set_index(self._thing)

    def facts(self) -> dict[str, Any]:
        return {"boxes_of": f"{self._thing}s", "ids": self.ids, "lo": self.lo, "hi": self.hi}

    def ask_instead(self) -> str:
        return "compare how many there are, len(boxes)"

    @property
    def _thing(self) -> str:
        return "cell" if self.regions is None else "region"

    # -- how they are found

    @cached_property
    def _cells(self) -> tuple[Ids, Ids]:
        """The cells of all items one after the other, and where each item's start."""
        if self.regions is None:
            return self.ids, np.arange(len(self) + 1)
        parts = [self.regions.cells[region] for region in self.ids]
        start = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts]), start

    @cached_property
    def _polytopes(self) -> _Polytopes:
        return _polytopes(self)

    @cached_property
    def _inner_boxes(self) -> tuple[Array, Array]:
        inside = self._polytopes
        lo, hi = np.full((2, len(inside.item), self.atlas.dim), np.nan)
        at = np.flatnonzero(inside.bounded)
        if len(at):
            some = inside.take(at)
            found = largest_boxes(some.rows, some.witness, some.hi - some.lo)
            lo[at], hi[at] = inside_boxes(self.atlas, some.facets, some.rows, *found)
        best = _best_of(inside.item, np.prod(hi - lo, axis=1), len(self))
        # Of a region with an unbounded cell there need be no largest box, whatever its other cells hold.
        gone = (best < 0) | ~np.isfinite(self.sides).all(axis=1)
        return _fixed(np.where(gone[:, None], np.nan, lo[best])), _fixed(np.where(gone[:, None], np.nan, hi[best]))

    @cached_property
    def _inner_cubes(self) -> tuple[Array, Array]:
        centres, radii = self._largest(cubes=True)
        return centres, _fixed(2 * radii)

    @cached_property
    def _balls(self) -> tuple[Array, Array]:
        return self._largest(cubes=False)

    def _largest(self, *, cubes: bool) -> tuple[Array, Array]:
        inside = self._polytopes
        rows = inside.rows
        centres, radii = chebyshev_balls(rows.start, rows.A, rows.b, inside.witness, cubes=cubes)
        radii = inside_radii(rows, centres, radii, cubes=cubes)
        best = _best_of(inside.item, radii, len(self))
        gone = best < 0
        return (
            _fixed(np.where(gone[:, None], np.nan, centres[best])),
            _fixed(np.where(gone, np.nan, radii[best])),
        )


@question("stats.boxes")
def boxes(
    source: SourceLike | Regions,
    domain: DomainLike = None,
    *,
    ids: ArrayLike | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Boxes:
    """The smallest axis-aligned boxes and hypercubes around cells or regions, and on demand the largest ones inside.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Regions
        What is asked about: cells, or given `pf.regions(...)` linear regions. Anything else is unfolded on the domain
        first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    ids : array of int, optional
        Which cells, or regions; by default all of them.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Boxes
        In the domain's parameters, which are the inputs unless the domain is a slice.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> atlas = pf.unfold([([[1.0, 1.0]], [-1.0]), ([[1.0]], [0.0])], pf.box(0, 2))
    >>> found = pf.stats.boxes(atlas, ids=atlas.locate([[0.1, 0.1]]))
    >>> found.lo.tolist(), found.hi.tolist(), found.faithfulness.tolist()
    ([[0.0, 0.0]], [[1.0, 1.0]], [0.5])
    >>> np.round(found.inner_hi, 6).tolist()
    [[0.5, 0.5]]
    """
    if not isinstance(source, Regions):
        atlas = as_atlas(source, domain, threads=threads)
        cells = atlas.ids(ids)
        return answered(Boxes(atlas, None, cells, *extents(atlas, cells)), evidence_of(atlas))
    own_domain(source.atlas, domain)
    chosen = _region_ids(source, ids)
    parts = [source.cells[region] for region in chosen]
    lo, hi = extents(source.atlas, np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
    if len(chosen):
        start = np.cumsum([0, *(len(part) for part in parts[:-1])])
        lo, hi = np.minimum.reduceat(lo, start), np.maximum.reduceat(hi, start)
    return answered(Boxes(source.atlas, source, chosen, lo, hi), source.evidence)


def _region_ids(regions: Regions, ids: ArrayLike | None) -> Ids:
    if ids is None:
        return np.arange(len(regions))
    found = np.atleast_1d(np.asarray(ids))
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
        raise ShapeError(f"region ids must be whole numbers; this is an array of {found.dtype} of shape {found.shape}")
    if found.min() < 0 or found.max() >= len(regions):
        bad = int(found[(found < 0) | (found >= len(regions))][0])
        raise IndexError(f"there is no region {bad}: there are {len(regions)}")
    return found.astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Polytopes:
    """What is looked into: of every convex item its own facets, of every other item its cells one by one."""

    item: Ids
    rows: FacetRows
    facets: Ids
    witness: Array
    bounded: Flags
    lo: Array
    hi: Array

    def take(self, at: Ids) -> _Polytopes:
        counts = np.diff(self.rows.start)[at]
        start = np.concatenate([[0], np.cumsum(counts)])
        picked = np.repeat(self.rows.start[at] - start[:-1], counts) + np.arange(start[-1])
        rows = FacetRows(start, *(x[picked] for x in (self.rows.A, self.rows.b, self.rows.A_error, self.rows.b_error)))
        return _Polytopes(
            self.item[at],
            rows,
            self.facets[picked],
            self.witness[at],
            self.bounded[at],
            self.lo[at],
            self.hi[at],
        )


def _polytopes(boxes: Boxes) -> _Polytopes:
    atlas = boxes.atlas
    cells, first = boxes._cells
    whole = boxes.convex & (np.diff(first) > 1)
    item = np.repeat(np.arange(len(boxes)), np.diff(first))
    alone = np.flatnonzero(~whole[item])
    start, facets = facets_of(atlas, cells[alone])
    lists = [facets[a:b] for a, b in pairwise(start)]
    joined = np.flatnonzero(whole)
    if boxes.regions is not None:
        lists += [outer_facets(boxes.regions, int(boxes.ids[k])) for k in joined]
    start = np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)
    facets = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
    witness = atlas.witnesses[np.concatenate([cells[alone], cells[first[joined]]])]
    # Boxes of cells are known already unless they are boxes of regions.
    lo, hi = (boxes.lo, boxes.hi) if boxes.regions is None else extents(atlas, cells[alone])
    lo, hi = np.concatenate([lo, boxes.lo[joined]]), np.concatenate([hi, boxes.hi[joined]])
    bounded: Flags = np.all(np.isfinite(hi - lo), axis=1)
    items = np.concatenate([item[alone], joined])
    return _Polytopes(items, rows_of(atlas, start, facets), facets, witness, bounded, lo, hi)


def _best_of(item: Ids, score: Array, items: int) -> Ids:
    """For every item, which of its polytopes scores best; -1 if none has a score."""
    known = np.flatnonzero(~np.isnan(score))
    order = known[np.lexsort((score[known], item[known]))]
    best = np.full(items, -1, dtype=np.int64)
    best[item[order]] = order  # of several for one item the last one stays, which is the best
    return best


@np.errstate(divide="ignore", invalid="ignore")
def _share(part: Array, whole: Array) -> Array:
    return _fixed(np.where(np.isfinite(whole), part / whole, np.nan))


def _fixed(array: Array) -> Array:
    array = np.asarray(array)
    array.setflags(write=False)
    return array
