"""dual_space: cells' maps as points, equal ones merged.

Whether two maps are equal is decided: floats with error bounds tell nearly all of them apart, coordinate by
coordinate, and what they leave together is compared in rationals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import Report, tick
from polyfold._base.inputs import one_output
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError
from polyfold.maps.dual_space.result import DualSpace
from polyfold.program.derive.some_outputs import with_one_output

# Floats that the maps of one part may take, so that the next look at the clock is soon.
_FLOATS = 1 << 22


@question("maps.dual_space")
def dual_space(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    output: int = 0,
    X: ArrayLike | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> DualSpace:
    """The maps of an output as points (w, b), one for every distinct map, with the data that sit there.

    Parameters
    ----------
    source : SourceLike
        A model, or an atlas of one.
    domain : DomainLike, optional
        Where to look; an atlas has its own.
    output : int
        Which output.
    X : ArrayLike, shape (n, d), optional
        Points in the domain's parameters; each is located in its cell, on a wall in one of those that touch it.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    DualSpace
        The points, and which cells and data each of them has.

    Examples
    --------
    >>> import polyfold as pf
    >>> band = [([[1.0, 1.0], [1.0, 1.0]], [1.0, 0.0]), ([[2.0, -3.0]], [-1.0])]
    >>> dual = pf.maps.dual_space(band, X=[[2, 1], [1, -1.5], [-1, 0.5], [-1, -1]])
    >>> sorted(zip(dual.points.tolist(), dual.samples.tolist()))
    [([-1.0, -1.0, 1.0], 1), ([0.0, 0.0, -1.0], 1), ([2.0, 2.0, 1.0], 2)]
    """
    atlas = as_atlas(source, domain, threads=threads)
    if not len(atlas):
        raise PolyfoldError("the atlas has no cells, so its dual space has no points")
    output = one_output(output, atlas.outputs)
    cells = np.zeros(0, dtype=np.int64) if X is None else atlas.locate(X)
    alone = replace(atlas, program=with_one_output(atlas.program, output))
    values, errors = _bounded(alone)
    label = _merged(alone, values, errors)
    first = np.unique(label, return_index=True)[1]
    return answered(DualSpace(atlas, output, values[first], label, cells), evidence_of(atlas))


def _bounded(alone: Atlas) -> tuple[Array, Array]:
    values, errors = np.empty((2, len(alone), alone.dim + 1))
    widest = max([alone.program.input_dim, *alone.program.steps.widths])

    def fill(part: slice) -> None:
        found = bounded_maps(alone, np.arange(part.start, part.stop))
        values[part], errors[part] = found.values[:, 0], found.errors[:, 0]

    with np.errstate(over="ignore", invalid="ignore"):
        in_chunks(len(alone), 12 * (widest + 1) + alone.gates, fill, budget=_FLOATS)
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
        tick()
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
            tick()
            owner[cell] = cell if len(group) == 1 else firsts.setdefault(exact[cell], cell)
    return np.unique(owner, return_inverse=True)[1]


def _apart(group: Ids, low: Array, high: Array) -> list[Ids]:
    """Cells whose intervals overlap, perhaps through others, stay together."""
    order = group[np.argsort(low[group], kind="stable")]
    reached = np.maximum.accumulate(high[order])
    return np.split(order, np.flatnonzero(low[order][1:] > reached[:-1]) + 1)
