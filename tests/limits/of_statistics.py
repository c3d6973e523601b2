"""Calls of `size`, `stats`, `topology`, `graph`, `regions` and `summarise` that take well over ten seconds.

Each is given a limit. What is slow is the question itself wherever that can be: cells in six dimensions have hundreds
of vertices. Where the question is quick, it is the unfolding before it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

import polyfold as pf
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program

Case = Callable[[float | None], Any]


def layers(*widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in pairwise(widths)]


@cache
def solid() -> pf.Atlas:
    """Some 80,000 cells in six dimensions: found in a moment, measured in minutes."""
    return pf.unfold(layers(6, 12, 10, 2), pf.box(-3, 3))


@cache
def larger() -> pf.Atlas:
    return pf.unfold(layers(6, 16, 14, 2), pf.box(-3, 3))


@cache
def classes() -> pf.stats.Classes:
    return pf.stats.classes(solid())


@cache
def graph() -> pf.graph.DualGraph:
    """Some 300,000 cells, from many of which one has to walk for all of the centre and the periphery."""
    return pf.graph.dual(pf.unfold(layers(4, 32, 26, 1), pf.box(-3, 3)))


@cache
def points(count: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-3, 3, size=(count, 6))


@cache
def wide() -> Program:
    """Layers so wide that sums over their binomials take long."""
    return lower(pf.load(layers(2600, 3100, 3100, 1)))


@cache
def deep() -> Program:
    """A network of many millions of cells."""
    return lower(pf.load(layers(4, 128, 128, 2)))


BOX = pf.box(-2, 2)

CASES: dict[str, Case] = {
    "regions": lambda limit: pf.regions(deep(), BOX, max_seconds=limit),
    "summarise": lambda limit: pf.summarise(solid(), points(6_000_000), max_seconds=limit),
    "size.bounds": lambda limit: pf.size.bounds(wide(), max_seconds=limit),
    "size.estimate": lambda limit: pf.size.estimate(deep(), BOX, max_seconds=limit),
    "stats.boxes": lambda limit: pf.stats.boxes(larger(), max_seconds=limit),
    "stats.class_areas": lambda limit: pf.stats.class_areas(classes(), max_seconds=limit),
    "stats.classes": lambda limit: pf.stats.classes(deep(), BOX, max_seconds=limit),
    "stats.covariance": lambda limit: pf.stats.covariance(solid(), max_seconds=limit),
    "stats.decision_boundary": lambda limit: pf.stats.decision_boundary(deep(), BOX, max_seconds=limit),
    "stats.facets": lambda limit: pf.stats.facets(deep(), BOX, max_seconds=limit),
    "stats.integral": lambda limit: pf.stats.integral(solid(), max_seconds=limit),
    "stats.lipschitz": lambda limit: pf.stats.lipschitz(deep(), BOX, max_seconds=limit),
    "stats.maximum": lambda limit: pf.stats.maximum(larger(), output=0, max_seconds=limit),
    "stats.mean": lambda limit: pf.stats.mean(solid(), max_seconds=limit),
    "stats.minimum": lambda limit: pf.stats.minimum(larger(), output=1, max_seconds=limit),
    "stats.nearest_change": lambda limit: pf.stats.nearest_change(classes(), points(2000), max_seconds=limit),
    "stats.variance": lambda limit: pf.stats.variance(solid(), max_seconds=limit),
    "topology.betti": lambda limit: pf.topology.betti(solid(), max_seconds=limit),
    "topology.boundary": lambda limit: pf.topology.boundary(classes(), max_seconds=limit),
    "topology.class_region": lambda limit: pf.topology.class_region(classes(), 0, max_seconds=limit),
    "topology.critical_points": lambda limit: pf.topology.critical_points(solid(), max_seconds=limit),
    "topology.faces": lambda limit: pf.topology.faces(solid(), max_seconds=limit),
    "topology.level_set": lambda limit: pf.topology.level_set(solid(), 0.1, max_seconds=limit),
    "topology.persistence": lambda limit: pf.topology.persistence(solid(), max_seconds=limit),
    "topology.sublevel": lambda limit: pf.topology.sublevel(solid(), 0.1, max_seconds=limit),
    "topology.superlevel": lambda limit: pf.topology.superlevel(solid(), 0.1, max_seconds=limit),
    "graph.diameter": lambda limit: pf.graph.diameter(graph(), sets=True, max_seconds=limit),
    "graph.dual": lambda limit: pf.graph.dual(deep(), BOX, max_seconds=limit),
    "graph.path": lambda limit: pf.graph.path(deep(), [-1.9] * 4, [1.9] * 4, BOX, max_seconds=limit),
}
