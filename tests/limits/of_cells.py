"""Questions of the engine and the atlas on inputs that take well over ten seconds: by name, as calls with a limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

import polyfold as pf

Layers = list[tuple[Any, Any]]


def layers(*widths: int, seed: int = 0) -> Layers:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in pairwise(widths)]


def without_bias(*widths: int) -> Layers:
    return [(weight, np.zeros(len(weight))) for weight, _ in layers(*widths)]


def whole_numbers(*widths: int, seed: int = 0) -> Layers:
    """Small whole numbers: walls meet in points where floats cannot tell them apart."""
    rng = np.random.default_rng(seed)
    return [
        (rng.integers(-2, 3, size=(n, m)).astype(float), rng.integers(-1, 2, size=n).astype(float))
        for m, n in pairwise(widths)
    ]


ENDLESS = layers(6, 60, 60, 1)


@cache
def part() -> pf.Atlas:
    return pf.unfold(ENDLESS, pf.box(-1, 1), max_cells=1000)


@cache
def many_cells() -> pf.Atlas:
    """Some 450,000 cells of six dimensions, with hundreds of corners each: found in a moment."""
    return pf.unfold(layers(6, 16, 14, 2), pf.box(-3, 3))


@cache
def degenerate() -> pf.Atlas:
    return pf.unfold(whole_numbers(4, 18, 14, 1), pf.box(-1, 1))


def on_walls() -> tuple[Layers, Any]:
    """Inputs where every gate of the first layer is zero: each has to be settled in exact numbers."""
    return without_bias(8, 120, 120, 1), np.zeros((20_000, 8))


def thin() -> tuple[Layers, Any]:
    """A pattern that holds at zero only: no point inside, and exact numbers have to prove that."""
    return without_bias(40, 300, 100, 1), np.zeros(400, dtype=bool)


# Each makes the call, with `max_seconds` and whatever else is given.
CASES: dict[str, Callable[..., Any]] = {
    "unfold": lambda **options: pf.unfold(ENDLESS, pf.box(-1, 1), **options),
    "count": lambda **options: pf.count(ENDLESS, pf.box(-1, 1), **options),
    "resume": lambda **options: pf.resume(part(), **options),
    "explore": lambda **options: pf.explore(ENDLESS, np.zeros(6), **options),
    "local": lambda **options: pf.local(*on_walls(), **options),
    "check": lambda **options: pf.check(many_cells(), **options),
    "certify": lambda **options: pf.certify(degenerate(), **options),
    "maps.of_pattern": lambda **options: pf.maps.of_pattern(*thin(), **options),
}
