"""The vocabulary of scenes: shapes in two or three dimensions, what their colours mean, and what to say about them.

Texts are plain: what they say is what is shown, and "\\n" begins a new line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids

# What a shape is for; a renderer has one style for each. A patch is a cell without an outline.
Role = Literal["cell", "patch", "wall", "earlier", "boundary", "data", "edge", "box", "surface", "curve", "marked"]


@dataclass(frozen=True, eq=False)
class Colouring:
    """One value for each shape: a number on a scale, or, if `names` are given, the number of a name.

    `label` says what the values are. NaN, or a number below zero for names, is drawn in grey. A scale goes from the
    least value to the largest, unless `limits` say otherwise, as for pictures that belong together.
    """

    values: Array
    label: str
    names: tuple[str, ...] | None = None
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Polygons:
    """Filled polygons: number i has the corners points[start[i]:start[i + 1]], in order around it."""

    start: Ids
    points: Array
    colouring: Colouring | None = None
    hover: Sequence[str] = ()
    role: Role = "cell"
    name: str = ""


@dataclass(frozen=True, eq=False)
class Segments:
    """Straight pieces from ends[i, 0] to ends[i, 1], in two or three dimensions."""

    ends: Array
    colouring: Colouring | None = None
    hover: Sequence[str] = ()
    role: Role = "wall"
    name: str = ""


@dataclass(frozen=True, eq=False)
class Points:
    """Single points (n, 2) or (n, 3); `sizes`, if given, are relative areas."""

    points: Array
    colouring: Colouring | None = None
    hover: Sequence[str] = ()
    role: Role = "data"
    name: str = ""
    sizes: Array | None = None


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through points (n, 2) or (n, 3). One of several has a number, for a colour of its own."""

    points: Array
    role: Role = "curve"
    name: str = ""
    number: int | None = None


@dataclass(frozen=True, eq=False)
class Mesh:
    """Flat pieces in space, made of triangles: rows of `triangles` number rows of `points`.

    `piece[t]` is the piece that triangle t belongs to; colours and texts are those of the pieces. `face[t]` is its
    face: triangles of one face follow each other and fan out from one corner of a convex polygon. Without it each
    triangle is a face. `covered[t]` says that nobody can see a triangle, since it lies between two pieces.
    """

    points: Array
    triangles: Ids
    piece: Ids
    face: Ids | None = None
    covered: npt.NDArray[np.bool_] | None = None
    outlined: bool = True
    colouring: Colouring | None = None
    hover: Sequence[str] = ()
    role: Role = "surface"
    name: str = ""


@dataclass(frozen=True, eq=False)
class Bars:
    """One bar for each label; if `edges` are given, bar i goes from edges[i] to edges[i + 1] along a scale."""

    labels: tuple[str, ...]
    heights: Array
    name: str = ""
    edges: Array | None = None


@dataclass(frozen=True, eq=False)
class Picture:
    """An image (rows, columns) with a title; `signed` ones have zero in the middle of their colours."""

    pixels: Array
    title: str = ""
    signed: bool = True


Part = Polygons | Segments | Points | Curve | Mesh | Bars


@dataclass(frozen=True)
class Axes:
    """What the coordinates are called, and what of them is shown: (lo, hi) for each, or all if None."""

    labels: tuple[str, ...] = ("x", "y")
    limits: tuple[tuple[float, float], ...] | None = None
    equal: bool = False


@dataclass(frozen=True, eq=False)
class Scene:
    """One picture: its parts from the back to the front, and notes on what the picture leaves out."""

    parts: tuple[Part, ...]
    axes: Axes = field(default_factory=Axes)
    title: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Grid:
    """Images in rows and columns; None leaves a place empty."""

    rows: tuple[tuple[Picture | None, ...], ...]
    row_names: tuple[str, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Panels:
    """Scenes side by side, which belong together; if `slider`, one at a time where the renderer has a slider."""

    scenes: tuple[Scene, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    slider: bool = False


Drawing = Scene | Panels | Grid
