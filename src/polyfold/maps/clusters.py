"""Clusters of local maps: a network that knows only k maps an output, and how well it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.extras import require
from polyfold._base.notebook import InNotebooks
from polyfold._base.numbers import place_of_output
from polyfold._base.progress import reporter
from polyfold.errors import LimitError, PolyfoldError, ShapeError, how_many
from polyfold.maps.gram import means, products, span
from polyfold.maps.result import AT_ONCE, MapMatrices, applied, largest_output, share_right

Array = npt.NDArray[Any]
Labels = npt.NDArray[np.int64]

METHODS = ("lloyd", "minibatch")
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
class ClusteredMaps(InNotebooks):
    """k maps an output in the place of all: an input's own map is replaced by the nearest centre.

    `centres[k]` (clusters, inputs + 1) are those of output `outputs[k]`, rows [w, b]; `inertia[k]` is the sum of the
    squared distances of the rows that they were made from to their centres.
    """

    centres: tuple[Array, ...]
    inertia: tuple[float, ...]
    outputs: tuple[int, ...]
    input_shape: tuple[int, ...]

    def __repr__(self) -> str:
        most = max(len(each) for each in self.centres)
        return f"ClusteredMaps: {how_many(len(self.outputs), 'output')} with up to {how_many(most, 'cluster')} each"

    def of(self, output: int) -> Array:
        """The centres of an output."""
        return self.centres[place_of_output(output, self.outputs, "clusters")]

    def images(self, output: int) -> Array:
        """The centres' slopes in the shape of the inputs, (clusters, *input_shape)."""
        centres = self.of(output)
        return centres[:, :-1].reshape(len(centres), *self.input_shape)

    def assign(self, maps: MapMatrices) -> Labels:
        """The nearest centre of each row, (n, outputs)."""
        self._check(maps)
        return np.stack([nearest(maps.of(j), self.of(j)) for j in self.outputs], axis=1)

    def values(self, maps: MapMatrices) -> npt.NDArray[np.float64]:
        """The outputs (n, outputs) at the maps' inputs, each by the centre that is nearest to the input's own map."""
        self._check(maps)
        return np.stack([values_by_centres(maps.of(j), maps.X, self.of(j)) for j in self.outputs], axis=1)

    def predict(self, maps: MapMatrices) -> Labels:
        """The output that is largest at each of the maps' inputs."""
        return largest_output(self.outputs, self.values(maps))

    def score(self, maps: MapMatrices, labels: Any) -> float:
        """The share of the maps' inputs that get the label given."""
        return share_right(self.predict(maps), labels)

    def silhouette(self, maps: MapMatrices, *, sample: int = 2000, seed: int = 0) -> tuple[float, ...]:
        """How clearly rows belong to their clusters (-1 to 1), an output; estimated from so many rows. NaN for one."""
        self._check(maps)
        metrics = require("sklearn.metrics", extra="sklearn", purpose="a silhouette")
        chosen = np.sort(np.random.default_rng(seed).permutation(len(maps))[:sample])
        found = []
        for j in self.outputs:
            rows = np.asarray(maps.of(j)[chosen])
            of = nearest(rows, self.of(j))
            several = 1 < len(np.unique(of)) < len(rows)
            found.append(float(metrics.silhouette_score(rows, of)) if several else float("nan"))
        return tuple(found)

    def _check(self, maps: MapMatrices) -> None:
        missing = sorted(set(self.outputs) - set(maps.outputs))
        if missing or maps.X.shape[1] + 1 != self.centres[0].shape[1]:
            raise ShapeError(
                f"{maps!r} do not fit clusters of outputs {list(self.outputs)} with rows of "
                f"{how_many(self.centres[0].shape[1], 'number')}"
            )


def cluster(
    maps: MapMatrices,
    k: int,
    *,
    method: str | None = None,
    seed: int = 0,
    passes: int | None = None,
    progress: bool | Callable[[int], None] = False,
) -> ClusteredMaps:
    """K-means on the rows of every C_j: k centres an output, and the classifier that they make.

    Needs scikit-learn. If an output has no more than k different rows, they are its centres, to the last digit.

    Parameters
    ----------
    maps: from `pf.maps.matrices`.
    k: clusters an output.
    method: "lloyd" (all rows in every pass), "minibatch" (parts of them), or None: mini-batches above 256 clusters.
    seed: for the random start.
    passes: how often all rows are looked at, at most; 50, or 5 with mini-batches, if not given.
    progress: True for a progress line on standard error, or a function that is called with the number of outputs done.

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
    with reporter(progress, "outputs") as report:
        for number, output in enumerate(maps.outputs, start=1):
            found.append(centres_of(maps.of(output), k, method=method, seed=seed, passes=passes))
            report(number)
    return ClusteredMaps(
        tuple(centres for centres, _ in found), tuple(inertia for _, inertia in found), maps.outputs, maps.input_shape
    )


def centres_of(
    rows: Array, k: int, *, method: str | None = None, seed: int = 0, passes: int | None = None
) -> tuple[Array, float]:
    """Centres (at most k, columns) of the rows of one matrix, and the sum of squared distances to them."""
    if not isinstance(k, Integral) or k < 1:
        raise LimitError(f"k={k!r} must be a positive whole number of clusters")
    if method not in (None, *METHODS):
        raise PolyfoldError(f"method={method!r} is no option: use {' or '.join(map(repr, METHODS))}, or None")
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
    points = np.ascontiguousarray(rows if directions is None else _in_parts(rows, directions))
    centres = _k_means(points, int(k), how, seed, limit)
    if directions is not None:
        centres = centres @ directions.T
    return centres.astype(rows.dtype), _inertia(rows, centres.astype(rows.dtype))


def nearest(rows: Array, centres: Array) -> Labels:
    """The number of the centre that is nearest to each row."""
    found = np.empty(len(rows), dtype=np.int64)
    squares = np.einsum("kd,kd->k", centres, centres, dtype=np.float64)
    step = max(1, _DISTANCES // max(1, len(centres)))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        found[start : start + step] = (squares - 2.0 * (part @ centres.T)).argmin(axis=1)
    return found


def values_by_centres(rows: Array, X: Array, centres: Array) -> npt.NDArray[np.float64]:
    """One output at inputs X, whose own maps are `rows`, by the nearest centres."""
    of = nearest(rows, centres)
    found = np.empty(len(rows))
    for start in range(0, len(rows), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        found[part] = applied(centres[of[part]][None], X[part])[:, 0]
    return found


def _distinct(rows: Array, most: int) -> Array | None:
    """The different rows, in order, if there are no more than so many."""
    known: set[bytes] = set()
    first = []
    for number, row in enumerate(rows):
        key = (row + 0.0).tobytes()  # so that -0.0 is 0.0
        if key not in known:
            if len(known) == most:
                return None
            known.add(key)
            first.append(number)
    return np.unique(np.asarray(rows[first]) + 0.0, axis=0)


def _directions(rows: Array) -> Array | None:
    """Orthonormal columns that the rows are combinations of, if they are few enough to make distances cheaper."""
    found = span(products(rows, rows))
    return found.directions if 2 * found.rank <= rows.shape[1] else None


def _in_parts(rows: Array, directions: Array) -> Array:
    parts = [rows[start : start + AT_ONCE] @ directions for start in range(0, len(rows), AT_ONCE)]
    return np.concatenate(parts).astype(rows.dtype)


def _k_means(points: Array, k: int, how: str, seed: int, passes: int) -> Array:
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
    found: Array = model.fit(points.copy() if how == "lloyd" else points).cluster_centers_
    return found


def _inertia(rows: Array, centres: Array) -> float:
    of = nearest(rows, centres)
    total = 0.0
    for start in range(0, len(rows), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        total += float(np.square(rows[part] - centres[of[part]], dtype=np.float64).sum())
    return total


@dataclass(frozen=True, eq=False)
class ClusterCurve(InNotebooks):
    """How well k clusters an output do, against k: one entry for each k.

    `accuracy` is measured on the maps that were given for testing; `inertia` and `silhouette` on those that were
    clustered, as a mean over outputs.
    """

    k: tuple[int, ...]
    accuracy: tuple[float, ...]
    inertia: tuple[float, ...]
    silhouette: tuple[float, ...]


def cluster_curve(maps: MapMatrices, k: Sequence[int], test: MapMatrices, labels: Any, **options: Any) -> ClusterCurve:
    """Accuracy, inertia and silhouette against the number of clusters; options as for `pf.maps.cluster`.

    >>> import numpy as np, polyfold as pf
    >>> hat = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 0.0]], [0.0, 0.25])]
    >>> maps = pf.maps.matrices(hat, np.linspace(-2, 2, 9)[:, None])
    >>> curve = pf.maps.cluster_curve(maps, [1, 3], maps, maps.predict())
    >>> curve.accuracy[-1], curve.inertia[-1]
    (1.0, 0.0)
    """
    clustered = [cluster(maps, each, **options) for each in k]
    return ClusterCurve(
        tuple(int(each) for each in k),
        tuple(each.score(test, labels) for each in clustered),
        tuple(float(np.mean(each.inertia)) for each in clustered),
        tuple(float(np.mean(each.silhouette(maps))) for each in clustered),
    )
