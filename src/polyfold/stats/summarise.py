"""Which cells or regions hold the data, and what the network is there: a box and a linear model each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyfold._base.clock import Report, tick
from polyfold._base.inputs import features_of, labels_of, rows_of
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold._base.words import in_words, names_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import DomainLike
from polyfold.domain.points import exact_lift
from polyfold.engine.source import SourceLike, own_domain
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.rational import rational_matrix
from polyfold.program.passes.rationals import evaluate_exactly
from polyfold.stats.boxes.boxes import Boxes, boxes

if TYPE_CHECKING:
    import pandas

# So many items are written out for people.
_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Rows):
    """The cells or linear regions that hold data, those with the most points first.

    Attributes
    ----------
    atlas : Atlas
        The cells.
    regions : Regions or None
        The regions, if the summary is of these.
    feature_names, output_names : tuple of str
        What inputs and outputs are called.
    item : array of int, shape (points,)
        The cell or region of every point, -1 outside the domain.
    ids, counts : array of int, shape (n,)
        The cells or regions, row by row, and how many points each holds.
    classes : tuple of str or None
        The classes of the labels.
    class_counts : array of int, shape (n, classes), or None
        With labels: how many points of each class.
    predicted_counts : array of int, shape (n, outputs), or None
        With two or more outputs: how often each of them was the largest.
    correct : array of int, shape (n,), or None
        With labels and two or more outputs: how often the right one was the largest.
    """

    atlas: Atlas
    regions: Regions | None
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    item: Ids
    ids: Ids
    counts: Ids
    classes: tuple[str, ...] | None
    class_counts: Ids | None
    predicted_counts: Ids | None
    correct: Ids | None

    def __post_init__(self) -> None:
        for array in (self.item, self.ids, self.counts, self.class_counts, self.predicted_counts, self.correct):
            if array is not None:
                array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.ids)

    # -- numbers

    @property
    def points(self) -> int:
        """How many points there were."""
        return len(self.item)

    @property
    def outside(self) -> int:
        """How many points lie outside the domain, or where an incomplete atlas has no cells."""
        return int((self.item < 0).sum())

    @property
    def unused(self) -> int:
        """How many cells or regions hold no point."""
        return len(self.atlas if self.regions is None else self.regions) - len(self)

    @property
    def accuracy(self) -> Array | None:
        """The part (n,) of the points of each item on which the largest output is the right one."""
        return None if self.correct is None else self.correct / self.counts

    @cached_property
    def boxes(self) -> Boxes:
        """The boxes around the cells or regions, in the same order."""
        return boxes(self.atlas if self.regions is None else self.regions, ids=self.ids)

    @cached_property
    def maps(self) -> tuple[Array, Array]:
        """A (n, outputs, d) and c (n, outputs): the linear models, as functions of the domain's parameters."""
        cells = self.ids if self.regions is None else self.regions.first_cell[self.ids]
        return self.atlas.maps(cells, over="parameters")

    @cached_property
    def models(self) -> tuple[tuple[str, ...], ...]:
        """The linear models in words: one text per item and output."""
        A, c = self.maps
        return tuple(
            tuple(in_words(A[i, j], float(c[i, j]), self.feature_names) for j in range(A.shape[1]))
            for i in range(len(self))
        )

    # -- for people

    @property
    def _thing(self) -> str:
        return "cell" if self.regions is None else "region"

    def __repr__(self) -> str:
        total = len(self) + self.unused
        text = f"Summary: {how_many(self.points - self.outside, 'point')} in {len(self):,} of "
        text += f"{how_many(total, self._thing)}, {self.unused:,} without any"
        text += f"; {how_many(self.outside, 'point')} outside" if self.outside else ""
        return f"{text}; {self.evidence}"

    def __str__(self) -> str:
        lines = [repr(self)]
        for i in range(min(len(self), _SHOWN)):
            lines += ["", f"{self._thing} {self.ids[i]}: {self._support(i)}", f"  where {self._box(i)}"]
            lines += [f"  {name} = {model}" for name, model in zip(self.output_names, self.models[i], strict=True)]
        if len(self) > _SHOWN:
            lines += ["", f"and {how_many(len(self) - _SHOWN, self._thing)} more with fewer points"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{text}</th>" for text in (self._thing, "points", "box", "model"))
        rows = []
        for i in range(min(len(self), _SHOWN)):
            models = "<br>".join(
                f"{escape(name)} = {escape(model)}"
                for name, model in zip(self.output_names, self.models[i], strict=True)
            )
            cells = (str(self.ids[i]), escape(self._support(i)), escape(self._box(i)), models)
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{''.join(rows)}</table>"

    def _support(self, i: int) -> str:
        """Points, classes and predictions of an item."""
        text = f"{how_many(int(self.counts[i]), 'point')} ({self.counts[i] / self.points:.1%})"
        if self.classes is not None and self.class_counts is not None:
            text += ": " + _counted(self.classes, self.class_counts[i])
        if self.predicted_counts is not None:
            text += "; predicted " + _counted(self.output_names, self.predicted_counts[i])
        if self.correct is not None:
            text += f"; {int(self.correct[i])} of {int(self.counts[i])} right"
        return text

    def _box(self, i: int) -> str:
        sides = zip(self.feature_names, self.boxes.lo[i].tolist(), self.boxes.hi[i].tolist(), strict=True)
        return ", ".join(f"{name} {_end(lo, hi - lo)} to {_end(hi, hi - lo)}" for name, lo, hi in sides)

    def rows(self) -> dict[str, Any]:
        """One row per cell or region: points, classes, predictions, the box, and the models in words."""
        columns: dict[str, Any] = {self._thing: self.ids, "points": self.counts}
        if self.classes is not None and self.class_counts is not None:
            columns |= {f"class {name}": self.class_counts[:, k] for k, name in enumerate(self.classes)}
        if self.predicted_counts is not None:
            columns |= {f"predicted {name}": self.predicted_counts[:, k] for k, name in enumerate(self.output_names)}
        if self.accuracy is not None:
            columns["accuracy"] = self.accuracy
        for k, name in enumerate(self.feature_names):
            columns |= {f"lo {name}": self.boxes.lo[:, k], f"hi {name}": self.boxes.hi[:, k]}
        for j, name in enumerate(self.output_names):
            columns[f"model {name}"] = [models[j] for models in self.models]
        return columns

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame, by cell or region."""
        return super().to_pandas().set_index(self._thing)

    def facts(self) -> dict[str, Any]:
        names = ("ids", "counts", "classes", "class_counts", "predicted_counts", "correct")
        return {
            "summary_of": f"{self._thing}s",
            "points": self.points,
            "outside": self.outside,
            "unused": self.unused,
            "feature_names": self.feature_names,
            "output_names": self.output_names,
            **{name: getattr(self, name) for name in names},
            "models": self.models,
        }

    def ask_instead(self) -> str:
        return "compare how many hold points, len(summary)"


@question("summarise")
def summarise(
    source: SourceLike | Regions,
    X: ArrayLike,
    y: ArrayLike | None = None,
    domain: DomainLike = None,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    outside: Literal["error", "ignore"] = "error",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Summary:
    """Which cells or regions hold the rows of X, with their classes y, boxes and linear models in words.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Regions
        What is asked about: cells, or given `pf.regions(...)` linear regions. Anything else is unfolded on the domain
        first.
    X : array of float or DataFrame, shape (n, d)
        Points of the domain's parameters, which are the inputs unless the domain is a slice.
    y : array of int or str, shape (n,), optional
        Classes of the points: numbers of outputs, or their names.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    feature_names : sequence of str, optional
        What the inputs are called; by default as a data frame's columns, or x1, x2 and so on.
    output_names : sequence of str, optional
        What the outputs are called.
    outside : "error" or "ignore"
        Whether a point outside the domain is an error, or only counted.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Summary
        The cells or regions that hold points, those with the most first.

    Examples
    --------
    >>> import polyfold as pf
    >>> atlas = pf.unfold([([[1.0]], [0.0]), ([[2.0]], [1.0])], pf.box(-3, 3))
    >>> print(pf.summarise(atlas, [[1.0], [2.0], [-1.0]], feature_names=["age"], output_names=["risk"]))
    Summary: 3 points in 2 of 2 cells, 0 without any; checked, complete
    <BLANKLINE>
    cell 1: 2 points (66.7%)
      where age 0 to 3
      risk = 2 x age + 1
    <BLANKLINE>
    cell 0: 1 point (33.3%)
      where age -3 to 0
      risk = 1
    """
    merged = source if isinstance(source, Regions) else None
    if merged is None:
        atlas = as_atlas(source, domain, threads=threads)
    else:
        atlas = merged.atlas
        own_domain(atlas, domain)
    features = features_of(feature_names, X, atlas.dim)
    rows = rows_of(X, atlas.dim, names=features)
    outputs = names_for(output_names, atlas.outputs, "y", "output")
    cells = atlas.locate(rows, outside=outside)
    inside = np.flatnonzero(cells >= 0)
    item = cells.copy()
    if merged is not None:
        item[inside] = merged.label[cells[inside]]
    found, which, counts = np.unique(item[inside], return_inverse=True, return_counts=True)
    order = np.lexsort((found, -counts))
    rank = np.argsort(order)[which]
    predicted = _predicted(atlas, rows[inside], cells[inside])
    classes, label = (None, None) if y is None else _labels(y, len(cells))
    correct = None
    if classes is not None and label is not None and predicted is not None:
        meant = _output_numbers(classes, outputs, output_names is not None)
        right = meant[label[inside]] == predicted
        if output_names is not None:
            classes = tuple(outputs[k] for k in meant)
        correct = np.bincount(rank, weights=right, minlength=len(found)).astype(np.int64)
    summary = Summary(
        atlas,
        merged,
        features,
        outputs,
        item,
        found[order],
        counts[order],
        classes,
        None if classes is None or label is None else _table(rank, label[inside], len(found), len(classes)),
        None if predicted is None else _table(rank, predicted, len(found), atlas.outputs),
        correct,
    )
    return answered(summary, evidence_of(atlas) if merged is None else merged.evidence)


def _predicted(atlas: Atlas, U: Array, cells: Ids) -> Ids | None:
    """The number of the largest output at each point, of several the first; None if there is but one output."""
    if atlas.outputs < 2:
        return None
    distinct, at = np.unique(cells, return_inverse=True)
    A, c = atlas.maps(distinct, over="parameters")
    scores = np.empty((len(U), atlas.outputs))
    order, end = np.argsort(at, kind="stable"), np.cumsum(np.bincount(at, minlength=len(distinct)))
    for k, rows in enumerate(np.split(order, end[:-1]) if len(distinct) else ()):
        tick()
        with np.errstate(over="ignore", invalid="ignore"):
            scores[rows] = U[rows] @ A[k].T + c[k]
    largest: Ids = scores.argmax(axis=1)
    for row in np.flatnonzero(~np.isfinite(scores).all(axis=1)):
        tick()
        # Beyond floats scores are compared in rationals.
        point = exact_lift(atlas.domain, rational_matrix(U[row][:, None])).entries()
        outputs = evaluate_exactly(atlas.program, point).outputs
        largest[row] = outputs.index(max(outputs))
    return largest


def _labels(y: Any, points: int) -> tuple[tuple[str, ...], Ids]:
    """The classes in order, as texts, and the number of every point's class."""
    labels = labels_of(y, points)
    if np.issubdtype(labels.dtype, np.floating) and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)
    if labels.dtype == bool:
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iuUO":
        raise ShapeError(f"y must be classes, as whole numbers or names; it begins with {labels[:3].tolist()}")
    if labels.dtype.kind == "O":
        labels = np.array([str(label) for label in labels], dtype=str)
    classes, number = np.unique(labels, return_inverse=True)
    return tuple(str(label) for label in classes.tolist()), number.astype(np.int64)


def _output_numbers(classes: tuple[str, ...], outputs: tuple[str, ...], named: bool) -> Ids:
    """Which output stands for each class: by its name, or else by its number."""
    numbers = [str(k) for k in range(len(outputs))]
    for known in (outputs, numbers):
        if set(classes) <= set(known):
            return np.array([known.index(label) for label in classes], dtype=np.int64)
    bad = next(label for label in classes if label not in (outputs if named else numbers))
    have = ", ".join(outputs if named else numbers)
    raise PolyfoldError(
        f"class {bad!r} in y is none of the outputs {have}; give output_names, one per class and in the outputs' order"
    )


def _table(rank: Ids, label: Ids, items: int, labels: int) -> Ids:
    table = np.zeros((items, labels), dtype=np.int64)
    np.add.at(table, (rank, label), 1)
    return table


def _end(value: float, side: float) -> str:
    """An end of a side in three digits; where it is nearly zero, seen by the side's length, it is zero."""
    decimals = 6 - floor(log10(side)) if isfinite(side) and side > 0 else 300
    return f"{round(value, decimals) + 0.0:.3g}"


def _counted(names: Sequence[str], counts: Ids) -> str:
    order = np.argsort(-counts, kind="stable")
    return ", ".join(f"{names[k]} {counts[k]:,}" for k in order if counts[k])
