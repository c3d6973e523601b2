"""Meshes: triangles put together again as faces, so that outlines are those of faces, and texts of corners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.plotting.scene.shapes import Mesh, Scene

# Of longer texts a mesh has none: a figure should open.
_MOST_TEXT = 8_000_000


def face_corners(mesh: Mesh) -> tuple[Ids, Ids, Ids]:
    """Where each face's corners start, the rows of points that they are, in order, and the piece of each face."""
    count = len(mesh.triangles)
    face = np.arange(count) if mesh.face is None else mesh.face
    first = np.concatenate([[True], face[1:] != face[:-1]])[:count]
    # The triangles of a face fan out from one corner: each but the first one adds a corner.
    kept = np.stack([first, first, np.ones(count, dtype=bool)], axis=1)
    sizes = np.diff(np.append(np.flatnonzero(first), count)) + 2
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return start, mesh.triangles[kept], mesh.piece[first]


def in_sight(mesh: Mesh) -> Mesh:
    """The mesh without triangles that nobody can see, for renderers that cannot tell what is behind what."""
    if mesh.covered is None:
        return mesh
    seen = ~mesh.covered
    face = None if mesh.face is None else mesh.face[seen]
    return replace(mesh, triangles=mesh.triangles[seen], piece=mesh.piece[seen], face=face, covered=None)


def outlines(mesh: Mesh) -> Array:
    """The sides of all faces as one line (n, 3), with gaps of NaN between faces."""
    start, rows, _ = face_corners(mesh)
    sizes = np.diff(start)
    face = np.repeat(np.arange(len(sizes)), sizes)
    # Each face is closed by its first corner, behind which comes a gap.
    found = np.full((len(rows) + 2 * len(sizes), 3), np.nan)
    found[np.arange(len(rows)) + 2 * face] = mesh.points[rows]
    found[start[1:] + 2 * np.arange(len(sizes))] = mesh.points[rows[start[:-1]]]
    return found[:-1]


def texts_of_corners(part: Mesh) -> list[str] | None:
    """A text for each corner of a mesh: that of its piece. Plotly says that of the corner next to the pointer."""
    if not part.hover:
        return None
    owner = np.zeros(len(part.points), dtype=np.int64)
    owner[part.triangles.ravel()] = np.repeat(part.piece, 3)
    found: list[str] = np.array(part.hover, dtype=object)[owner].tolist()
    return found if sum(map(len, found)) <= _MOST_TEXT else None


def text_notes(scenes: tuple[Scene, ...]) -> tuple[str, ...]:
    """That a mesh says nothing, if its texts are too many."""
    meshes = [part for scene in scenes for part in scene.parts if isinstance(part, Mesh)]
    said = "Cells do not say what they are when pointed at: there are too many corners for that."
    return tuple(said for mesh in meshes[:1] if mesh.hover and not texts_of_corners(mesh))
