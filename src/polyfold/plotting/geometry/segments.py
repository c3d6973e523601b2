"""Facets of a two-dimensional atlas as segments within a view."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.generators import LINE, VERTEX, facet_generators
from polyfold.plotting.geometry.view import View


def inner_facets(atlas: Atlas) -> Ids:
    """The facets that gates make, each once: those of the domain's boundary are left out."""
    return np.flatnonzero((atlas.neighbour > atlas.facet_owner) | (atlas.neighbour == -2))


def facet_segments(atlas: Atlas, facets: Ids, view: View) -> tuple[Ids, Array]:
    """What of facets lies in the view: which of them (places in `facets`), and the ends (k, 2, 2) of each."""
    start, rows, generators = facet_generators(atlas, facets)
    return segments(start, generators.points[rows], generators.kind[rows], view)


def segments(start: Ids, points: Array, kind: npt.NDArray[np.uint8], view: View) -> tuple[Ids, Array]:
    """Segments, half-lines and lines, each spanned by a vertex and a second vertex, a ray or a line: what lies in the
    view, as the number of the piece and the ends (k, 2, 2).

    >>> view = View(np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    >>> ray = np.array([[0.0, 0.0], [2.0, 1.0]])
    >>> segments(np.array([0, 2]), ray, np.array([0, 1], dtype=np.uint8), view)[1].tolist()
    [[[0.0, 0.0], [1.0, 0.5]]]
    """
    piece = np.repeat(np.arange(len(start) - 1), np.diff(start))
    # A vertex comes first, and whatever else spans the piece last.
    order = np.lexsort((kind, piece))
    first, last = order[start[:-1]], order[start[1:] - 1]
    base, other, of = points[first], points[last], kind[last]
    along = np.where((of == VERTEX)[:, None], other - base, other)
    enter = np.where(of == LINE, -np.inf, 0.0)
    leave = np.where(of == VERTEX, 1.0, np.inf)
    for axis in range(2):
        moving = along[:, axis] != 0
        beyond = (base[:, axis] < view.lo[axis]) | (base[:, axis] > view.hi[axis])
        leave[~moving & beyond] = -np.inf
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            hits = (np.stack([view.lo[axis], view.hi[axis]]) - base[:, axis, None]) / along[:, axis, None]
        hits.sort(axis=1)
        enter = np.where(moving, np.maximum(enter, hits[:, 0]), enter)
        leave = np.where(moving, np.minimum(leave, hits[:, 1]), leave)
    seen = np.flatnonzero(enter < leave)
    when = np.stack([enter[seen], leave[seen]], axis=1)
    ends = base[seen, None] + when[..., None] * along[seen, None]
    # An end that is the second vertex itself keeps its digits.
    whole = (when[:, 1] == 1) & (of[seen] == VERTEX)
    ends[whole, 1] = other[seen[whole]]
    return seen, np.clip(ends, view.lo, view.hi)
