"""View: the rectangle that a picture of a two-dimensional domain shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.generators import VERTEX
from polyfold.errors import DomainError

Array = npt.NDArray[np.float64]

# Around vertices and data of an unbounded domain, this part of their extent is shown too.
_MARGIN = 0.25
# Sides that differ by more than this factor are not drawn to one scale.
_LONGEST = 3.0


@dataclass(frozen=True, eq=False)
class View:
    """The points lo <= u <= hi."""

    lo: Array
    hi: Array

    def __post_init__(self) -> None:
        if self.lo.shape != (2,) or self.hi.shape != (2,):
            raise DomainError(f"a view has two coordinates, not {self.lo.tolist()} to {self.hi.tolist()}")
        if not (np.isfinite(self.lo).all() and np.isfinite(self.hi).all() and (self.lo < self.hi).all()):
            raise DomainError(f"a view needs finite bounds lo < hi, not {self.lo.tolist()} to {self.hi.tolist()}")

    @property
    def corners(self) -> Array:
        """Counter-clockwise, from the lower left one."""
        (x0, y0), (x1, y1) = self.lo.tolist(), self.hi.tolist()
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])

    @property
    def one_scale(self) -> bool:
        """Whether both axes can have one scale, without making the picture a strip."""
        sides = self.hi - self.lo
        return bool(sides.max() <= _LONGEST * sides.min())

    @property
    def area(self) -> float:
        return float(np.prod(self.hi - self.lo))


def view_of(atlas: Atlas, view: Any = None, data: Any = None) -> View:
    """The view (x0, x1, y0, y1) that was asked for; without one all of a bounded domain, or what there is to see."""
    if atlas.dim != 2:
        raise DomainError(f"a plane view needs a domain of dimension 2, not {atlas.dim}: pf.plane cuts one out")
    if view is not None:
        try:
            x0, x1, y0, y1 = (float(each) for each in view)
        except (TypeError, ValueError):
            raise DomainError(f"view={view!r} must be four numbers x0, x1, y0, y1") from None
        return View(np.array([x0, y0]), np.array([x1, y1]))
    found = atlas.generators()
    points = found.points[found.kind == VERTEX]
    if atlas.bounded.all() and atlas.complete:
        return View(points.min(axis=0), points.max(axis=0))
    if data is not None:
        points = np.concatenate([points, np.asarray(data, dtype=np.float64)])
    if not len(points):
        return View(np.full(2, -1.0), np.full(2, 1.0))
    lo, hi = points.min(axis=0), points.max(axis=0)
    extent = hi - lo
    # One vertex, or all of them on one line: any extent will do.
    around = np.where(extent > 0, _MARGIN * extent, max(1.0, float(extent.max())))
    return View(lo - around, hi + around)
