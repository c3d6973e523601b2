"""Integral, mean and variance of a network over a bounded domain: from volumes, centroids and covariances of cells.

On a cell the network is affine, f(u) = A u + c. Over a cell with volume V, centroid g and covariance S its integral is
V (A g + c), and its covariance is A S A^T. Over several cells covariances add up with those between the cells' means.
V, g and S are sums over simplices that the cell is cut into, so nothing is sampled; what is left is rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.chunks import in_chunks
from polyfold.atlas.asked import an_atlas, bounded_cells, cells_asked_for, finite, no_underflow
from polyfold.atlas.atlas import Atlas
from polyfold.engine.regions import regions
from polyfold.errors import PolyfoldError
from polyfold.exact.rounding import LEAST, LEAST_NORMAL, TINY
from polyfold.exact.tolerances import VOLUME_SUM
from polyfold.network.scores import Of, asked_of
from polyfold.program.passes.beyond_floats import leaves_range, outputs_at

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
By = Literal["domain", "region", "cell"]


@np.errstate(over="ignore", invalid="ignore")
def integral(atlas: Atlas, cells: Any = None, *, by: By = "domain", of: Of = "scores") -> Array:
    """The integral of every output over the domain: shape (outputs,).

    Parameters
    ----------
    cells: integrate over these only.
    by: "domain" for one integral, "region" for one a linear region (in the order of `pf.regions`), "cell" for one a
        cell: then the shape is (regions or cells, outputs).
    of: "scores", which are the outputs of a model without a head; "outputs" is refused for a model that has one
        (softmax, sigmoid, argmax), because behind it nothing is piecewise linear.

    The domain, or the cells chosen, must be bounded. On a slice the integral is over its parameters u, not over the
    piece of surface that they stand for. What is returned is a sum in floats over the cells that the atlas lists: it is
    as sure as `atlas.certificate` says of these, up to rounding.

    >>> import polyfold as pf
    >>> absolute = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    >>> pf.stats.integral(pf.unfold(absolute, pf.box(-1, 2))).round(12).tolist()
    [2.5]
    """
    asked = _asked(atlas, cells, by, of, "the integral")
    volumes, centroids = atlas.measures(asked.ids)
    means = _means(atlas, asked.ids, centroids)
    _no_lost_centroids(atlas, asked.ids, centroids, means, "the integral")
    lost = (volumes < LEAST_NORMAL)[:, None] & (np.abs(means) > 1)
    no_underflow(bool(lost.any()), "the integral")
    # A mean that underflows is something again when it is multiplied by a large volume.
    far = leaves_range(atlas.program, atlas.domain)
    integrals = _means(atlas, asked.ids, centroids, volumes) if far else volumes[:, None] * means
    found = finite(asked.add_up(integrals), "the integral")
    return found if by != "domain" else found[0]


@np.errstate(over="ignore", invalid="ignore")
def mean(atlas: Atlas, cells: Any = None, *, by: By = "domain", of: Of = "scores") -> Array:
    """The mean of every output over the domain, all of whose points count the same. Options, and what it rests
    on, as for `pf.stats.integral`.

    >>> import polyfold as pf
    >>> hat = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
    >>> pf.stats.mean(pf.unfold(hat, pf.box(0, 4))).round(12).tolist()
    [0.25]
    """
    asked = _asked(atlas, cells, by, of, "the mean")
    volumes, centroids = atlas.measures(asked.ids)
    weights, means = _weights(asked, volumes, "the mean"), _means(atlas, asked.ids, centroids)
    _no_lost_centroids(atlas, asked.ids, centroids, means, "the mean")
    found = finite(asked.add_up(weights[:, None] * means), "the mean")
    return found if by != "domain" else found[0]


def variance(atlas: Atlas, cells: Any = None, *, by: By = "domain", of: Of = "scores") -> Array:
    """The variance of every output over the domain, all of whose points count the same. Options, and what it rests
    on, as for `pf.stats.integral`.

    It is the variance of a population: no correction for a sample's size, because nothing is sampled.

    >>> import polyfold as pf
    >>> line = [([[3.0]], [0.0])]
    >>> pf.stats.variance(pf.unfold(line, pf.box(0, 2))).round(12).tolist()
    [3.0]
    """
    # What rounding makes less than zero is zero.
    found = np.maximum(_second_moments(atlas, cells, by, of, "the variance", "nij,njk,nik->ni"), 0.0)
    return found if by != "domain" else found[0]


def covariance(atlas: Atlas, cells: Any = None, *, by: By = "domain", of: Of = "scores") -> Array:
    """The covariance matrix (outputs, outputs) of the outputs over the domain. Options, and what it rests on, as for
    `pf.stats.integral`.

    >>> import polyfold as pf
    >>> both = [([[1.0], [-1.0]], [0.0, 0.0])]
    >>> pf.stats.covariance(pf.unfold(both, pf.box(0, 6))).round(12).tolist()
    [[3.0, -3.0], [-3.0, 3.0]]
    """
    found = _second_moments(atlas, cells, by, of, "the covariance", "nij,njk,nlk->nil")
    return found if by != "domain" else found[0]


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells that are asked about, and the group that each belongs to."""

    ids: Ids
    group: Ids
    groups: int

    def add_up(self, values: Array) -> Array:
        """Sums over each group."""
        total = np.zeros((self.groups, *values.shape[1:]))
        if self.groups == 1:
            # Pairwise, so that rounding does not grow with the number of cells.
            total[0] = np.ascontiguousarray(np.moveaxis(values, 0, -1)).sum(axis=-1)
        else:
            np.add.at(total, self.group, values)
        return total


@np.errstate(over="ignore", invalid="ignore")
def _second_moments(atlas: Atlas, cells: Any, by: By, of: Of, question: str, product: str) -> Array:
    """A S A^T of every group, all of it or its diagonal, as `product` says."""
    asked = _asked(atlas, cells, by, of, question)
    volumes, centroids, covariances = atlas.moments(asked.ids)
    weights = _weights(asked, volumes, question)
    means = _means(atlas, asked.ids, centroids)
    _no_lost_centroids(atlas, asked.ids, centroids, means, question)
    away = means - asked.add_up(weights[:, None] * means)[asked.group]
    outputs = atlas.outputs
    within = np.empty((len(asked.ids), outputs, outputs) if product.endswith("nil") else (len(asked.ids), outputs))

    def fill(part: slice) -> None:
        A, _ = atlas.maps(asked.ids[part], over="parameters")
        between = away[part, :, None]
        within[part] = np.einsum(product, A, covariances[part], A, optimize=True)
        within[part] += np.einsum(product, between, np.ones((len(between), 1, 1)), between)

    in_chunks(len(asked.ids), 4 * outputs * (atlas.dim + outputs) + atlas.gates, fill)
    return finite(asked.add_up(weights.reshape(-1, *[1] * (within.ndim - 1)) * within), question)


def _asked(atlas: Atlas, cells: Any, by: By, of: Of, question: str) -> _Cells:
    an_atlas(atlas, question)
    if by not in ("domain", "region", "cell"):
        raise PolyfoldError(f"by={by!r} is no option: use 'domain', 'region' or 'cell'")
    if by == "region" and cells is not None:
        raise PolyfoldError("by='region' takes all cells of every region: leave out `cells`, or use by='cell'")
    asked_of(of, atlas.program.head, question)
    ids = cells_asked_for(atlas, cells, question)
    bounded_cells(atlas, ids, question)
    if by == "cell":
        return _Cells(ids, np.arange(len(ids)), len(ids))
    if by == "region":
        label = regions(atlas).label
        return _Cells(ids, label, int(label.max()) + 1)
    return _Cells(ids, np.zeros(len(ids), dtype=np.int64), 1)


def _weights(asked: _Cells, volumes: Array, question: str) -> Array:
    """Which part of its group each cell is."""
    total = asked.add_up(volumes)
    alone = np.bincount(asked.group, minlength=asked.groups) == 1
    no_underflow(bool((~alone & (total < LEAST_NORMAL)).any()), question)
    return np.where(alone[asked.group], 1.0, volumes / np.where(alone, 1.0, total)[asked.group])


def _no_lost_centroids(atlas: Atlas, ids: Ids, centroids: Array, means: Array, question: str) -> None:
    """Refuse cells that are so small that their centroids have lost their digits, if that is seen in the means."""
    near = np.flatnonzero((np.abs(centroids) < TINY).any(axis=1))
    if not len(near):
        return
    lo, hi = atlas.bounding_boxes(ids[near])
    small = (hi - lo < TINY) & (np.abs(centroids[near]) < TINY)
    near, small = near[small.any(axis=1)], small[small.any(axis=1)]
    A, _ = atlas.maps(ids[near], over="parameters")
    off = LEAST * np.where(small[:, None, :], np.abs(A), 0.0).sum(axis=2)
    no_underflow(bool((off > np.maximum(VOLUME_SUM * np.abs(means[near]), LEAST_NORMAL)).any()), question)


def _means(atlas: Atlas, ids: Ids, centroids: Array, times: Array | None = None) -> Array:
    """The mean of every output on each cell; times something, where floats leave their range."""
    if leaves_range(atlas.program, atlas.domain):
        factors = np.ones(len(ids)) if times is None else times
        return outputs_at(atlas.program, atlas.domain, atlas.signs(ids), centroids, factors)
    means = np.empty((len(ids), atlas.outputs))

    def fill(part: slice) -> None:
        A, c = atlas.maps(ids[part], over="parameters")
        means[part] = np.einsum("nij,nj->ni", A, centroids[part]) + c

    in_chunks(len(ids), 4 * atlas.outputs * max(atlas.dim, 1) + atlas.gates, fill)
    return means
