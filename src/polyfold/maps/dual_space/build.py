"""dual_space: cells' maps as points, equal ones merged.

Whether two maps are equal is decided: floats with error bounds tell nearly all of them apart, coordinate by
coordinate, and what they leave together is compared in rationals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.chunks import in_chunks
from polyfold._base.numbers import one_output
from polyfold.atlas.asked import an_atlas
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of, resting_on
from polyfold.atlas.geometry.bounded_maps import bounded_maps
from polyfold.atlas.geometry.exact_maps import ExactMaps
from polyfold.errors import PolyfoldError
from polyfold.maps.dual_space.result import DualSpace
from polyfold.program.derive.some_outputs import with_one_output

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def dual_space(atlas: Atlas, output: int = 0, data: Any = None) -> DualSpace:
    """The maps of an output as points (w, b), one for every distinct map, with the data that sit there.

    Parameters
    ----------
    output: which output.
    data: points in the domain's parameters, one a row; each is located in its cell, on a wall in one of those that
        touch it.

    >>> import polyfold as pf
    >>> band = [([[1.0, 1.0], [1.0, 1.0]], [1.0, 0.0]), ([[2.0, -3.0]], [-1.0])]
    >>> dual = pf.maps.dual_space(pf.unfold(band), data=[[2, 1], [1, -1.5], [-1, 0.5], [-1, -1]])
    >>> sorted(zip(dual.points.tolist(), dual.samples.tolist()))
    [([-1.0, -1.0, 1.0], 1), ([0.0, 0.0, -1.0], 1), ([2.0, 2.0, 1.0], 2)]
    """
    an_atlas(atlas, "the dual space")
    if not len(atlas):
        raise PolyfoldError("the atlas has no cells, so its dual space has no points")
    output = one_output(output, atlas.outputs)
    alone = replace(atlas, program=with_one_output(atlas.program, output))
    values, errors = _bounded(alone)
    label = _merged(alone, values, errors)
    first = np.unique(label, return_index=True)[1]
    cells = np.zeros(0, dtype=np.int64) if data is None else atlas.locate(data)
    return resting_on(evidence_of(atlas), DualSpace(atlas, output, values[first], label, cells))


def _bounded(alone: Atlas) -> tuple[Array, Array]:
    values, errors = np.empty((2, len(alone), alone.dim + 1))
    widest = max([alone.program.input_dim, *alone.program.steps.widths])

    def fill(part: slice) -> None:
        found = bounded_maps(alone, np.arange(part.start, part.stop))
        values[part], errors[part] = found.values[:, 0], found.errors[:, 0]

    with np.errstate(over="ignore", invalid="ignore"):
        in_chunks(len(alone), 12 * (widest + 1) + alone.gates, fill)
    return values, errors


def _merged(alone: Atlas, values: Array, errors: Array) -> Ids:
    """For each cell the number of its map, by their first cells."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = values - errors, values + errors
    # What overflowed says nothing.
    unknown = ~np.isfinite(low) | ~np.isfinite(high)
    low, high = np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
    groups = [np.arange(len(alone))]
    for coordinate in range(values.shape[1]):
        groups = [
            part
            for group in groups
            for part in (_apart(group, low[:, coordinate], high[:, coordinate]) if len(group) > 1 else [group])
        ]
    exact = ExactMaps(alone)
    owner = np.empty(len(alone), dtype=np.int64)
    for group in groups:
        firsts: dict[object, int] = {}
        for cell in sorted(group.tolist()):
            owner[cell] = cell if len(group) == 1 else firsts.setdefault(exact[cell], cell)
    return np.unique(owner, return_inverse=True)[1]


def _apart(group: Ids, low: Array, high: Array) -> list[Ids]:
    """Cells whose intervals overlap, perhaps through others, stay together."""
    order = group[np.argsort(low[group], kind="stable")]
    reached = np.maximum.accumulate(high[order])
    return np.split(order, np.flatnonzero(low[order][1:] > reached[:-1]) + 1)
