"""What a movie of training shows: at every snapshot the cells in a plane, cut where classes meet, and the boundary.

Every snapshot is unfolded anew. Nothing is kept from one frame to the next, so that a movie of any length needs the
memory of one frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import running, tick
from polyfold._base.inputs import class_numbers, one_of, one_output, rows_of
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import Box, Domain, DomainLike, resolve_domain
from polyfold.engine.unfold import unfold
from polyfold.errors import DomainError, LimitError, PolyfoldError, ShapeError, how_many
from polyfold.plotting.geometry.columns import column
from polyfold.plotting.geometry.polygons import Polygons, polygons
from polyfold.plotting.geometry.spread import middles
from polyfold.plotting.geometry.view import View, view_of
from polyfold.stats.classes import classes
from polyfold.stats.decision_boundary import decision_boundary
from polyfold.training.recording import Recording
from polyfold.training.snapshots import a_recording, chosen

Colour = Literal["class", "output", "slope", "volume", "facets"]

_QUESTION = "a movie of training"
# Around data, this part of their extent is shown too.
_MARGIN = 0.1


@dataclass(frozen=True, eq=False)
class Frame:
    """One snapshot: `shapes` are the cells in the view, cut where classes meet, so that each has one class.

    Polygon i is a part of cell `cell[i]`, and `label[i]` is its class. `values[i]` is what colours it: the class, or
    a number that its cell has (`columns.py`), such as the output, taken in the polygon's middle. Cell k's map over the
    plane's two coordinates is `A[k]` (outputs, 2), `c[k]`. `boundary` (n, 2, 2) are the ends of the decision boundary's
    pieces.
    """

    snapshot: int
    step: int
    cells: int
    shapes: Polygons
    cell: Ids
    label: Ids
    values: Array
    A: Array
    c: Array
    boundary: Array
    accuracy: float | None
    logged: dict[str, float]


@dataclass(frozen=True, eq=False)
class Film:
    """Which snapshots of a recording are shown, and how: see `film_of`. `limits` are what `values` range over."""

    recording: Recording
    domain: Domain
    view: View
    snapshots: Ids
    colour: Colour
    output: int
    threshold: float
    outputs: int
    data: Array | None
    labels: Ids | None
    max_cells: int | None

    def __len__(self) -> int:
        return len(self.snapshots)

    def __iter__(self) -> Iterator[Frame]:
        return (self.frame(number) for number in range(len(self)))

    @property
    def classes(self) -> int:
        """How many classes there can be."""
        return max(2, self.outputs)

    @property
    def points(self) -> Array:
        """The data that lie in the plane and in the view (n, 2): none on a slice, whose points need not be inputs."""
        return np.empty((0, 2)) if self.data is None or self.domain.is_slice else self.data[self._seen]

    @property
    def point_labels(self) -> Ids | None:
        """The labels of `points`."""
        return None if self.labels is None else self.labels[self._seen]

    @property
    def _seen(self) -> npt.NDArray[np.bool_]:
        assert self.data is not None
        if self.domain.is_slice:
            return np.zeros(len(self.data), dtype=bool)
        inside = (self.data >= self.view.lo) & (self.data <= self.view.hi)
        return np.asarray(inside.all(axis=1))

    def frame(self, number: int) -> Frame:
        """Frame `number`, from 0."""
        snapshot = int(self.snapshots[one_of(number, len(self), "frame", "the movie")])
        network = self.recording.network(snapshot)
        atlas = unfold(network, self.domain, max_cells=self.max_cells, max_seconds=running().limit)
        _check_whole(atlas, snapshot)
        found = classes(atlas, threshold=self.threshold, max_cells=self.max_cells, max_seconds=running().limit)
        shapes = polygons(found.atlas, self.view)
        A, c = atlas.maps(over="parameters")
        cell, label = found.cell[shapes.cells], found.label[shapes.cells]
        edge = decision_boundary(found)
        step = int(self.recording.steps[snapshot])
        return Frame(
            snapshot=snapshot,
            step=step,
            cells=len(atlas),
            shapes=shapes,
            cell=cell,
            label=label,
            values=self._values(atlas, shapes, cell, label),
            A=A,
            c=c,
            boundary=edge.points.reshape(-1, 2, 2),
            accuracy=self._accuracy(network),
            logged={name: metric.up_to(step) for name, metric in self.recording.metrics.items()},
        )

    def limits(self) -> tuple[float, float]:
        """The least and the largest finite one of `values` over all frames, each of which is made for it."""
        if self.colour == "class":
            return 0.0, float(self.classes - 1)
        lo, hi = np.inf, -np.inf
        for frame in self:
            finite = frame.values[np.isfinite(frame.values)]
            lo, hi = float(finite.min(initial=lo)), float(finite.max(initial=hi))
        return (lo, hi) if lo <= hi else (0.0, 1.0)

    def _values(self, atlas: Atlas, shapes: Polygons, cell: Ids, label: Ids) -> Array:
        if self.colour == "class":
            return label.astype(np.float64)
        return column(atlas, self.colour, cell, middles(shapes.start, shapes.points), self.output, "").values

    def _accuracy(self, network: Any) -> float | None:
        if self.data is None or self.labels is None:
            return None
        outputs = network(self.data)
        said = outputs[:, 0] > self.threshold if outputs.shape[1] == 1 else outputs.argmax(axis=1)
        return float((said == self.labels).mean())


def film_of(
    recording: Recording,
    domain: Any,
    *,
    frames: Any = None,
    colour: str = "class",
    output: int = 0,
    threshold: float = 0.0,
    X: Any = None,
    y: Any = None,
    max_cells: int | None = None,
) -> Film:
    """What `pf.training.movie` shows. All that can be wrong with what is asked for is said here.

    >>> import numpy as np, polyfold as pf
    >>> layers = [(np.array([[1.0, 0.0]]), np.array([0.0])), (np.array([[1.0]]), np.array([-0.5]))]
    >>> recorder = pf.training.record(layers)
    >>> layers[0][1][:] = 0.25                       # the only neuron switches at x = -0.25, the class at x = 0.25
    >>> recorder.step()
    >>> [(frame.cells, frame.label.tolist()) for frame in film_of(recorder.recording, pf.box(-1, 1))]
    [(2, [0, 0, 1]), (2, [0, 0, 1])]
    """
    asked = _frames(a_recording(recording, _QUESTION), frames)
    if colour not in get_args(Colour):
        raise PolyfoldError(f"colour must be one of {', '.join(map(repr, get_args(Colour)))}, got {colour!r}")
    network = recording.network(int(asked[0]))
    points = None if X is None else rows_of(X, network.input_dim)
    if points is not None and not len(points):
        raise ShapeError("X has no rows: give at least one input, or leave it out")
    where = resolve_domain(_domain(domain, points), network.input_dim)
    if where.dim != 2:
        raise DomainError(
            f"{_QUESTION} needs a domain of dimension 2, not {where.dim}: pf.plane cuts one out of "
            f"{how_many(network.input_dim, 'input')}"
        )
    first = unfold(network, where, max_cells=max_cells, max_seconds=running().limit)
    _check_whole(first, int(asked[0]))
    if not first.bounded.all():
        raise DomainError(f"{_QUESTION} needs a bounded domain, such as pf.box(-1, 1), not {where.describe()}")
    return Film(
        recording=recording,
        domain=where,
        view=_view(where, first),
        snapshots=asked,
        colour=colour,  # type: ignore[arg-type]  # one of them, as was seen above
        output=one_output(output, first.outputs),
        threshold=classes(first, threshold=threshold).threshold,
        outputs=first.outputs,
        data=points,
        labels=_labels(y, points, max(2, first.outputs)),
        max_cells=max_cells,
    )


def _check_whole(atlas: Atlas, snapshot: int) -> None:
    if atlas.certificate.stopped_by == "interrupt":
        raise KeyboardInterrupt
    if not atlas.complete:
        tick()
        raise LimitError(
            f"snapshot {snapshot} has more than {len(atlas):,} cells; {atlas.certificate.stopped_by} stopped the search"
        )


def _frames(recording: Recording, frames: Any) -> Ids:
    """Snapshots' numbers: all, some of them evenly spread, or those that are listed."""
    if isinstance(frames, int | np.integer) and not isinstance(frames, bool):
        if frames < 1:
            raise PolyfoldError(f"frames={frames} shows nothing: give a positive number, or a list of snapshots")
        return np.unique(np.linspace(0, len(recording) - 1, min(int(frames), len(recording))).round().astype(np.int64))
    try:
        found = chosen(recording, frames)
    except PolyfoldError:
        raise PolyfoldError(
            f"frames={frames!r} must be how many to show, a list of snapshots' numbers, or None for all"
        ) from None
    if not len(found):
        raise PolyfoldError(f"frames={frames!r} shows nothing: give at least one snapshot")
    return found


def _domain(domain: Any, points: Array | None) -> DomainLike:
    """The domain that is given, the box of four numbers x0, x1, y0, y1, or one around the data."""
    if domain is None:
        if points is None or points.shape[1] != 2:
            raise DomainError(f"{_QUESTION} needs a bounded domain, such as pf.box(-1, 1), or data of two inputs")
        lo, hi = points.min(axis=0), points.max(axis=0)
        around = _MARGIN * np.where(hi > lo, hi - lo, 1.0)
        return Box(lo - around, hi + around)
    if not isinstance(domain, list | tuple | np.ndarray):
        found: DomainLike = domain
        return found
    try:
        x0, x1, y0, y1 = (float(each) for each in domain)
    except (TypeError, ValueError):
        raise DomainError(f"{domain!r} must be a domain or four numbers x0, x1, y0, y1") from None
    return Box([x0, y0], [x1, y1])


def _view(domain: Domain, atlas: Atlas) -> View:
    """All of a bounded domain. Of a box these are the bounds themselves, which vertices have up to rounding."""
    rows = np.concatenate([domain.input_rows @ domain.basis, domain.parameter_rows])
    offsets = np.concatenate([domain.input_offsets - domain.input_rows @ domain.origin, domain.parameter_offsets])
    if ((rows != 0).sum(axis=1) != 1).any():
        return view_of(atlas)
    ends = np.empty((2, 2))
    for k in range(2):
        ends[1, k] = min((b / row[k] for row, b in zip(rows, offsets, strict=True) if row[k] > 0), default=np.inf)
        ends[0, k] = max((b / row[k] for row, b in zip(rows, offsets, strict=True) if row[k] < 0), default=-np.inf)
    return View(ends[0], ends[1])


def _labels(labels: Any, points: Array | None, known: int) -> Ids | None:
    if labels is None:
        return None
    if points is None:
        raise ShapeError("y belongs to X: give both")
    return class_numbers(labels, len(points), known)
