"""The baselines of `make bench` count right: what they are compared by is worth nothing otherwise."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
import pytest

import polyfold as pf
from baselines import edge_subdivision, facet_vertex, sampling
from polyfold.program.lower.lower import lower

METHODS = pytest.mark.parametrize("method", [edge_subdivision, facet_vertex], ids=["edge_subdivision", "facet_vertex"])
Layers = list[tuple[np.ndarray, np.ndarray]]


def random_layers(widths: tuple[int, ...], seed: int) -> Layers:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)]


@METHODS
@pytest.mark.parametrize("widths", [(1, 4, 3, 1), (2, 6, 5, 1), (2, 4, 4, 4, 1), (3, 6, 5, 1), (4, 6, 4, 1)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_counts_agree_with_polyfold(method: object, widths: tuple[int, ...], seed: int) -> None:
    layers = random_layers(widths, seed)
    lower, upper = np.full(widths[0], -1.0), np.full(widths[0], 2.0)
    assert method.count_cells(layers, lower, upper) == len(pf.unfold(layers, pf.box(lower, upper)))


@METHODS
@pytest.mark.parametrize(("d", "n"), [(2, 7), (3, 6)])
def test_hyperplanes_in_general_position(method: object, d: int, n: int) -> None:
    """Zaslavsky's count: a box this large holds every crossing."""
    layers = random_layers((d, n, 1), 5)
    side = np.full(d, 1e4)
    assert method.count_cells(layers, -side, side) == sum(comb(n, k) for k in range(d + 1))


@METHODS
def test_a_wall_through_a_corner_is_refused(method: object) -> None:
    layers = [(np.array([[1.0, 1.0]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))]
    with pytest.raises(ValueError, match="general position"):
        method.count_cells(layers, -np.ones(2), np.ones(2))


def test_sampling_finds_the_cells_of_a_line() -> None:
    """With samples enough, and none of its own."""
    layers = random_layers((4, 10, 8, 1), 1)
    program = lower(pf.load(layers))
    line = pf.line(np.zeros(4), np.ones(4)).resolve(4)
    atlas = pf.unfold(program, line)

    def evaluate(U: np.ndarray) -> np.ndarray:
        return np.packbits(program.evaluate(line.lift(U))[1], axis=1)

    found = sampling.sample_line(evaluate, np.zeros(1), np.ones(1), 500, 1e-9)
    assert (found.cells, found.breakpoints) == (len(atlas), len(atlas) - 1)
