"""Cells of a one-dimensional atlas as intervals within a view."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.plotting.geometry.view import View


@dataclass(frozen=True, eq=False)
class Intervals:
    """Interval i, ends[i, 0] < u < ends[i, 1], is what the view shows of cell `cells[i]`; from the left to the right.

    `breakpoints` are the ends that two cells of the view share. Cells that do not reach into the view are left out.
    """

    cells: Ids
    ends: Array
    breakpoints: Array

    def __len__(self) -> int:
        return len(self.cells)


def intervals(atlas: Atlas, view: View, cells: Any = None) -> Intervals:
    """The parts of cells (all unless given) that lie in the view."""
    ids = atlas.ids(cells)
    ids = ids[np.argsort(atlas.witnesses[ids, 0], kind="stable")]
    lo, hi = (each[:, 0] for each in atlas.bounding_boxes(ids)) if len(ids) else (np.zeros(0), np.zeros(0))
    seen = (lo < view.hi[0]) & (hi > view.lo[0])
    ids, lo, hi = ids[seen], lo[seen], hi[seen]
    ends = np.stack([np.maximum(lo, view.lo[0]), np.minimum(hi, view.hi[0])], axis=1)
    # Cells that follow each other need not touch: some may be left out, or missing.
    touching = set(zip(atlas.facet_owner.tolist(), atlas.neighbour.tolist(), strict=True))
    shared = [k for k, pair in enumerate(pairwise(ids.tolist())) if pair in touching]
    return Intervals(ids, ends, hi[shared])
