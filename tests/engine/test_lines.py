"""One dimension: many walls on a line, in any order along it, deep or not, some of them in one point."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from polyfold.engine.unfold import unfold_program

Layers = list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]

ORDERS = ("sorted", "reversed", "random")
MANY = 150  # more than the walk looks at one by one


def knots(count: int, order: str, *, turned: bool = False) -> Layers:
    """A layer whose gate i bends at the i-th of so many places; some of them turned round."""
    rng = np.random.default_rng(0)
    places = np.sort(rng.uniform(-1, 1, count))
    if order != "sorted":
        places = places[::-1] if order == "reversed" else rng.permutation(places)
    slopes = rng.choice([-1.0, 1.0], count) if turned else np.ones(count)
    return [(slopes[:, None], -slopes * places), (np.ones((1, count)), np.zeros(1))]


def on_small_numbers(widths: tuple[int, ...], seed: int) -> Layers:
    """Many gates of a layer bend in one point, some nowhere, and some vanish on whole cells."""
    rng = np.random.default_rng(seed)
    return [
        (rng.integers(-2, 3, (b, a)).astype(float), rng.integers(-3, 4, b).astype(float)) for a, b in pairwise(widths)
    ]


def patterns_by_hand(layers: Layers, low: float, high: float) -> npt.NDArray[np.bool_]:
    """Those of a single layer between neighbouring places, in the order of the walk."""
    (W, b), _ = layers
    places = np.sort(-b / W[:, 0])
    ends = np.array([low, *places[(places > low) & (places < high)], high])
    found = (ends[:-1, None] + ends[1:, None]) / 2 * W[:, 0] + b > 0
    return found[np.lexsort(found.T[::-1])]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (-0.5, 0.6), (None, None)])
def test_any_order_of_walls(order: str, turned: bool, low: float | None, high: float | None) -> None:
    layers = knots(MANY, order, turned=turned)
    domain = None if low is None or high is None else pf.box(low, high)
    atlas = pf.unfold(layers, domain)
    np.testing.assert_array_equal(atlas.signs(), patterns_by_hand(layers, low or -2.0, high or 2.0))
    assert atlas.certificate.level == "checked"
    assert atlas.certificate.complete
    counted = pf.count(layers, domain)
    assert counted.cells == len(atlas)
    assert counted.f_vector == atlas.f_vector() == (len(atlas) + (1 if domain else -1), len(atlas))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("domain", [pf.box(-4, 4), None], ids=["box", "line"])
def test_walls_that_meet(seed: int, domain: pf.Domain | None) -> None:
    layers = on_small_numbers((1, MANY, 1), seed)
    atlas = pf.unfold(layers, domain)
    W, b = layers[0]
    places = {Fraction(-int(y), int(a)) for a, y in zip(W[:, 0], b, strict=True) if a}
    inner = sorted(place for place in places if domain is None or -4 < place < 4)
    assert len(atlas) == pf.count(layers, domain).cells == len(inner) + 1
    assert atlas.certificate.level == "checked"
    # Every wall is on the facet where it bends the network, and on no other.
    for facet in range(len(atlas.facet_wall)):
        bends = {Fraction(-int(b[gate]), int(W[gate, 0])) for gate in atlas.walls(facet) if gate < MANY}
        assert len(bends) == 1 or (not bends and atlas.neighbour[facet] < 0)
        where = bends.pop() if bends else None
        if where is not None and atlas.neighbour[facet] >= 0:
            assert set(atlas.walls(facet)) == {g for g in range(MANY) if W[g, 0] and W[g, 0] * where + b[g] == 0}
    assert pf.certify(atlas).level == "certified"


@pytest.mark.parametrize("widths", [(1, 80, 70, 1), (1, 70, 3, 90, 1), (1, 5, 100, 5, 1)])
@pytest.mark.parametrize("seed", range(2))
def test_deep_networks_beside_the_walk_by_corners(widths: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    ordinary = [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]
    for layers in (ordinary, on_small_numbers(widths, seed)):
        atlas = pf.unfold(layers, pf.box(-3, 3))
        beside = unfold_program(atlas.program, atlas.domain, by_vertices=True)
        assert sorted(map(bytes, atlas.patterns)) == sorted(map(bytes, beside.patterns))
        assert pf.count(layers, pf.box(-3, 3)).cells == len(atlas)
        assert atlas.certificate.level == "checked"


@pytest.mark.parametrize("layers", [knots(MANY, "sorted"), knots(MANY, "random"), on_small_numbers((1, 90, 80, 1), 0)])
def test_limits_threads_and_going_on(layers: Layers) -> None:
    whole = pf.unfold(layers, pf.box(-3, 3), threads=1)
    assert pf.unfold(layers, pf.box(-3, 3), threads=3).arrays_digest == whole.arrays_digest
    some = pf.unfold(layers, pf.box(-3, 3), max_cells=len(whole) // 3)
    np.testing.assert_array_equal(some.patterns, whole.patterns[: len(some)])
    while not some.complete:
        some = pf.resume(some, max_cells=20)
    assert some.arrays_digest == whole.arrays_digest


def test_a_selection_of_cells() -> None:
    layers = knots(MANY, "random", turned=True)
    atlas = pf.unfold(layers, pf.box(-2, 2))
    (W, b), _ = layers
    ends = np.sort([-2, *(-b / W[:, 0]), 2])
    lengths = np.sort(atlas.volumes())
    np.testing.assert_allclose(lengths, np.sort(np.diff(ends)), rtol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_very_many_walls(order: str) -> None:
    """Quadratic time or memory would not get there."""
    counted = pf.count(knots(200_000, order), None, max_seconds=30)
    assert (counted.cells, counted.complete) == (200_001, True)
