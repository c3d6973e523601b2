"""What the tests hold Shapley values against: the definition, written out in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def by_definition(f: Callable[[list[Any]], list[Any]], x: Sequence[Any], reference: Sequence[Any]) -> list[list[Any]]:
    """phi[i][k]: the sum over all coalitions z with i of (|z| - 1)! (n - |z|)! / n! [f(z) - f(z without i)]."""
    n = len(x)
    known: dict[frozenset[int], list[Any]] = {}

    def at(z: frozenset[int]) -> list[Any]:
        if z not in known:
            known[z] = f([x[j] if j in z else reference[j] for j in range(n)])
        return known[z]

    phi = []
    for i in range(n):
        total: list[Any] = [0] * len(at(frozenset()))
        for size in range(1, n + 1):
            weight = Fraction(factorial(size - 1) * factorial(n - size), factorial(n))
            for z in combinations(range(n), size):
                if i in z:
                    gained = zip(at(frozenset(z)), at(frozenset(z) - {i}), strict=True)
                    total = [old + weight * (a - b) for old, (a, b) in zip(total, gained, strict=True)]
        phi.append(total)
    return phi


def in_fractions(layers: Sequence[tuple[Any, Any]]) -> Callable[[list[Fraction]], list[Fraction]]:
    """A plain ReLU network in exact arithmetic."""
    exact = [
        ([[Fraction(w) for w in row] for row in np.asarray(W).tolist()], [Fraction(b) for b in np.asarray(c).tolist()])
        for W, c in layers
    ]

    def run(values: list[Fraction]) -> list[Fraction]:
        for number, (W, c) in enumerate(exact):
            values = [sum((w * v for w, v in zip(row, values, strict=True)), b) for row, b in zip(W, c, strict=True)]
            if number < len(exact) - 1:
                values = [max(v, Fraction(0)) for v in values]
        return values

    return run


def exact_values(layers: Sequence[tuple[Any, Any]], x: Array, reference: Array) -> Array:
    """The definition in fractions, as floats."""
    points = ([Fraction(v) for v in point.tolist()] for point in (x, reference))
    return np.array([[float(v) for v in row] for row in by_definition(in_fractions(layers), *points)])


def by_all_hybrids(f: Callable[[Array], Array], x: Array, reference: Array) -> Array:
    """The same in floats, over all hybrids at once: for as many as 14 features."""
    n = len(x)
    masks = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    outputs, sizes = f(np.where(masks, x, reference)), masks.sum(axis=1)
    phi = np.empty((n, outputs.shape[1]))
    for i in range(n):
        inside = np.flatnonzero(masks[:, i])
        weights = np.array([factorial(s - 1) * factorial(n - s) / factorial(n) for s in sizes[inside].tolist()])
        phi[i] = weights @ (outputs[inside] - outputs[inside ^ (1 << i)])
    return phi


def layers_of(rng: np.random.Generator, *widths: int) -> list[tuple[Array, Array]]:
    """A random network."""
    return [(rng.normal(size=(b, a)) / np.sqrt(a), rng.normal(size=b)) for a, b in pairwise(widths)]
