"""Calls that take well over ten seconds without a limit: by the name of the question, a function that makes each."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import polyfold as pf

Case = Callable[..., Any]


def dense(seed: int, *widths: int, scale: float = 1.0) -> list[Any]:
    """Random layers."""
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)) * scale, rng.normal(size=m)) for n, m in pairwise(widths)]


def nearly(layers: list[Any], seed: int, by: float) -> list[Any]:
    """The same layers with a little noise."""
    rng = np.random.default_rng(seed)
    return [(W + by * rng.normal(size=W.shape), b) for W, b in layers]


def rings(count: int, dim: int) -> tuple[Any, Any]:
    """Two classes on spheres that no few half-spaces tell apart, though that takes long to see."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(count, dim))
    points /= np.linalg.norm(points, axis=1)[:, None]
    y = np.arange(count) % 2
    return points * (1 + 0.05 * y)[:, None], y


def many_classes(count: int, each: int, dim: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    means = rng.normal(size=(count, dim))
    X = np.concatenate([mean + 0.9 * rng.normal(size=(each, dim)) for mean in means])
    return X, np.repeat(np.arange(count), each)


def _equivalent(**options: Any) -> Any:
    layers = dense(0, 6, 40, 40, 1)
    return pf.equivalent(layers, nearly(layers, 1, 1e-9), pf.box(-1, 1), tolerance=1e-12, **options)


def _canonical(**options: Any) -> Any:
    return pf.compare.canonical(dense(0, 3, 60, 30, 1), pf.box(-1, 1), max_chains=None, **options)


def _match(**options: Any) -> Any:
    layers = dense(0, 300, 2000, 40)
    order = np.random.default_rng(1).permutation(2000)
    (W, b), (V, c) = layers
    return pf.compare.match(layers, [(W[order], b[order]), (V[:, order], c)], **options)


def _stability(**options: Any) -> Any:
    return pf.rewrite.stability(dense(0, 12, 60, 60, 60, 1), pf.box(-1, 1), **options)


def _reduce(**options: Any) -> Any:
    return pf.reduce(dense(0, 12, 60, 60, 60, 1), pf.box(-0.3, 0.3), **options)


def _irreducible(**options: Any) -> Any:
    """Which of many walls miss a polytope, in rationals."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(60, 10))
    return pf.rewrite.irreducible(dense(0, 10, 400, 1), pf.polytope(rows, np.ones(60)), **options)


def _identifiable(**options: Any) -> Any:
    """Which of many neurons add up to a constant."""
    return pf.rewrite.identifiable(dense(0, 300, 2000, 10), **options)


def _shallow(**options: Any) -> Any:
    return pf.rewrite.shallow(dense(0, 5, 60, 60, 1), pf.box(-1, 1), **options)


_EDITED: list[Any] = []


def _edit(**options: Any) -> Any:
    if not _EDITED:
        _EDITED.append(pf.rewrite.shallow(dense(0, 3, 40, 20, 1), pf.box(-1, 1)))
    (shallow,) = _EDITED
    zero = (np.zeros((1, 3)), np.zeros(1))
    return pf.rewrite.edit(shallow, region=np.arange(0, len(shallow), 2), map=zero, **options)


def _clustered(**options: Any) -> Any:
    rng = np.random.default_rng(0)
    return pf.separation.clustered(rng.normal(size=(20_000, 300)), np.arange(20_000) % 50, **options)


def _sequential(**options: Any) -> Any:
    return pf.separation.sequential(*many_classes(40, 600, 30), **options)


def _cone(**options: Any) -> Any:
    return pf.separation.cone(*rings(400, 8), **options)


def _simplex(**options: Any) -> Any:
    return pf.separation.simplex(*rings(400, 8), **options)


def _interpolate(**options: Any) -> Any:
    return pf.separation.interpolate(*rings(400, 8), **options)


def _costs(question: Case, **options: Any) -> Any:
    layers = [*dense(0, *[600] * 12), *dense(1, 600, 2)]
    rng = np.random.default_rng(0)
    return question(layers, rng.normal(size=(1000, 600)), np.arange(1000) % 2, **options)


CASES: dict[str, Case] = {
    "compare.equivalent": _equivalent,
    "compare.canonical": _canonical,
    "compare.match": _match,
    "rewrite.stability": _stability,
    "rewrite.reduce": _reduce,
    "rewrite.irreducible": _irreducible,
    "rewrite.identifiable": _identifiable,
    "rewrite.shallow": _shallow,
    "rewrite.edit": _edit,
    "separation.clustered": _clustered,
    "separation.sequential": _sequential,
    "separation.cone": _cone,
    "separation.simplex": _simplex,
    "separation.interpolate": _interpolate,
    "separation.cost_bound": lambda **options: _costs(pf.separation.cost_bound, **options),
    "separation.cost_decomposition": lambda **options: _costs(pf.separation.cost_decomposition, **options),
}
