"""The classes of a network: its cells cut where outputs tie, so that on every part one class wins everywhere.

The engine does the cutting: behind the network's outputs come gates that compare them (`program/derive/argmax.py`), and
the network with these gates is unfolded on the same domain. So all that holds of an atlas holds of the parts: none is
missing, signs are decided exactly, and outputs that tie on a whole cell are no special case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import INTERRUPT, Report, running, tick
from polyfold._base.evidence import weaker
from polyfold._base.inputs import real_array
from polyfold._base.question import question
from polyfold._base.result import InFloats, Rows, answered
from polyfold._base.types import Array, ArrayLike, Flags, Ids
from polyfold.atlas.asked import bounded_cells, cells_asked_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.atlas.patterns import pack
from polyfold.domain.domain import Domain, DomainLike
from polyfold.engine.source import SourceLike, own_domain
from polyfold.engine.unfold import as_atlas, unfold_program
from polyfold.errors import LimitError, PolyfoldError, how_many
from polyfold.exact.rational import rational
from polyfold.program.derive.argmax import with_classes
from polyfold.program.program import Program


@dataclass(frozen=True, eq=False)
class Classes(Rows):
    """The cells of `original`, cut into parts on each of which one class wins.

    Classes are the outputs' numbers; where outputs are the same, the lowest one wins. With one output there are two: 1
    where it exceeds `threshold`, 0 where it does not.

    Attributes
    ----------
    original : Atlas
        What was asked about.
    atlas : Atlas
        The parts: an atlas of the same function on the same domain.
    label, cell : array of int, shape (parts,)
        The class of every part, and the cell of `original` that it is a part of.
    threshold : float
        With one output: class 1 is where the output is larger.
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

    def of(self, points: ArrayLike) -> Ids:
        """The class of every row of `points`, in the domain's parameters; on a boundary it is one of both."""
        return self.label[self.atlas.locate(points)]

    def rows(self) -> dict[str, Any]:
        """One row per part: its cell and its class."""
        return {"part": np.arange(len(self.label)), "cell": self.cell, "class": self.label}

    def facts(self) -> dict[str, Any]:
        return {"classes": len(self), "threshold": self.threshold, "label": self.label, "cell": self.cell}

    def ask_instead(self) -> str:
        return "compare how many classes there can be, len(classes), or how many win, len(set(classes.label))"


@question("stats.classes")
def classes(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    threshold: float = 0.0,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Classes:
    """Where which class wins: the largest output, or with one output whether it exceeds the threshold.

    What needs the classes, `pf.stats.class_areas`, `pf.stats.decision_boundary` and `pf.stats.nearest_change`, takes
    these in place of the atlas, so that they are found once.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    threshold : float
        For one output: class 1 is where the output is larger.
    max_cells : int, optional
        How many parts there may be; LimitError if there are more.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Classes
        The parts of cells, and which class wins on each.

    Examples
    --------
    >>> import polyfold as pf
    >>> two = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> found = pf.stats.classes(pf.unfold(two, pf.box(0, 4)))
    >>> found.label.tolist(), found.cell.tolist(), found.of([[1.2], [3.0]]).tolist()
    ([0, 0, 1], [0, 1, 1], [0, 1])
    """
    atlas = as_atlas(source, domain, threads=threads)
    cells_asked_for(atlas, None, "which class wins")
    level = _threshold(threshold, atlas.outputs)
    asked = with_classes(atlas.program, level)
    parts = cut_cells(asked.program, atlas.domain, "the classes", max_cells=max_cells, threads=threads)
    signs = parts.signs()
    cell = atlas.index.find(pack(signs[:, : atlas.gates]))
    known = weaker(evidence_of(atlas), evidence_of(parts))
    return answered(Classes(atlas, parts, asked.winners(signs), cell, level), known)


def as_classes(source: Any, domain: DomainLike, threads: int | None = None) -> Classes:
    """Classes as they are, or those of a source."""
    if isinstance(source, Classes):
        own_domain(source.original, domain)
        return source
    return classes(source, domain, threads=threads)


def cut_cells(
    program: Program, domain: Domain, what: str, *, max_cells: int | None = None, threads: int | None = None
) -> Atlas:
    """All cells of a program with more gates than that of an atlas, in the time that is left."""
    left = running().left
    parts = unfold_program(
        program, domain, max_cells=max_cells, max_seconds=None if left == inf else left, threads=threads
    )
    if not parts.complete:
        if parts.certificate.stopped_by == INTERRUPT:
            raise KeyboardInterrupt
        tick()
        raise LimitError(
            f"{what} cut the cells into more than {len(parts):,} parts: {parts.certificate.stopped_by} stopped the "
            "search; allow more, or ask about a smaller domain"
        )
    return parts


@dataclass(frozen=True, eq=False)
class ClassAreas(InFloats, Rows):
    """The volume of each class in the domain's parameters.

    Areas are sums in floats: `evidence` says what is known of the cells, not of the roundings.

    Attributes
    ----------
    areas : array of float, shape (classes,)
        How much of the domain each class wins.
    tied : array of float, shape (classes,)
        How much of that class k has only because it has the lowest number: another class has the very same value there
        (or, with one output, the output equals the threshold).
    """

    areas: Array
    tied: Array

    @property
    def total(self) -> float:
        """The volume of all that was asked about."""
        return float(self.areas.sum())

    @property
    def shares(self) -> Array:
        """The parts of the whole: what a point drawn uniformly belongs to, with these probabilities."""
        return self.areas / self.total

    def __repr__(self) -> str:
        return f"ClassAreas: {', '.join(f'{area:g}' for area in self.areas.tolist())}; {self.evidence}"

    def rows(self) -> dict[str, Any]:
        """One row per class."""
        return {
            "class": np.arange(len(self.areas)),
            "area": self.areas,
            "share": self.shares,
            "tied": self.tied,
        }


@question("stats.class_areas")
def class_areas(
    source: SourceLike | Classes,
    domain: DomainLike = None,
    *,
    cells: ArrayLike | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> ClassAreas:
    """The volume of each class: of the domain, or of some of the atlas's cells. They must be bounded.

    A threshold of the output other than 0 is an option of `pf.stats.classes`, whose result may be given here.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Classes
        What is asked about. Anything but an atlas is unfolded on the domain first; classes that were found before need
        not be found again.
    domain : Domain, optional
        Where; of an atlas it is its own. It must be bounded, or the cells chosen must be.
    cells : array of int, optional
        Look at these cells of the atlas only.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    ClassAreas
        The volume of each class, and how much of it is decided by the lowest number.

    Examples
    --------
    >>> import polyfold as pf
    >>> two = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> pf.stats.class_areas(pf.unfold(two, pf.box(0, 4))).areas.round(12).tolist()
    [1.5, 2.5]
    """
    if not isinstance(source, Classes):
        # A cell that is not bounded has such a part, too: to find all parts first may take long.
        source, domain = as_atlas(source, domain, threads=threads), None
        bounded_cells(source, source.ids(cells), "the area of each class")
    found = as_classes(source, domain, threads)
    parts = np.flatnonzero(np.isin(found.cell, found.original.ids(cells)))
    bounded_cells(found.atlas, parts, "the area of each class")
    volumes, label = found.atlas.volumes(parts), found.label[parts]
    areas, tied = np.zeros(len(found)), np.zeros(len(found))
    np.add.at(areas, label, volumes)
    np.add.at(tied, label, volumes * found.tied[parts])
    return answered(ClassAreas(areas, tied), found.evidence)


def _threshold(threshold: float, outputs: int) -> float:
    level = real_array(f"threshold={threshold!r} must be a number", threshold)
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
        tick()
        numbers, winner = exact[part], int(found.label[part])
        best = level if alone else numbers[winner * width : (winner + 1) * width]
        tied[part] |= numbers[other * width : (other + 1) * width] == best
    return tied
