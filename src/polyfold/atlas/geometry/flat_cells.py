"""Segments and polygons from the inequalities of their facets: what the core does for other cells.

Cells of lines and planes through networks that the core does not take are measured here. They are bounded, since such
lines and planes are, and their facets are listed; so a polygon's corners are where facets meet that come one after the
other by the directions in which they face.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.geometry.generators import VERTEX, Generators

if TYPE_CHECKING:
    from polyfold.atlas.atlas import Atlas


def flat_generators(atlas: Atlas, ids: Ids) -> Generators:
    """The ends of segments by facet, or the corners of polygons, counter-clockwise."""
    # Volumes, centres and faces of all cells ask for the same ones.
    if np.array_equal(ids, atlas.ids()):
        return atlas.all_flat_generators
    # Once all are known nothing needs to pass the network again.
    known: Generators | None = atlas.__dict__.get("all_flat_generators")
    return made_from_facets(atlas, ids) if known is None else known.take(ids)


def made_from_facets(atlas: Atlas, ids: Ids) -> Generators:
    """The same, computed."""
    rows = atlas.halfspaces(ids)
    owner = np.repeat(np.arange(len(ids)), np.diff(rows.start))
    # Seen from a point inside, so that small cells keep their digits.
    inside = atlas.witnesses[ids][owner]
    slack = rows.b - np.einsum("rd,rd->r", rows.A, inside)
    local = np.arange(len(owner)) - rows.start[owner]
    kind = np.full(len(owner), VERTEX, dtype=np.uint8)
    if atlas.dim == 1:
        points = inside + (slack / rows.A[:, 0])[:, None]
        return Generators(rows.start, points, kind, np.arange(len(owner) + 1), local.astype(np.int32))
    order = np.lexsort((np.arctan2(rows.A[:, 1], rows.A[:, 0]), owner))
    behind = order[_following(rows.start)]
    (a, b), (c, d) = rows.A[order].T, rows.A[behind].T
    s, t = slack[order], slack[behind]
    points = inside + np.stack([s * d - t * b, t * a - s * c], axis=1) / (a * d - b * c)[:, None]
    facets = np.stack([local[order], local[behind]], axis=1).ravel()
    return Generators(rows.start, points, kind, 2 * np.arange(len(owner) + 1), facets.astype(np.int32))


def flat_covariances(atlas: Atlas, ids: Ids) -> Array:
    """The covariances (n, d, d) of the uniform distributions on segments or polygons."""
    found = flat_generators(atlas, ids)
    measures, centroids = flat_measures(atlas, ids)
    if atlas.dim == 1:
        return (measures**2 / 12)[:, None, None]
    # Triangles over the sides, with their common corner in the centre of mass.
    here = found.points - centroids[found.owner]
    there = here[_following(found.start)]
    turns = here[:, 0] * there[:, 1] - here[:, 1] * there[:, 0]
    squares = sum(x[:, :, None] * x[:, None, :] for x in (here, there, here + there))
    covariances: Array = np.add.reduceat(turns[:, None, None] * squares, found.start[:-1]) / 24
    return covariances / _or_one(measures)[:, None, None]


def flat_measures(atlas: Atlas, ids: Ids) -> tuple[Array, Array]:
    """Lengths or areas, and centres of mass."""
    found = flat_generators(atlas, ids)
    start, inside = found.start, atlas.witnesses[ids]
    here = found.points - inside[found.owner]
    if atlas.dim == 1:
        low, high = np.minimum.reduceat(here, start[:-1]), np.maximum.reduceat(here, start[:-1])
        return (high - low)[:, 0], inside + (low + high) / 2
    there = here[_following(start)]
    turns = here[:, 0] * there[:, 1] - here[:, 1] * there[:, 0]
    areas = np.add.reduceat(turns, start[:-1]) / 2
    moments = np.add.reduceat(turns[:, None] * (here + there), start[:-1]) / 6
    return areas, inside + moments / _or_one(areas)[:, None]


def _or_one(areas: Array) -> Array:
    """Areas to divide by: those of polygons that are too thin for floats do not matter."""
    return np.where(areas == 0, 1.0, areas)


def count_flat_faces(atlas: Atlas) -> tuple[int, ...]:
    """Numbers of faces of dimension 0, 1 (and 2), from the facets' neighbours alone."""
    facets = atlas.inner_facets + atlas.boundary_facets
    if atlas.dim == 1:
        return facets, len(atlas)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    found = flat_generators(atlas, atlas.ids())
    first = atlas.facet_start[found.owner]
    # Corner k lies behind one side and before the next: a side begins and ends at one corner each.
    corner = np.arange(len(found.points))
    begins, ends = np.empty_like(corner), np.empty_like(corner)
    ends[first + found.facet[::2]] = corner
    begins[first + found.facet[1::2]] = corner
    # Both sides of an inner facet go around their cells the same way, so along the facet they go in opposite ones.
    other = _other_side(atlas)
    inner = np.flatnonzero(other >= 0)
    same = coo_array(
        (np.ones(len(inner), dtype=bool), (begins[inner], ends[other[inner]])), shape=(len(corner), len(corner))
    )
    return int(connected_components(same, directed=False)[0]), facets, len(atlas)


def _following(start: Ids) -> Ids:
    """For every row of a ragged list the next one of its item, and behind the last one the first."""
    following = np.arange(start[-1]) + 1
    following[start[1:] - 1] = start[:-1]
    return following


def _other_side(atlas: Atlas) -> Ids:
    """The neighbour's own facet behind each inner facet; -1 for the others. Convex cells share one facet at most."""
    owner, neighbour = atlas.facet_owner, atlas.neighbour.astype(np.int64)
    inner = np.flatnonzero(neighbour >= 0)
    forward = np.lexsort((neighbour[inner], owner[inner]))
    backward = np.lexsort((owner[inner], neighbour[inner]))
    other = np.full(len(owner), -1)
    other[inner[forward]] = inner[backward]
    return other
