"""Sets that are unions of faces: where an output is at most, at least or exactly a number, and where classes win.

Cells are cut where the output takes the value, or where outputs tie: by gates behind them, whose signs the engine
decides like those of any other (`program/derive/argmax.py`). A face then has one sign of each difference all over, so
that each of these sets is a union of faces.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from polyfold._base.clock import Report
from polyfold._base.inputs import one_of, one_output, real_array
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold.atlas.asked import cells_asked_for
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError
from polyfold.program.derive.argmax import with_classes
from polyfold.program.derive.some_outputs import with_one_output
from polyfold.stats.classes import Classes, as_classes, cut_cells
from polyfold.topology.face_complex import FaceComplex, closed, listed
from polyfold.topology.subcomplex import Subcomplex

Side = Literal["below", "above", "level"]


@question("topology.sublevel")
def sublevel(
    source: SourceLike,
    threshold: float = 0.0,
    domain: DomainLike = None,
    *,
    output: int = 0,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Subcomplex:
    """The closed set on which an output is at most `threshold`.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    threshold : float
        The value.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    output : int
        The number of the output.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Subcomplex
        The set, as faces of the cells that were cut where the output takes the value.

    Examples
    --------
    >>> import polyfold as pf
    >>> bump = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]     # |x|
    >>> pf.topology.betti(pf.topology.sublevel(bump, 1.0, pf.box(-2, 2))).value
    (1, 0)
    """
    return _set(as_atlas(source, domain, threads=threads), threshold, output, "below", threads)


@question("topology.superlevel")
def superlevel(
    source: SourceLike,
    threshold: float = 0.0,
    domain: DomainLike = None,
    *,
    output: int = 0,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Subcomplex:
    """The closed set on which an output is at least `threshold`.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    threshold : float
        The value.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    output : int
        The number of the output.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Subcomplex
        The set, as faces of the cells that were cut where the output takes the value.

    Examples
    --------
    >>> import polyfold as pf
    >>> bump = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]     # |x|
    >>> pf.topology.betti(pf.topology.superlevel(bump, 1.0, pf.box(-2, 2))).value
    (2, 0)
    """
    return _set(as_atlas(source, domain, threads=threads), threshold, output, "above", threads)


@question("topology.level_set")
def level_set(
    source: SourceLike,
    threshold: float = 0.0,
    domain: DomainLike = None,
    *,
    output: int = 0,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Subcomplex:
    """The set on which an output equals `threshold`; where it does on a whole cell, that cell too.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    threshold : float
        The value.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    output : int
        The number of the output.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Subcomplex
        The set, as faces of the cells that were cut where the output takes the value.

    Examples
    --------
    >>> import polyfold as pf
    >>> bump = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]     # |x|
    >>> pf.topology.betti(pf.topology.level_set(bump, 1.0, pf.box(-2, 2))).value
    (2,)
    """
    return _set(as_atlas(source, domain, threads=threads), threshold, output, "level", threads)


@question("topology.class_region")
def class_region(
    source: SourceLike | Classes,
    label: int,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Subcomplex:
    """The closure of where a class wins: the largest output, or with one output whether it is positive.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Classes
        What is asked about. Anything but an atlas is unfolded on the domain first; classes that were found before need
        not be found again.
    label : int
        The class.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Subcomplex
        The cells, or parts of cells, that the class wins, and all faces of theirs.

    Examples
    --------
    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> pf.topology.class_region(larger, 0, pf.box(0, 1)).f_vector
    (3, 3, 1)
    """
    found = as_classes(source, domain, threads)
    label = one_of(label, len(found), "class", "the network")
    faces = listed(found.atlas, original=found.original)
    return faces.closure(faces.dim, found.label == label)


@question("topology.boundary")
def boundary(
    source: SourceLike | Classes,
    domain: DomainLike = None,
    *,
    between: tuple[int, int] | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Subcomplex:
    """The decision boundary as a complex of its own: its pieces and all faces of theirs.

    It is where parts of different classes meet, as for `pf.stats.decision_boundary`.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Classes
        What is asked about. Anything but an atlas is unfolded on the domain first; classes that were found before need
        not be found again.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    between : tuple of two int, optional
        Only where these two classes meet; by default where any two do.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Subcomplex
        The facets between parts of different classes, and all faces of theirs.

    Examples
    --------
    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> pf.topology.boundary(larger, pf.box(0, 1)).f_vector
    (2, 1)
    """
    found = as_classes(source, domain, threads)
    faces = listed(found.atlas, original=found.original)
    # A facet between two cells is the face that bounds both.
    least, greatest = np.full(faces.f_vector[-2], len(found)), np.full(faces.f_vector[-2], -1)
    entries = faces.boundary[faces.dim].tocoo()
    np.minimum.at(least, entries.row, found.label[entries.col])
    np.maximum.at(greatest, entries.row, found.label[entries.col])
    chosen = [np.zeros(count, dtype=bool) for count in faces.f_vector]
    chosen[faces.dim - 1] = least < greatest
    if between is not None:
        low, high = _two_classes(between, len(found))
        chosen[faces.dim - 1] &= (least == low) & (greatest == high)
    return answered(Subcomplex(faces, tuple(closed(faces, chosen))), faces.evidence)


def _two_classes(between: tuple[int, int], count: int) -> tuple[int, int]:
    pair = sorted({one_of(label, count, "class", "the network") for label in between})
    if len(pair) != 2:
        raise PolyfoldError(f"between={between!r} must name two different classes")
    return pair[0], pair[1]


def _set(atlas: Atlas, threshold: float, output: int, side: Side, threads: int | None) -> Subcomplex:
    faces = _cut_at(atlas, threshold, output, threads)
    gate = faces.atlas.gates - 1
    chosen = []
    for k in range(faces.dim + 1):
        sign = faces.signs_of(k, gate)
        chosen.append({"below": sign <= 0, "above": sign >= 0, "level": sign == 0}[side])
    return answered(Subcomplex(faces, tuple(chosen)), faces.evidence)


def _cut_at(atlas: Atlas, threshold: float, output: int, threads: int | None) -> FaceComplex:
    """The faces of the cells, cut where an output takes a value; the last gate is the difference."""
    cells_asked_for(atlas, None, "a level set")
    output = one_output(output, atlas.outputs)
    level = real_array(f"threshold={threshold!r} must be a number", threshold)
    if level.shape or not np.isfinite(level):
        raise PolyfoldError(f"threshold={threshold!r} must be a finite number")
    asked = with_classes(with_one_output(atlas.program, output), float(level))
    parts = cut_cells(asked.program, atlas.domain, f"the value {threshold!r} of the output", threads=threads)
    return listed(parts, original=atlas)
