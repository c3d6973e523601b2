"""The classes of a network: its cells cut where outputs tie, so that on every part one class wins everywhere.

The engine does the cutting: behind the network's outputs come gates that compare them (`program/derive/argmax.py`), and
the network with these gates is unfolded on the same domain. So all that holds of an atlas holds of the parts: none is
missing, signs are decided exactly, and outputs that tie on a whole cell are no special case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.chunks import in_chunks
from polyfold._base.evidence import weaker
from polyfold._base.inputs import real_array
from polyfold._base.notebook import InNotebooks
from polyfold.atlas.asked import an_atlas, cells_asked_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer, evidence_of, resting_on
from polyfold.atlas.geometry.bounded_maps import bounded_maps
from polyfold.atlas.geometry.exact_maps import ExactMaps
from polyfold.atlas.patterns import pack
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, PolyfoldError, how_many
from polyfold.exact.rational import rational
from polyfold.program.derive.argmax import with_classes

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Classes(Answer, InNotebooks):
    """The cells of `original`, cut into parts on each of which one class wins.

    `atlas` holds the parts: an atlas of the same function on the same domain. `label[i]` is the class of part i, and
    `cell[i]` the cell of `original` that it is a part of. Classes are the outputs' numbers; where outputs are the same,
    the lowest one wins. With one output there are two: 1 where it exceeds `threshold`, 0 where it does not.
    """

    original: Atlas
    atlas: Atlas
    label: Ids
    cell: Ids
    threshold: float

    def __len__(self) -> int:
        """How many classes there can be; not all of them need to win anywhere."""
        return max(2, self.original.outputs)

    def __repr__(self) -> str:
        won = len(np.unique(self.label))
        return f"Classes: {won} of {len(self)} win, on {how_many(len(self.label), 'part')} of cells; {self.evidence}"

    @cached_property
    def tied(self) -> Flags:
        """Parts on which another class has the very same value as the winner, so that the lowest number decided; or
        where the only output equals the threshold."""
        return _tied(self)

    def of(self, points: Any) -> Ids:
        """The class of every row of `points`, in the domain's parameters; on a boundary it is one of both."""
        return self.label[self.atlas.locate(points)]


def classes(
    atlas: Atlas, *, threshold: float = 0.0, max_cells: int | None = None, max_seconds: float | None = None
) -> Classes:
    """Where which class wins: the largest output, or with one output whether it exceeds the threshold.

    What needs the classes, `pf.stats.class_areas`, `pf.stats.decision_boundary` and `pf.stats.nearest_change`, takes
    these in place of the atlas, so that they are found once.

    Parameters
    ----------
    threshold: for one output: class 1 is where the output is larger.
    max_cells, max_seconds: raise LimitError if there are more parts, or it takes longer.

    >>> import polyfold as pf
    >>> two = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> found = pf.stats.classes(pf.unfold(two, pf.box(0, 4)))
    >>> found.label.tolist(), found.cell.tolist(), found.of([[1.2], [3.0]]).tolist()
    ([0, 0, 1], [0, 1, 1], [0, 1])
    """
    an_atlas(atlas, "which class wins")
    cells_asked_for(atlas, None, "which class wins")
    level = _threshold(threshold, atlas.outputs)
    asked = with_classes(atlas.program, level)
    parts = unfold_program(asked.program, atlas.domain, max_cells=max_cells, max_seconds=max_seconds)
    if not parts.complete:
        stopped = parts.certificate.stopped_by
        if stopped == "interrupt":
            raise KeyboardInterrupt
        raise LimitError(f"the classes have more than {len(parts):,} parts; {stopped} stopped the search")
    signs = parts.signs()
    cell = atlas.index.find(pack(signs[:, : atlas.gates]))
    known = weaker(evidence_of(atlas), evidence_of(parts))
    return resting_on(known, Classes(atlas, parts, asked.winners(signs), cell, level))


def as_classes(given: Any, question: str) -> Classes:
    """Classes as they are, or those of an atlas."""
    return given if isinstance(given, Classes) else classes(an_atlas(given, question))


def _threshold(threshold: float, outputs: int) -> float:
    level = real_array(f"threshold={threshold!r} is no number", threshold)
    if level.shape or not np.isfinite(level):
        raise PolyfoldError(f"threshold={threshold!r} must be a finite number")
    if outputs > 1 and level != 0:
        raise PolyfoldError(f"a threshold is for one output; with {outputs} the largest one decides")
    return float(level)


def _tied(found: Classes) -> Flags:
    """Floats with error bounds tell nearly all outputs apart; what is left is decided in rationals."""
    atlas, alone = found.atlas, found.original.outputs == 1
    rivals = 1 if alone else atlas.outputs
    width = atlas.dim + 1
    threshold = np.append(np.zeros(atlas.dim), found.threshold)
    close = np.zeros((len(atlas), rivals), dtype=bool)
    widest = max([atlas.program.input_dim, *atlas.program.steps.widths])

    def fill(part: slice) -> None:
        maps = bounded_maps(atlas, np.arange(part.start, part.stop))
        winner, doubt = threshold, np.zeros(width)
        if not alone:
            rows = np.arange(part.stop - part.start)
            winner, doubt = (array[rows, found.label[part]][:, None] for array in (maps.values, maps.errors))
        apart = np.abs(maps.values - winner) > (maps.errors + doubt)
        close[part] = ~np.any(apart & np.isfinite(maps.values), axis=2)

    with np.errstate(over="ignore", invalid="ignore"):
        in_chunks(len(atlas), 12 * atlas.outputs * (widest + 1) + atlas.gates, fill)
    if not alone:
        close[np.arange(len(atlas)), found.label] = False
    exact = ExactMaps(atlas)
    level = tuple(rational(x) for x in threshold.tolist())
    tied = np.zeros(len(atlas), dtype=bool)
    for part, other in zip(*(array.tolist() for array in np.nonzero(close)), strict=True):
        numbers, winner = exact[part], int(found.label[part])
        best = level if alone else numbers[winner * width : (winner + 1) * width]
        tied[part] |= numbers[other * width : (other + 1) * width] == best
    return tied
