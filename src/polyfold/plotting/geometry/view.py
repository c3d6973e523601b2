"""View: the interval, rectangle or box that a picture of a domain of one to three dimensions shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.generators import VERTEX
from polyfold.errors import DomainError

# Around vertices and data of an unbounded domain, this part of their extent is shown too.
_MARGIN = 0.25
# If the extent is so many times that of all but the outermost points, these parts of them at either end are left out.
_FAR, _TAIL = 5.0, 0.05
# Sides that differ by more than this factor are not drawn to one scale.
_LONGEST = 3.0


@dataclass(frozen=True, eq=False)
class View:
    """The points lo <= u <= hi."""

    lo: Array
    hi: Array

    def __post_init__(self) -> None:
        if self.lo.shape not in ((1,), (2,), (3,)) or self.lo.shape != self.hi.shape:
            raise DomainError(f"a view has one to three coordinates, not {self.lo.tolist()} to {self.hi.tolist()}")
        if not (np.isfinite(self.lo).all() and np.isfinite(self.hi).all() and (self.lo < self.hi).all()):
            raise DomainError(f"a view needs finite bounds lo < hi, not {self.lo.tolist()} to {self.hi.tolist()}")

    @property
    def corners(self) -> Array:
        """Of a rectangle, counter-clockwise, from the lower left one."""
        (x0, y0), (x1, y1) = self.lo.tolist(), self.hi.tolist()
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])

    @property
    def one_scale(self) -> bool:
        """Whether both axes can have one scale, without making the picture a strip."""
        sides = self.hi - self.lo
        return bool(sides.max() <= _LONGEST * sides.min())

    @property
    def area(self) -> float:
        """The area of a rectangle, the length of an interval, the volume of a box."""
        return float(np.prod(self.hi - self.lo))

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """(lo, hi) of each coordinate."""
        return tuple(zip(self.lo.tolist(), self.hi.tolist(), strict=True))


# How many numbers say a view in each dimension, and what they are called.
_NUMBERS = {
    1: ("an interval", "two numbers x0, x1", "pf.line"),
    2: ("a plane view", "four numbers x0, x1, y0, y1", "pf.plane"),
    3: ("a view in space", "six numbers x0, x1, y0, y1, z0, z1", "pf.slice_of"),
}


def view_of(atlas: Atlas, view: Any = None, data: Any = None, *, dim: int = 2) -> View:
    """The view (x0, x1, y0, y1) that was asked for; without one all of a bounded domain, else what is around the
    data or, if there are none, around most vertices.

    `dim` is the dimension that the picture is for; an interval is (x0, x1), a box has six numbers.
    """
    kind, numbers, cut = _NUMBERS[dim]
    if atlas.dim != dim:
        raise DomainError(f"{kind} needs a domain of dimension {dim}, not {atlas.dim}: {cut} cuts one out")
    if view is not None:
        try:
            bounds = np.array([float(each) for each in view])
        except (TypeError, ValueError):
            bounds = np.zeros(0)
        if bounds.shape != (2 * dim,):
            raise DomainError(f"view={view!r} must be {numbers}")
        return View(bounds[::2], bounds[1::2])
    found = atlas.generators()
    points = found.points[found.kind == VERTEX]
    if atlas.bounded.all() and atlas.complete:
        return View(points.min(axis=0), points.max(axis=0))
    if data is not None and len(data):
        points = np.asarray(data, dtype=np.float64)
    if not len(points):
        return View(np.full(dim, -1.0), np.full(dim, 1.0))
    lo, hi = points.min(axis=0), points.max(axis=0)
    # A few vertices far away would make a dot of all others.
    most_lo, most_hi = np.quantile(points, [_TAIL, 1 - _TAIL], axis=0)
    far = (most_hi > most_lo) & (hi - lo > _FAR * (most_hi - most_lo))
    lo, hi = np.where(far, most_lo, lo), np.where(far, most_hi, hi)
    extent = hi - lo
    # One vertex, or all of them on one line: any extent will do.
    around = np.where(extent > 0, _MARGIN * extent, max(1.0, float(extent.max())))
    return View(lo - around, hi + around)
