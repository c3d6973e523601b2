"""Clusters of local maps: a network that knows only k maps per output, and how well it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from polyfold._base.apart import apart
from polyfold._base.chunks import in_chunks
from polyfold._base.clock import OutOfTimeError, Report, running, tick
from polyfold._base.extras import require
from polyfold._base.inputs import place_of_output
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import AnyArray, ArrayLike, Ids
from polyfold.errors import LimitError, PolyfoldError, ShapeError, how_many
from polyfold.maps.gram import PRODUCTS, means, products, span, times
from polyfold.maps.result import AT_ONCE, MapMatrices, applied, largest_output, share_right

# Of either precision.
Method = Literal["lloyd", "minibatch"]

METHODS = get_args(Method)
# More clusters than this are found by mini-batches, unless asked otherwise.
_LARGE = 256
# From so many clusters on it pays to look first how many dimensions the rows really have.
_WORTH_A_LOOK = 50
# More clusters than this start from rows that are drawn by chance: spreading them takes longer than the clustering.
_SPREAD = 2000
# Passes over the rows.
_PASSES = {"lloyd": 50, "minibatch": 5}
# Numbers in a table of distances.
_DISTANCES = 1 << 25


@dataclass(frozen=True, eq=False, repr=False)
class ClusteredMaps(Rows):
    """k maps per output in the place of all: an input's own map is replaced by the nearest centre.

    Attributes
    ----------
    centres : tuple of array of float, shape (clusters, inputs + 1)
        For each output its centres, rows [w, b].
    inertia : tuple of float
        For each output the sum of the squared distances of the rows that they were made from to their centres.
    outputs : tuple of int
        The numbers of the outputs.
    input_shape : tuple of int
        The shape of one input.
    """

    centres: tuple[AnyArray, ...]
    inertia: tuple[float, ...]
    outputs: tuple[int, ...]
    input_shape: tuple[int, ...]

    def __repr__(self) -> str:
        most = max(len(each) for each in self.centres)
        return f"ClusteredMaps: {how_many(len(self.outputs), 'output')} with up to {how_many(most, 'cluster')} each"

    def rows(self) -> dict[str, Any]:
        """One row per output: its clusters and their inertia."""
        return {"output": self.outputs, "clusters": [len(each) for each in self.centres], "inertia": self.inertia}

    def of(self, output: int) -> AnyArray:
        """The centres of an output."""
        return self.centres[place_of_output(output, self.outputs, "clusters")]

    def images(self, output: int) -> AnyArray:
        """The centres' slopes in the shape of the inputs, (clusters, *input_shape)."""
        centres = self.of(output)
        return centres[:, :-1].reshape(len(centres), *self.input_shape)

    def assign(self, maps: MapMatrices) -> Ids:
        """The nearest centre of each row, (n, outputs)."""
        self._check(maps)
        return np.stack([nearest(maps.of(j), self.of(j)) for j in self.outputs], axis=1)

    def values(self, maps: MapMatrices) -> npt.NDArray[np.float64]:
        """The outputs (n, outputs) at the maps' inputs, each by the centre that is nearest to the input's own map."""
        self._check(maps)
        return np.stack([values_by_centres(maps.of(j), maps.X, self.of(j)) for j in self.outputs], axis=1)

    def predict(self, maps: MapMatrices) -> Ids:
        """The output that is largest at each of the maps' inputs."""
        return largest_output(self.outputs, self.values(maps))

    def score(self, maps: MapMatrices, y: ArrayLike) -> float:
        """The share of the maps' inputs that get the label given."""
        return share_right(self.predict(maps), y)

    def silhouette(self, maps: MapMatrices, *, sample: int = 2000, seed: int = 0) -> tuple[float, ...]:
        """For each output how clearly rows belong to their clusters (-1 to 1), from so many rows; NaN if one."""
        self._check(maps)
        metrics = require("sklearn.metrics", extra="sklearn", purpose="a silhouette")
        chosen = np.sort(np.random.default_rng(seed).permutation(len(maps))[:sample])
        found = []
        for j in self.outputs:
            rows = np.asarray(maps.of(j)[chosen])
            of = nearest(rows, self.of(j))
            several = 1 < len(np.unique(of)) < len(rows)
            found.append(apart(lambda: float(metrics.silhouette_score(rows, of))) if several else float("nan"))  # noqa: B023  # called at once
        return tuple(found)

    def _check(self, maps: MapMatrices) -> None:
        missing = sorted(set(self.outputs) - set(maps.outputs))
        if missing or maps.X.shape[1] + 1 != self.centres[0].shape[1]:
            raise ShapeError(
                f"{maps!r} do not fit clusters of outputs {list(self.outputs)} with rows of "
                f"{how_many(self.centres[0].shape[1], 'number')}"
            )


@question("maps.cluster")
def cluster(
    maps: MapMatrices,
    k: int,
    *,
    method: Method | None = None,
    seed: int = 0,
    passes: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> ClusteredMaps:
    """K-means on the rows of every C_j: k centres per output, and the classifier that they make.

    Needs scikit-learn. If an output has no more than k different rows, they are its centres, to the last digit.

    Parameters
    ----------
    maps : MapMatrices
        From `pf.maps.matrices`.
    k : int
        Clusters per output.
    method : "lloyd", "minibatch" or None
        All rows in every pass, or parts of them; None takes mini-batches above 256 clusters.
    seed : int
        For the random start.
    passes : int, optional
        How often all rows are looked at, at most; 50, or 5 with mini-batches, if not given.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    ClusteredMaps
        The centres, which classify inputs by their own maps.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> hat = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])]
    >>> maps = pf.maps.matrices(hat, np.linspace(-2, 2, 9)[:, None])
    >>> clusters = pf.maps.cluster(maps, 3)
    >>> clusters.of(0).tolist()
    [[-1.0, 2.0], [0.0, 0.0], [1.0, 0.0]]
    >>> bool((clusters.values(maps) == maps.values()).all())
    True
    """
    found = []
    for number, output in enumerate(maps.outputs, start=1):
        found.append(centres_of(maps.of(output), k, method=method, seed=seed, passes=passes))
        running().tell(number, len(maps.outputs), "outputs")
    centres, inertia = zip(*found, strict=True)
    return answered(ClusteredMaps(centres, inertia, maps.outputs, maps.input_shape), maps.evidence)


def centres_of(
    rows: AnyArray, k: int, *, method: str | None = None, seed: int = 0, passes: int | None = None
) -> tuple[AnyArray, float]:
    """Centres (at most k, columns) of the rows of one matrix, and the sum of squared distances to them."""
    if not isinstance(k, Integral) or k < 1:
        raise LimitError(f"k={k!r} must be a positive whole number of clusters")
    if method not in (None, *METHODS):
        raise PolyfoldError(f"method must be {', '.join(map(repr, METHODS))} or None, got {method!r}")
    if passes is not None and (not isinstance(passes, Integral) or passes < 1):
        raise LimitError(f"passes={passes!r} must be a positive whole number, or None")
    if not len(rows):
        raise ShapeError("there are no maps to cluster")
    distinct = _distinct(rows, int(k))
    if distinct is not None:
        return distinct, 0.0
    if k == 1:
        mean = means(rows)[None].astype(rows.dtype)
        return mean, _inertia(rows, mean)
    how = method or ("minibatch" if k > _LARGE else "lloyd")
    limit = _PASSES[how] if passes is None else int(passes)
    directions = _directions(rows) if k >= _WORTH_A_LOOK else None
    points = np.ascontiguousarray(rows if directions is None else times(rows, directions).astype(rows.dtype))
    centres = _k_means(points, int(k), how, seed, limit)
    if directions is not None:
        centres = centres @ directions.T
    return centres.astype(rows.dtype), _inertia(rows, centres.astype(rows.dtype))


def nearest(rows: AnyArray, centres: AnyArray) -> Ids:
    """The number of the centre that is nearest to each row."""
    found = np.empty(len(rows), dtype=np.int64)
    squares = np.einsum("kd,kd->k", centres, centres, dtype=np.float64)
    step = max(16, min(_DISTANCES // max(1, len(centres)), PRODUCTS // max(1, centres.size)))
    for start in range(0, len(rows), step):
        tick()
        part = rows[start : start + step]
        found[start : start + step] = (squares - 2.0 * (part @ centres.T)).argmin(axis=1)
    return found


def values_by_centres(rows: AnyArray, X: AnyArray, centres: AnyArray) -> npt.NDArray[np.float64]:
    """One output at inputs X, whose own maps are `rows`, by the nearest centres."""
    of = nearest(rows, centres)
    found = np.empty(len(rows))
    for start in range(0, len(rows), AT_ONCE):
        tick()
        part = slice(start, start + AT_ONCE)
        found[part] = applied(centres[of[part]][None], X[part])[:, 0]
    return found


def _distinct(rows: AnyArray, most: int) -> AnyArray | None:
    """The different rows, in order, if there are no more than so many."""
    known: set[bytes] = set()
    first = []
    for number, row in enumerate(rows):
        tick()
        key = (row + 0.0).tobytes()  # so that -0.0 is 0.0
        if key not in known:
            if len(known) == most:
                return None
            known.add(key)
            first.append(number)
    return np.unique(np.asarray(rows[first]) + 0.0, axis=0)


def _directions(rows: AnyArray) -> AnyArray | None:
    """Orthonormal columns that the rows are combinations of, if they are few enough to make distances cheaper."""
    found = span(products(rows, rows))
    return found.directions if 2 * found.rank <= rows.shape[1] else None


def _k_means(points: AnyArray, k: int, how: str, seed: int, passes: int) -> AnyArray:
    cluster = require("sklearn.cluster", extra="sklearn", purpose="clusters of maps")
    start = "k-means++" if k <= _SPREAD else "random"
    if how == "lloyd":
        model = cluster.KMeans(k, init=start, n_init=1, max_iter=passes, random_state=seed, copy_x=False)
    else:
        model = cluster.MiniBatchKMeans(
            k,
            init=start,
            n_init=1,
            max_iter=passes,
            batch_size=max(4096, k),
            random_state=seed,
            compute_labels=False,
        )
    # scikit-learn takes away the mean of what it is given, and puts it back, if it may not copy.
    found: AnyArray = apart(lambda: model.fit(points.copy() if how == "lloyd" else points)).cluster_centers_
    return found


def _inertia(rows: AnyArray, centres: AnyArray) -> float:
    of = nearest(rows, centres)
    squares = np.empty(len(rows))

    def add(part: slice) -> None:
        squares[part] = np.square(rows[part] - centres[of[part]], dtype=np.float64).sum(axis=1)

    in_chunks(len(rows), rows.shape[1], add)
    return float(squares.sum())


@dataclass(frozen=True, eq=False, repr=False)
class ClusterCurve(Rows):
    """How well k clusters per output do, against k: one entry for each k.

    Attributes
    ----------
    k : tuple of int
        How many clusters.
    accuracy : tuple of float
        On the maps that were given for testing.
    inertia, silhouette : tuple of float
        On the maps that were clustered, as means over outputs.
    """

    k: tuple[int, ...]
    accuracy: tuple[float, ...]
    inertia: tuple[float, ...]
    silhouette: tuple[float, ...]

    def __repr__(self) -> str:
        points = ", ".join(f"{k}: {accuracy:.3g}" for k, accuracy in zip(self.k, self.accuracy, strict=True))
        stopped = f"; stopped by {self.stopped_by}" if self.stopped_by else ""
        return f"ClusterCurve: accuracy by clusters per output {points}{stopped}"

    def rows(self) -> dict[str, Any]:
        """One row per number of clusters."""
        return {"k": self.k, "accuracy": self.accuracy, "inertia": self.inertia, "silhouette": self.silhouette}


@question("maps.cluster_curve")
def cluster_curve(
    maps: MapMatrices,
    k: Sequence[int],
    *,
    test: MapMatrices,
    y: ArrayLike,
    method: Method | None = None,
    seed: int = 0,
    passes: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> ClusterCurve:
    """Accuracy, inertia and silhouette against the number of clusters.

    Parameters
    ----------
    maps : MapMatrices
        The maps that are clustered.
    k : list of int
        Numbers of clusters per output.
    test : MapMatrices
        Maps at the inputs on which the accuracy is measured.
    y : ArrayLike, shape (n,)
        The right output of each of them.
    method : "lloyd", "minibatch" or None
        All rows in every pass, or parts of them; None takes mini-batches above 256 clusters.
    seed : int
        For the random start.
    passes : int, optional
        How often all rows are looked at, at most; 50, or 5 with mini-batches, if not given.
    max_seconds : float, optional
        The limit: the curve then has the first numbers of clusters only; LimitError if not even one was done.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    ClusterCurve
        One entry for each number of clusters.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> hat = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 0.0]], [0.0, 0.25])]
    >>> maps = pf.maps.matrices(hat, np.linspace(-2, 2, 9)[:, None])
    >>> curve = pf.maps.cluster_curve(maps, [1, 3], test=maps, y=maps.predict())
    >>> curve.accuracy[-1], curve.inertia[-1]
    (1.0, 0.0)
    """
    found: list[tuple[int, float, float, float]] = []
    stopped_by = None
    with running().noting_interrupts():
        try:
            for each in k:
                clustered = cluster(maps, each, method=method, seed=seed, passes=passes)
                silhouette = float(np.mean(clustered.silhouette(maps)))
                found.append((int(each), clustered.score(test, y), float(np.mean(clustered.inertia)), silhouette))
                running().tell(len(found), len(k), "numbers of clusters")
        except OutOfTimeError as error:
            if not found:
                raise
            stopped_by = error.stopped_by
    if not found:
        raise PolyfoldError(f"k={k!r} asks for nothing: give numbers of clusters")
    return answered(ClusterCurve(*zip(*found, strict=True)), maps.evidence, stopped_by=stopped_by)
