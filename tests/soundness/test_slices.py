"""Lines and planes through large programs, where gates nearly meet, coincide or run side by side.

Every case is judged by a counter of its own: lines in a box, or points on a line, in `fractions.Fraction`, with Euler's
formula and nothing of polyfold in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold.atlas import core_problem as problem
from polyfold.engine.method import VERTICES
from polyfold.engine.slices import exact as slice_exact
from polyfold.errors import DomainError
from soundness.plain import evaluate

# -- the judge

Line = tuple[Fraction, Fraction, Fraction]  # c + a x + b y


def cells_of_arrangement(lines: Sequence[Line], low: Fraction, high: Fraction) -> int:
    """How many parts lines make of the square [low, high]^2.

    Inside a convex set the parts are 1 + the lines that meet it + for every inner point on k lines, k - 1.
    """
    met = [line for line in distinct(lines) if crosses(line, low, high)]
    through: dict[tuple[Fraction, Fraction], set[Line]] = {}
    for one, other in combinations(met, 2):
        point = meeting(one, other)
        if point is not None and all(low < x < high for x in point):
            through.setdefault(point, set()).update({one, other})
    return 1 + len(met) + sum(len(lines) - 1 for lines in through.values())


def distinct(lines: Sequence[Line]) -> list[Line]:
    """Lines that are the same once their first slope is one; without constants."""
    found = {tuple(x / (line[1] or line[2]) for x in line) for line in lines if line[1] or line[2]}
    return [(c, a, b) for c, a, b in found]


def crosses(line: Line, low: Fraction, high: Fraction) -> bool:
    c, a, b = line
    values = [c + a * x + b * y for x in (low, high) for y in (low, high)]
    return min(values) < 0 < max(values)


def meeting(one: Line, other: Line) -> tuple[Fraction, Fraction] | None:
    (p, a, b), (q, c, d) = one, other
    determinant = a * d - b * c
    return None if not determinant else ((b * q - d * p) / determinant, (c * p - a * q) / determinant)


def cells_on_a_line(gates: Sequence[tuple[Fraction, Fraction]], low: Fraction, high: Fraction) -> int:
    return 1 + len({-c / a for c, a in gates if a and low < -c / a < high})


# -- the cases


@dataclass(frozen=True)
class Gates:
    """c + a x + b y for every gate: floats, meant as they stand."""

    kind: str
    c: np.ndarray
    ab: np.ndarray


KINDS = ("concurrent", "nearly concurrent", "coincident", "parallel", "along an edge", "mixed")


def gates(seed: int) -> Gates:
    """Three to six gates through or near one point of the grid, with whole slopes, moved by 2^-20 ... 2^-60."""
    rng = np.random.default_rng(seed)
    kind, count = KINDS[seed % len(KINDS)], int(rng.integers(3, 7))
    ab = rng.integers(-3, 4, size=(count, 2)).astype(float)
    ab[(ab == 0).all(axis=1)] = (1.0, 2.0)
    x, y = rng.integers(-2, 3, size=2) / 4
    c = -(ab @ np.array([x, y]))
    tiny = np.ldexp(rng.choice([-1.0, 1.0], size=count), -rng.integers(20, 61, size=count))
    if kind == "nearly concurrent":
        c = c + tiny * (c == 0)
        ab[c == 0] += tiny[c == 0, None]
    elif kind == "coincident":
        ab[1], c[1] = 2 * ab[0], 2 * c[0]
        ab[2], c[2] = -ab[0] / 4, -c[0] / 4
    elif kind == "parallel":
        ab[0], c[0] = (1.0, 0.0), 0.0
        ab[1], c[1] = (1.0, 0.0), tiny[1]
        ab[2], c[2] = (1.0, tiny[2]), 0.0
    elif kind == "along an edge":
        ab[0], c[0] = (1.0, 0.0), -1.0
        ab[1], c[1] = (1.0, 0.0), -1.0 + abs(tiny[1]) * (abs(tiny[1]) > 2.0**-53)
        ab[2], c[2] = (1.0, 1.0), -2.0
    elif kind == "mixed":
        ab = ab + tiny[:, None] * rng.integers(0, 2, size=(count, 2))
        c = c * rng.choice([1.0, 1 + 2.0**-40], size=count)
    factor = float(2.0 ** int(rng.choice([0, 0, 200, -200])))
    return Gates(kind, c * factor, ab * factor)


def dense(given: Gates, width: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The gates behind a first layer that passes its inputs on, moved by 2, so that it is on everywhere."""
    weights = np.zeros((len(given.c), width))
    weights[:, :2], weights[:, 2], weights[:, 3] = given.ab, given.c, -2 * given.ab.sum(axis=1)
    moved = np.array([2.0, 2.0, 1.0, 1.0, *np.full(width - 4, 2.0)])
    return [
        (np.eye(width), moved),
        (weights, np.zeros(len(given.c))),
        (np.ones((1, len(given.c))), np.zeros(1)),
    ]


def lines_of(given: Gates) -> list[Line]:
    """The gates that these layers make: what is rounded in their weights is part of them."""
    rows = [[Fraction(w) for w in row] for row in dense(given, 4)[1][0].tolist()]
    return [(2 * (a + b) + c + d, a, b) for a, b, c, d in rows]


def plane(width: int) -> pf.Domain:
    basis = np.zeros((width, 2))
    basis[0, 0] = basis[1, 1] = 1.0
    return pf.slice_of(np.zeros(width), basis, bounds=pf.box(-1, 1))


def line(width: int, start: Sequence[float], direction: Sequence[float]) -> pf.Domain:
    origin, basis = np.zeros(width), np.zeros((width, 1))
    origin[:2], basis[:2, 0] = start, direction
    return pf.slice_of(origin, basis, bounds=pf.box(-1, 1))


def assert_proved(network: object, domain: object, expected: int, case: object) -> None:
    counted = pf.count(network, domain)
    assert counted.method == VERTICES, case
    assert (counted.cells, counted.complete, counted.certificate.level) == (expected, True, "checked"), case
    atlas = pf.unfold(network, domain)
    assert (len(atlas), atlas.certificate.level) == (expected, "checked"), (case, atlas.certificate)


@pytest.fixture
def as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program counts as too large for the core."""
    monkeypatch.setattr(problem, "_MOST_NUMBERS", -1)


# -- the tests

CASES, BATCH = 240, 20


@pytest.mark.usefixtures("as_if_large")
@pytest.mark.parametrize("batch", quick_then_slow(range(CASES // BATCH), quick=5))
def test_planes(batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        given = gates(seed)
        expected = cells_of_arrangement(lines_of(given), Fraction(-1), Fraction(1))
        assert_proved(dense(given, 4), plane(4), expected, (seed, given))


@pytest.mark.usefixtures("as_if_large")
@pytest.mark.parametrize("batch", quick_then_slow(range(CASES // BATCH // 2), quick=3))
def test_lines(batch: int) -> None:
    """Through the point near which the gates of a case meet, so that they meet the line near one point as well."""
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        given, rng = gates(seed), np.random.default_rng(seed)
        start, direction = rng.integers(-2, 3, size=2) / 4, rng.integers(1, 4, size=2) / 2
        (p, q), (v, w) = ([Fraction(x) for x in each.tolist()] for each in (start, direction))
        on_it = [(c + a * p + b * q, a * v + b * w) for c, a, b in lines_of(given)]
        expected = cells_on_a_line(on_it, Fraction(-1), Fraction(1))
        assert_proved(dense(given, 4), line(4, start, direction), expected, (seed, given))


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_planes_through_programs_that_are_large(seed: int) -> None:
    given = gates(seed)
    expected = cells_of_arrangement(lines_of(given), Fraction(-1), Fraction(1))
    assert_proved(dense(given, 1100), plane(1100), expected, (seed, given))


def test_three_gates_that_nearly_meet() -> None:
    """x, y and x + y - 2^-36: seven cells, one of them a triangle 1.5e-11 wide."""
    weights, c = np.zeros((3, 1100)), np.array([0.0, 0.0, -(2.0**-36)])
    weights[:, :2] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    network = [
        (np.eye(1100), np.full(1100, 128.0)),
        (weights, c - 128 * weights.sum(axis=1)),
        (np.ones((1, 3)), np.zeros(1)),
    ]
    domain = pf.slice_of(np.zeros(1100), np.eye(1100)[:, :2], bounds=pf.box(-100, 100))
    assert_proved(network, domain, 7, "three gates")
    triangle = pf.unfold(network, domain)
    assert len(triangle.exact_witnesses) == 1


@pytest.mark.usefixtures("as_if_large")
def test_points_that_floats_cannot_place() -> None:
    """Nearer to walls than floats can tell: each point is found in the first cell that it lies in or touches."""
    step = 2.0**-50
    network = [
        (np.array([[0.1, 0.0], [0.0, 0.3], [0.1, 0.3]]), np.array([-0.01, -0.03, -0.04])),
        (np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]), np.zeros(2)),
        (np.ones((1, 2)), np.zeros(1)),
    ]
    atlas = pf.unfold(network, pf.slice_of(np.zeros(2), np.eye(2), bounds=pf.box(-1, 1)))
    points = [[0.1 + i * step, 0.1 + k * step] for i in range(-2, 3) for k in range(-2, 3)]
    signs = atlas.signs()
    strict = 0
    for cell, point in zip(atlas.locate(points).tolist(), points, strict=True):
        _, values = evaluate([(W.tolist(), b.tolist()) for W, b in network], point)
        touching = [all(v == 0 or (v > 0) == on for v, on in zip(values, row, strict=True)) for row in signs.tolist()]
        assert signs[cell].tolist() == min(signs[touching].tolist()), (point, list(map(float, values)))
        strict += all(values)
    assert strict


@pytest.mark.usefixtures("as_if_large")
def test_what_stays_open_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without exact numbers nearly concurrent gates cannot be told apart: no number is called checked then."""
    monkeypatch.setattr(slice_exact, "_PRODUCTS", 0)
    monkeypatch.setattr(slice_exact, "_BYTES", 0)
    wrong = 0
    for seed in range(len(KINDS) * 5):
        given = gates(seed)
        expected = cells_of_arrangement(lines_of(given), Fraction(-1), Fraction(1))
        counted, atlas = pf.count(dense(given, 4), plane(4)), pf.unfold(dense(given, 4), plane(4))
        for found, cells in ((counted, counted.cells), (atlas, len(atlas))):
            assert cells == expected or found.certificate.level == "counted", (seed, given)
            assert found.certificate.level == "checked" or found.certificate.failed_checks, (seed, given)
        wrong += counted.cells != expected
    assert wrong


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 30))])
def test_planes_through_convolutions(seed: int) -> None:
    """A pixel that varies is seen by nine windows, in two channels: so many gates are multiples of each other."""
    torch = pytest.importorskip("torch")
    given, rng, side = gates(seed), np.random.default_rng(seed), 34
    kernel = rng.integers(-4, 5, size=(2, 1, 3, 3)) / 8
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, bias=False), torch.nn.ReLU(), torch.nn.Flatten())
    model.append(torch.nn.Linear(2 * (side - 2) ** 2, 1))
    model.double()[0].weight.data = torch.tensor(kernel)
    origin, basis = np.zeros((side, side)), np.zeros((side, side, 2))
    for k, (c, ab) in enumerate(zip(given.c, given.ab, strict=True)):
        origin[5 * k + 2, 5 * k + 2], basis[5 * k + 2, 5 * k + 2] = c, ab
    lines = [tuple(map(Fraction, (c, *ab))) for c, ab in zip(given.c.tolist(), given.ab.tolist(), strict=True)]
    expected = cells_of_arrangement(lines, Fraction(-1), Fraction(1))
    domain = pf.slice_of(origin.ravel(), basis.reshape(-1, 2), bounds=pf.box(-1, 1))
    network = pf.load(model, input_shape=(1, side, side))
    if all(a * q == b * p for (_, a, b), (_, p, q) in combinations(lines, 2)):
        with pytest.raises(DomainError, match="flat"):
            pf.count(network, domain)
    else:
        assert_proved(network, domain, expected, (seed, given))
