"""Integral, mean and variance of a network over a bounded domain: from volumes, centroids and covariances of cells.

On a cell the network is affine, f(u) = A u + c. Over a cell with volume V, centroid g and covariance S its integral is
V (A g + c), and its covariance is A S A^T. Over several cells covariances add up with those between the cells' means.
V, g and S are sums over simplices that the cell is cut into, so nothing is sampled; what is left is rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import Report
from polyfold._base.notebook import in_a_line
from polyfold._base.question import question
from polyfold._base.result import InFloats, Value, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.asked import bounded_cells, cells_asked_for, finite, no_underflow
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.regions import merged
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError
from polyfold.exact.rounding import LEAST, LEAST_NORMAL, TINY
from polyfold.exact.tolerances import VOLUME_SUM
from polyfold.network.scores import Of, asked_of
from polyfold.program.passes.beyond_floats import leaves_range, outputs_at

By = Literal["domain", "region", "cell"]


@dataclass(frozen=True, eq=False, repr=False)
class OutputStatistic(InFloats, Value):
    """The integral, mean, variance or covariance of a network's outputs: `np.asarray(found)` is the array.

    It is a sum in floats over the cells that the atlas lists: as sure as `evidence` says of these, up to rounding.

    Attributes
    ----------
    value : array of float
        The numbers: one row per region or cell, if it was asked for by these.
    name : str
        What they are: "integral", "mean", "variance" or "covariance".
    by : str
        "domain", "region" or "cell".
    ids : array of int
        The cells that were looked at.
    of : str
        Whether the numbers speak of the model's outputs or of the scores before its head.
    """

    value: Array
    name: str
    by: By
    ids: Ids
    of: str

    def __repr__(self) -> str:
        of = "" if self.of == "the model's outputs" else f" of {self.of}"
        return f"OutputStatistic: {self.name}{of} {in_a_line(self.value)}; {self.evidence}"

    def facts(self) -> dict[str, Any]:
        return {"value": self.value, "name": self.name, "by": self.by, "cells": len(self.ids), "of": self.of}


@question("stats.integral")
@np.errstate(over="ignore", invalid="ignore")
def integral(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    by: By = "domain",
    cells: ArrayLike | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> OutputStatistic:
    """The integral of every output over the domain.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. It must be bounded, or the cells chosen must be. On a slice this is about its
        parameters u, not about the piece of surface that they stand for.
    by : "domain", "region" or "cell"
        One answer for the domain, or one per linear region (in the order of `pf.regions`), or one per cell.
    cells : array of int, optional
        Look at these cells only.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one (softmax,
        sigmoid, argmax), because behind it nothing is piecewise linear.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    OutputStatistic
        Shape (outputs,); by region or cell (regions or cells, outputs).

    Examples
    --------
    >>> import polyfold as pf
    >>> absolute = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    >>> pf.stats.integral(absolute, pf.box(-1, 2)).value.round(12).tolist()
    [2.5]
    """
    atlas = as_atlas(source, domain, threads=threads, any_cells=True)
    asked = _asked(atlas, cells, by, of, "the integral")
    volumes, centroids = atlas.measures(asked.ids)
    means = _means(atlas, asked.ids, centroids)
    _no_lost_centroids(atlas, asked.ids, centroids, means, "the integral")
    lost = (volumes < LEAST_NORMAL)[:, None] & (np.abs(means) > 1)
    no_underflow(bool(lost.any()), "the integral")
    # A mean that underflows is something again when it is multiplied by a large volume.
    far = leaves_range(atlas.program, atlas.domain)
    integrals = _means(atlas, asked.ids, centroids, volumes) if far else volumes[:, None] * means
    return asked.answer(atlas, finite(asked.add_up(integrals), "the integral"), "integral")


@question("stats.mean")
@np.errstate(over="ignore", invalid="ignore")
def mean(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    by: By = "domain",
    cells: ArrayLike | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> OutputStatistic:
    """The mean of every output over the domain, all of whose points count the same.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. It must be bounded, or the cells chosen must be. On a slice this is about its
        parameters u, not about the piece of surface that they stand for.
    by : "domain", "region" or "cell"
        One answer for the domain, or one per linear region (in the order of `pf.regions`), or one per cell.
    cells : array of int, optional
        Look at these cells only.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one (softmax,
        sigmoid, argmax), because behind it nothing is piecewise linear.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    OutputStatistic
        Shape (outputs,); by region or cell (regions or cells, outputs).

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> hat = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
    >>> found = pf.stats.mean(pf.unfold(hat, pf.box(0, 4)))
    >>> found, np.asarray(found).round(12).tolist()
    (OutputStatistic: mean 0.25; checked, complete, [0.25])
    """
    atlas = as_atlas(source, domain, threads=threads, any_cells=True)
    asked = _asked(atlas, cells, by, of, "the mean")
    volumes, centroids = atlas.measures(asked.ids)
    weights, means = _weights(asked, volumes, "the mean"), _means(atlas, asked.ids, centroids)
    _no_lost_centroids(atlas, asked.ids, centroids, means, "the mean")
    return asked.answer(atlas, finite(asked.add_up(weights[:, None] * means), "the mean"), "mean")


@question("stats.variance")
@np.errstate(over="ignore", invalid="ignore")
def variance(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    by: By = "domain",
    cells: ArrayLike | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> OutputStatistic:
    """The variance of every output over the domain, all of whose points count the same.

    It is the variance of a population: no correction for a sample's size, because nothing is sampled.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. It must be bounded, or the cells chosen must be. On a slice this is about its
        parameters u, not about the piece of surface that they stand for.
    by : "domain", "region" or "cell"
        One answer for the domain, or one per linear region (in the order of `pf.regions`), or one per cell.
    cells : array of int, optional
        Look at these cells only.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one (softmax,
        sigmoid, argmax), because behind it nothing is piecewise linear.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    OutputStatistic
        Shape (outputs,); by region or cell (regions or cells, outputs).

    Examples
    --------
    >>> import polyfold as pf
    >>> line = [([[3.0]], [0.0])]
    >>> pf.stats.variance(line, pf.box(0, 2)).value.round(12).tolist()
    [3.0]
    """
    atlas = as_atlas(source, domain, threads=threads, any_cells=True)
    asked = _asked(atlas, cells, by, of, "the variance")
    # What rounding makes less than zero is zero.
    found = np.maximum(_second_moments(atlas, asked, "the variance", "nij,njk,nik->ni"), 0.0)
    return asked.answer(atlas, found, "variance")


@question("stats.covariance")
@np.errstate(over="ignore", invalid="ignore")
def covariance(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    by: By = "domain",
    cells: ArrayLike | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> OutputStatistic:
    """The covariance matrix of the outputs over the domain, all of whose points count the same.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. It must be bounded, or the cells chosen must be. On a slice this is about its
        parameters u, not about the piece of surface that they stand for.
    by : "domain", "region" or "cell"
        One answer for the domain, or one per linear region (in the order of `pf.regions`), or one per cell.
    cells : array of int, optional
        Look at these cells only.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one (softmax,
        sigmoid, argmax), because behind it nothing is piecewise linear.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    OutputStatistic
        Shape (outputs, outputs); by region or cell (regions or cells, outputs, outputs).

    Examples
    --------
    >>> import polyfold as pf
    >>> both = [([[1.0], [-1.0]], [0.0, 0.0])]
    >>> pf.stats.covariance(both, pf.box(0, 6)).value.round(12).tolist()
    [[3.0, -3.0], [-3.0, 3.0]]
    """
    atlas = as_atlas(source, domain, threads=threads, any_cells=True)
    asked = _asked(atlas, cells, by, of, "the covariance")
    return asked.answer(atlas, _second_moments(atlas, asked, "the covariance", "nij,njk,nlk->nil"), "covariance")


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells that are asked about, and the group that each belongs to."""

    ids: Ids
    group: Ids
    groups: int
    by: By
    of: str

    def answer(self, atlas: Atlas, found: Array, name: str) -> OutputStatistic:
        value = found if self.by != "domain" else found[0]
        return answered(OutputStatistic(value, name, self.by, self.ids, self.of), evidence_of(atlas))

    def add_up(self, values: Array) -> Array:
        """Sums over each group."""
        total = np.zeros((self.groups, *values.shape[1:]))
        if self.groups == 1:
            # Pairwise, so that rounding does not grow with the number of cells.
            total[0] = np.ascontiguousarray(np.moveaxis(values, 0, -1)).sum(axis=-1)
        else:
            np.add.at(total, self.group, values)
        return total


def _second_moments(atlas: Atlas, asked: _Cells, question: str, product: str) -> Array:
    """A S A^T of every group, all of it or its diagonal, as `product` says."""
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


def _asked(atlas: Atlas, cells: ArrayLike | None, by: By, of: Of, question: str) -> _Cells:
    if by not in ("domain", "region", "cell"):
        raise PolyfoldError(f"by={by!r} must be 'domain', 'region' or 'cell'")
    if by == "region" and cells is not None:
        raise PolyfoldError("by='region' takes all cells of every region: leave out `cells`, or use by='cell'")
    words = asked_of(of, atlas.program.head, question)
    ids = cells_asked_for(atlas, cells, question)
    bounded_cells(atlas, ids, question)
    group, groups = np.zeros(len(ids), dtype=np.int64), 1
    if by == "cell":
        group, groups = np.arange(len(ids)), len(ids)
    elif by == "region":
        group = merged(atlas).label
        groups = int(group.max()) + 1
    return _Cells(ids, group, groups, by, words)


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
