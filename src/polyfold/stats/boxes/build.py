"""pf.stats.boxes: boxes around and inside cells or regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of, resting_on
from polyfold.atlas.regions import Regions
from polyfold.errors import PolyfoldError, ShapeError
from polyfold.stats.boxes.outer import extents
from polyfold.stats.boxes.result import Boxes


def boxes(of: Atlas | Regions, ids: Any = None) -> Boxes:
    """The smallest axis-aligned boxes and hypercubes around cells or regions, and on demand the largest ones inside.

    Given an atlas, `ids` are cells; given `pf.regions(atlas)`, they are regions; None is all of them. Boxes are in the
    domain's parameters, which are the inputs unless the domain is a slice.

    >>> import numpy as np, polyfold as pf
    >>> atlas = pf.unfold([([[1.0, 1.0]], [-1.0]), ([[1.0]], [0.0])], pf.box(0, 2))
    >>> found = pf.stats.boxes(atlas, atlas.locate([[0.1, 0.1]]))
    >>> found.lo.tolist(), found.hi.tolist(), found.faithfulness.tolist()
    ([[0.0, 0.0]], [[1.0, 1.0]], [0.5])
    >>> np.round(found.inner_hi, 6).tolist()
    [[0.5, 0.5]]
    """
    if isinstance(of, Atlas):
        cells = of.ids(ids)
        return resting_on(evidence_of(of), Boxes(of, None, cells, *extents(of, cells)))
    if not isinstance(of, Regions):
        raise PolyfoldError(f"boxes are those of an atlas or of pf.regions(atlas), not of a {type(of).__name__}")
    chosen = _region_ids(of, ids)
    cells = _cells_of(of, chosen)
    lo, hi = extents(of.atlas, cells)
    start = np.concatenate([[0], np.cumsum([len(of.cells[region]) for region in chosen])]).astype(np.int64)
    if len(chosen):
        lo, hi = np.minimum.reduceat(lo, start[:-1]), np.maximum.reduceat(hi, start[:-1])
    return resting_on(of.evidence, Boxes(of.atlas, of, chosen, lo, hi))


def _region_ids(regions: Regions, ids: Any) -> Any:
    if ids is None:
        return np.arange(len(regions))
    found = np.atleast_1d(np.asarray(ids))
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
        raise ShapeError(f"region ids are a list of integers; this is an array of {found.dtype} of shape {found.shape}")
    if found.min() < 0 or found.max() >= len(regions):
        bad = int(found[(found < 0) | (found >= len(regions))][0])
        raise IndexError(f"there is no region {bad}: there are {len(regions)}")
    return found.astype(np.int64)


def _cells_of(regions: Regions, chosen: Any) -> Any:
    parts = [regions.cells[region] for region in chosen]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
