"""Which cells or regions hold the data, and what the network is there: a box and a linear model each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.words import in_words, names_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer, evidence_of, resting_on
from polyfold.atlas.regions import Regions
from polyfold.domain.points import exact_lift
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.rational import rational_matrix
from polyfold.program.passes.rationals import evaluate_exactly
from polyfold.stats.boxes.build import boxes
from polyfold.stats.boxes.result import Boxes

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

# So many items are written out for people.
_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Answer):
    """The cells (or regions, if `regions` is given) that hold data, those with the most points first.

    Row by row: `ids`, `counts`, and with labels `class_counts` (n, classes), in the order of `classes`. With two or
    more outputs `predicted_counts` (n, outputs) says how often each output was the largest, and with labels `correct`
    (n,) how often it was the right one. `item` (points,) is the cell or region of every point, -1 outside the domain.
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
        return boxes(self.atlas if self.regions is None else self.regions, self.ids)

    @cached_property
    def maps(self) -> tuple[Array, Array]:
        """A (n, outputs, d) and c (n, outputs): the linear models, as functions of the domain's parameters."""
        cells = self.ids if self.regions is None else self.regions.first_cell[self.ids]
        return self.atlas.maps(cells, over="parameters")

    @cached_property
    def models(self) -> tuple[tuple[str, ...], ...]:
        """The linear models in words: one text an item and output."""
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

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row an item: points, classes, predictions, the box, and the models in words."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise PolyfoldError("to_pandas() needs pandas: pip install 'polyfold[store]'") from None
        columns: dict[str, object] = {self._thing: self.ids, "points": self.counts}
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
        return pandas.DataFrame(columns).set_index(self._thing)


def summarise(
    of: Atlas | Regions,
    X: Any,
    y: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    *,
    outside: Literal["error", "ignore"] = "error",
) -> Summary:
    """Which cells of an atlas hold the rows of X, with their classes y, boxes and linear models in words.

    Given `pf.regions(atlas)`, the same for regions. Rows are points of the domain's parameters, which are the inputs
    unless the domain is a slice; a data frame's columns name the features unless names are given. Labels are numbers of
    outputs, or their names. A point outside the domain is an error, or with outside="ignore" only counted.

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
    if not isinstance(of, Atlas | Regions):
        raise PolyfoldError(f"summaries are those of an atlas or of pf.regions(atlas), not of a {type(of).__name__}")
    atlas, merged = (of, None) if isinstance(of, Atlas) else (of.atlas, of)
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    features = names_for(feature_names, atlas.dim, "x", "input")
    outputs = names_for(output_names, atlas.outputs, "y", "output")
    cells = atlas.locate(X, outside=outside)
    inside = np.flatnonzero(cells >= 0)
    item = cells.copy()
    if merged is not None:
        item[inside] = merged.label[cells[inside]]
    found, which, counts = np.unique(item[inside], return_inverse=True, return_counts=True)
    order = np.lexsort((found, -counts))
    rank = np.argsort(order)[which]
    predicted = _predicted(atlas, np.asarray(X, dtype=np.float64)[inside], cells[inside])
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
    return resting_on(evidence_of(atlas) if merged is None else merged.evidence, summary)


def _predicted(atlas: Atlas, U: Array, cells: Ids) -> Ids | None:
    """The number of the largest output at each point, of several the first; None if there is but one output."""
    if atlas.outputs < 2:
        return None
    distinct, at = np.unique(cells, return_inverse=True)
    A, c = atlas.maps(distinct, over="parameters")
    scores = np.empty((len(U), atlas.outputs))
    for k in range(len(distinct)):
        rows = np.flatnonzero(at == k)
        with np.errstate(over="ignore", invalid="ignore"):
            scores[rows] = U[rows] @ A[k].T + c[k]
    largest: Ids = scores.argmax(axis=1)
    for row in np.flatnonzero(~np.isfinite(scores).all(axis=1)):
        # Beyond floats scores are compared in rationals.
        point = exact_lift(atlas.domain, rational_matrix(U[row][:, None])).entries()
        outputs = evaluate_exactly(atlas.program, point).outputs
        largest[row] = outputs.index(max(outputs))
    return largest


def _labels(y: Any, points: int) -> tuple[tuple[str, ...], Ids]:
    """The classes in order, as texts, and the number of every point's class."""
    labels = np.asarray(y)
    if labels.shape != (points,):
        raise ShapeError(f"X has {how_many(points, 'point')}, and y has shape {labels.shape}")
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
        f"class {bad!r} in y is none of the outputs {have}; give output_names, one a class and in the outputs' order"
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
