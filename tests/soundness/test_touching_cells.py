"""pf.local(..., ties="all"): the maps of all cells that touch an input, and of no others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from polyfold.datasets.convolutional import mnist_conv
from polyfold.network.ops.switches import Largest
from polyfold.network.read.builder import Builder
from soundness.plain import evaluate

Array = npt.NDArray[np.float64]
Layers = Sequence[tuple[Array, Array]]
Jacobian = tuple[tuple[Fraction, ...], ...]


def jacobian_next_to(layers: Layers, x: Sequence[float], direction: Sequence[float]) -> Jacobian | None:
    """The Jacobian of a ReLU network a short step from x, in fractions; None if the step leads along a wall.

    A value is followed with its slope in the direction, and with its gradient.
    """
    size = len(x)
    values = [
        (Fraction(v), Fraction(w), tuple(Fraction(int(k == j)) for j in range(size)))
        for k, (v, w) in enumerate(zip(x, direction, strict=True))
    ]
    for number, (weight, bias) in enumerate(layers):
        values = [
            (
                sum((Fraction(w) * v[0] for w, v in zip(row, values, strict=True)), Fraction(b)),
                sum((Fraction(w) * v[1] for w, v in zip(row, values, strict=True)), Fraction(0)),
                tuple(
                    sum((Fraction(w) * v[2][j] for w, v in zip(row, values, strict=True)), Fraction(0))
                    for j in range(size)
                ),
            )
            for row, b in zip(weight.tolist(), bias.tolist(), strict=True)
        ]
        if number == len(layers) - 1:
            return tuple(gradient for _, _, gradient in values)
        if any(value == slope == 0 and any(gradient) for value, slope, gradient in values):
            return None
        nothing = (Fraction(0), Fraction(0), (Fraction(0),) * size)
        values = [v if (v[0] or v[1]) > 0 else nothing for v in values]
    raise AssertionError("a network has an output")


def degenerate_layers(rng: np.random.Generator, dim: int) -> Layers:
    sizes = [dim, int(rng.integers(2, 5)), int(rng.integers(1, 4)), 2]
    return [
        (rng.integers(-2, 3, (after, before)).astype(float), rng.integers(-1, 2, after).astype(float))
        for before, after in pairwise(sizes)
    ]


@pytest.mark.parametrize("seed", range(25))
def test_against_many_directions(seed: int) -> None:
    """Whatever a step in some direction leads to is listed, and what is listed is where its direction leads."""
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(1, 4))
    layers = degenerate_layers(rng, dim)
    X = rng.integers(-1, 2, (4, dim)).astype(float)
    found = pf.local(layers, X, ties="all")
    assert found.complete
    for x, cells in zip(X.tolist(), found.touching or (), strict=True):
        listed = {jacobian(A) for A in cells.A}
        ways = rng.integers(-9, 10, (40, dim)).tolist()
        assert {seen for way in ways if (seen := jacobian_next_to(layers, x, way)) is not None} <= listed
        if len(cells) > 1:
            for A, way in zip(cells.A, cells.directions.tolist(), strict=True):
                assert jacobian_next_to(layers, x, way) == jacobian(A)


@pytest.mark.parametrize("seed", range(20))
def test_behind_several_layers_of_ties(seed: int) -> None:
    """A gate that is zero where earlier ones tie may be zero all around, or on some sides only."""
    rng = np.random.default_rng(300 + seed)
    dim = int(rng.integers(1, 3))
    sizes = [dim, *rng.integers(1, 4, size=3).tolist(), 1]
    layers = [
        (rng.integers(-2, 3, (after, before)).astype(float), rng.integers(-1, 1, after).astype(float))
        for before, after in pairwise(sizes)
    ]
    X = rng.integers(-1, 2, (4, dim)).astype(float)
    found = pf.local(layers, X, ties="all")
    assert found.complete and not any(map(len, found.undecided))
    for i, (x, cells) in enumerate(zip(X.tolist(), found.touching or (), strict=True)):
        ways = [[Fraction(way) for way in row] for row in rng.integers(-9, 10, (60, dim)).tolist() if any(row)]
        listed = {jacobian(A) for A in cells.A}
        assert {seen for way in ways if (seen := jacobian_next_to(layers, x, way)) is not None} <= listed
        still = set(found.vanishing[i].tolist())
        for way in ways:
            near = [a + b / 2**60 for a, b in zip(map(Fraction, x), way, strict=True)]
            _, values = evaluate([(W.tolist(), b.tolist()) for W, b in layers], near)
            assert not still & {gate for gate, value in enumerate(values) if value}


def jacobian(A: Array) -> Jacobian:
    return tuple(tuple(map(Fraction, row)) for row in A.tolist())


@pytest.mark.parametrize("seed", range(12))
def test_against_the_atlas(seed: int) -> None:
    """In a box, whose sides an input may lie on: the cells with the input in their closure."""
    rng = np.random.default_rng(100 + seed)
    dim = int(rng.integers(1, 4))
    layers, box = degenerate_layers(rng, dim), pf.box(-1, 1)
    atlas = pf.unfold(layers, box)
    X = rng.integers(-1, 2, (4, dim)).astype(float)
    for x, cells in zip(X, pf.local(layers, X, domain=box, ties="all").touching or (), strict=True):
        closed = [(A @ x <= b).all() for A, b in (atlas.halfspaces()[k] for k in range(len(atlas)))]
        assert sorted(cells.signs.tolist()) == sorted(atlas.signs()[closed].tolist())
        assert cells.signs.tolist() == sorted(cells.signs.tolist())


def test_absolute_value_is_thin_at_zero() -> None:
    """relu(x) + relu(-x): no input but 0 has both gates off, and the map there, 0, is that of no cell."""
    absolute = [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    maps = pf.local(absolute, [[0.0], [3.0]])
    assert maps.thin == (True, False) and maps.A.ravel().tolist() == [0.0, 1.0]
    assert "1 thin" in repr(maps)
    cells = maps.touching_cells(0)
    assert cells.complete and cells.A.ravel().tolist() == [-1.0, 1.0]
    assert pf.maps.of_pattern(absolute, maps.signs[0]).status == "thin"


def test_corner_of_quadrants() -> None:
    for dim in range(1, 6):
        corner = [(np.eye(dim), np.zeros(dim)), (np.ones((1, dim)), np.zeros(1))]
        maps = pf.local(corner, np.zeros((1, dim)), ties="all")
        assert maps.complete and maps.thin == (False,) and maps.touching is not None
        assert len(maps.touching[0]) == maps.touching[0].different_maps == 2**dim


def test_largest_of_three_where_all_are_equal() -> None:
    builder = Builder("test")
    pool = builder.emit("pool", Largest(np.array([[0, 1, 2]])), builder.port("x", (3,)))
    network = builder.finish([pool])
    cells = pf.local(network, np.ones((1, 3))).touching_cells(0)
    assert {tuple(A[0]) for A in cells.A.tolist()} == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)}


def test_limits_are_kept_and_said() -> None:
    dim = 30
    corner = [(np.eye(dim), np.zeros(dim)), (np.ones((1, dim)), np.zeros(1))]
    maps = pf.local(corner, np.zeros((1, dim)), ties="all", max_touching=7)
    assert maps.touching is not None and len(maps.touching[0]) == 7
    assert not maps.complete and maps.touching[0].stopped_by == "max_cells" and "not all" in repr(maps)
    started = time.perf_counter()
    cells = pf.local(corner, np.zeros((1, dim))).touching_cells(0, max_cells=None, max_seconds=0.5)
    assert cells.stopped_by == "max_seconds" and 0 < len(cells) < 2**dim
    assert time.perf_counter() - started < 20
    with pytest.raises(pf.PolyfoldError, match="ties must be 'one' or 'all', got 'some'"):
        pf.local(corner, np.zeros((1, dim)), ties="some")
    with pytest.raises(pf.PolyfoldError, match="max_touching=0"):
        pf.local(corner, np.zeros((1, dim)), max_touching=0)


def test_thousands_of_ties() -> None:
    """A picture with a black border: some cells, each proved, and no claim that these are all."""
    picture = np.zeros((1, 1, 28, 28))
    picture[..., 8:20, 8:20] = np.random.default_rng(0).integers(0, 17, size=(12, 12)) / 16
    network = mnist_conv()
    maps = pf.local(network, picture, domain=pf.box(0, 1), ties="all", max_touching=3)
    assert maps.touching is not None
    (cells,) = maps.touching
    assert len(cells) == 3 and not cells.complete and maps.thin == (None,)
    # A short step into each of them is one into its map.
    flat = picture.reshape(1, -1)
    for A, c, way in zip(cells.A, cells.c, cells.directions, strict=True):
        near = flat + 2.0**-20 * way
        assert np.abs(network(near)[0] - A @ near[0] - c).max() < 1e-13
