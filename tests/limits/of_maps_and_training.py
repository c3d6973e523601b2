"""Calls that take well over ten seconds without a limit: maps, explain, symmetry, layers and training.

`CASES[name](max_seconds)` makes ready what the question needs and returns the call itself, which is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import polyfold as pf

Layers = list[tuple[np.ndarray, np.ndarray]]
Call = Callable[[], object]


def layers_of(*widths: int, seed: int = 0) -> Layers:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)) / np.sqrt(a), rng.normal(size=b)) for a, b in pairwise(widths)]


@cache
def atlas() -> pf.Atlas:
    """More than a million cells."""
    return pf.unfold(layers_of(3, 140, 140, 2, seed=3), pf.box(-3, 3))


@cache
def equal_maps() -> pf.Atlas:
    """Many cells that share few maps, each of which is compared in rationals."""
    first, bias = layers_of(2, 300, seed=4)[0]
    return pf.unfold([(first, bias), (np.zeros((1, 300)), np.zeros(1))], pf.box(-3, 3))


def maps_of(rows: int, features: int, outputs: int, seed: int) -> pf.maps.MapMatrices:
    """Maps that no network has: only their numbers matter."""
    rng = np.random.default_rng(seed)
    X = np.random.default_rng(0).normal(size=(rows, features))
    matrices = rng.normal(size=(1, rows, features + 1)).astype(np.float32)
    return pf.maps.MapMatrices(
        np.broadcast_to(matrices, (outputs, rows, features + 1)),
        X,
        tuple(range(outputs)),
        (features,),
        np.zeros((rows, 16), dtype=np.uint8),
        0.0,
    )


@cache
def wide_maps(seed: int = 1) -> pf.maps.MapMatrices:
    return maps_of(4000, 1500, 20, seed)


@cache
def recording(*widths: int, snapshots: int = 60) -> pf.training.Recording:
    layers = layers_of(*widths)
    recorder = pf.training.record(layers)
    for _ in range(snapshots):
        layers[0][1][:] += 0.01
        recorder.step()
    return recorder.recording


def matrices(max_seconds: float | None) -> Call:
    X = np.random.default_rng(0).normal(size=(40_000, 100))
    return partial(pf.maps.matrices, layers_of(100, 1500, 1500, 10), X, max_seconds=max_seconds)


def cluster(max_seconds: float | None) -> Call:
    return partial(pf.maps.cluster, wide_maps(), 200, max_seconds=max_seconds)


def cluster_curve(max_seconds: float | None) -> Call:
    y = np.zeros(4000, dtype=int)
    return partial(pf.maps.cluster_curve, wide_maps(), [200, 250], test=wide_maps(), y=y, max_seconds=max_seconds)


def transfer(max_seconds: float | None) -> Call:
    return partial(pf.maps.transfer, wide_maps(), wide_maps(2), max_seconds=max_seconds)


def transfer_table(max_seconds: float | None) -> Call:
    maps = {"a": wide_maps(), "b": wide_maps(2)}
    return partial(pf.maps.transfer_table, maps, test=maps, y=np.zeros(4000, dtype=int), max_seconds=max_seconds)


def similarity(max_seconds: float | None) -> Call:
    return partial(pf.maps.similarity, wide_maps(), wide_maps(2), max_seconds=max_seconds)


def dual_space(max_seconds: float | None) -> Call:
    return partial(pf.maps.dual_space, equal_maps(), max_seconds=max_seconds)


def facet_jumps(max_seconds: float | None) -> Call:
    found = atlas()
    return partial(pf.maps.facet_jumps, found, pieces=np.zeros((len(found), 4)), max_seconds=max_seconds)


def shapley(max_seconds: float | None) -> Call:
    X = np.random.default_rng(0).normal(size=(40, 18))
    return partial(pf.explain.shapley, layers_of(18, 200, 200, 2), X, background=X[:5], max_seconds=max_seconds)


def integrated_gradients(max_seconds: float | None) -> Call:
    X = np.random.default_rng(0).normal(size=(400, 100))
    return partial(
        pf.explain.integrated_gradients,
        layers_of(100, 800, 800, 10),
        X,
        baseline=np.zeros(100),
        max_seconds=max_seconds,
    )


def distance(max_seconds: float | None) -> Call:
    widths = (40, 400, 400, 400, 10)
    return partial(pf.symmetry.distance, layers_of(*widths), layers_of(*widths, seed=1), max_seconds=max_seconds)


def normal_form(max_seconds: float | None) -> Call:
    return partial(pf.symmetry.normal_form, layers_of(40, 700, 700, 700, 10), max_seconds=max_seconds)


def path_norm(max_seconds: float | None) -> Call:
    return partial(pf.symmetry.path_norm, layers_of(40, *[700] * 8, 10), norm=2, max_seconds=max_seconds)


def flatness(max_seconds: float | None) -> Call:
    X = np.random.default_rng(0).normal(size=(20_000, 20))
    layers = layers_of(20, 300, 300, 20)
    return partial(
        pf.symmetry.flatness, layers, X, np.zeros(len(X), dtype=int), loss="cross_entropy", max_seconds=max_seconds
    )


def truncation(max_seconds: float | None) -> Call:
    return partial(pf.layers.truncation, layers_of(60, 900, 800, 700, 10), lift=True, max_seconds=max_seconds)


def cell_counts(max_seconds: float | None) -> Call:
    long = recording(3, 80, 80, 1, snapshots=400)
    return partial(pf.training.cell_counts, long, pf.box(-3, 3), max_seconds=max_seconds)


def boundary_movement(max_seconds: float | None) -> Call:
    return partial(pf.training.boundary_movement, recording(2, 60, 60, 2), pf.box(-3, 3), max_seconds=max_seconds)


def map_drift(max_seconds: float | None) -> Call:
    X = np.random.default_rng(0).normal(size=(3000, 50))
    return partial(pf.training.map_drift, recording(50, 300, 300, 2), X, max_seconds=max_seconds)


def movie(max_seconds: float | None) -> Call:
    out = Path(mkdtemp()) / "movie.html"
    return partial(
        pf.training.movie, recording(2, 40, 40, 2, snapshots=1200), pf.box(-3, 3), out=out, max_seconds=max_seconds
    )


CASES: dict[str, Callable[[float | None], Call]] = {
    "maps.matrices": matrices,
    "maps.cluster": cluster,
    "maps.cluster_curve": cluster_curve,
    "maps.transfer": transfer,
    "maps.transfer_table": transfer_table,
    "maps.similarity": similarity,
    "maps.dual_space": dual_space,
    "maps.facet_jumps": facet_jumps,
    "explain.shapley": shapley,
    "explain.integrated_gradients": integrated_gradients,
    "symmetry.distance": distance,
    "symmetry.normal_form": normal_form,
    "symmetry.path_norm": path_norm,
    "symmetry.flatness": flatness,
    "layers.truncation": truncation,
    "training.cell_counts": cell_counts,
    "training.boundary_movement": boundary_movement,
    "training.map_drift": map_drift,
    "training.movie": movie,
}
