"""Lines and planes by vertices: against the compiled engine, against sampling, under limits, and on a real network."""

from __future__ import annotations

import gzip
import time
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from helpers.shared_files import MNIST
from helpers.slow_params import quick_then_slow
from polyfold._base.clock import Progress
from polyfold.atlas import core_problem as problem
from polyfold.datasets.convolutional import mnist_conv
from polyfold.engine import method
from polyfold.engine.slices import run as slices
from polyfold.engine.unfold import unfold_program
from polyfold.errors import DomainError, LimitError
from polyfold.program.lower.lower import lower
from polyfold.testing import Case, generated_case, wide_case

BATCH = 100
UNDECIDED = "signs at vertices are decided"


def facets_of(atlas: pf.Atlas) -> dict[bytes, set[tuple[frozenset[int], bytes | int]]]:
    """All facets by pattern, free of any order."""
    names = [row.tobytes() for row in atlas.patterns]
    return {
        names[cell]: {
            (frozenset(atlas.walls(f)), names[n] if (n := int(atlas.neighbour[f])) >= 0 else n)
            for f in atlas.facets(cell)
        }
        for cell in range(len(atlas))
    }


def random_network(widths: tuple[int, ...], seed: int) -> pf.program.Program:
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)]
    return lower(pf.load(layers))


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program counts as too large for the core."""
    monkeypatch.setattr(problem, "_MOST_NUMBERS", -1)


# -- against the compiled engine


def flat_cases(batch: int) -> list[Case]:
    seeds = range(batch * BATCH, (batch + 1) * BATCH)
    return [case for make in (generated_case, wide_case) for case in map(make, seeds) if case.domain.dim <= 2]


@pytest.mark.parametrize("batch", quick_then_slow(range(8), quick=4))
def test_generated_networks(batch: int) -> None:
    """Half of these are degenerate. Whatever is called checked is right, and what is not decided is said."""
    decided = compared = 0
    for case in flat_cases(batch):
        by_core = pf.unfold(case.program, case.domain, threads=1)
        if not by_core.bounded.all():
            with pytest.raises(LimitError, match="unbounded"):
                unfold_program(case.program, by_core.domain, by_vertices=True)
            continue
        atlas = unfold_program(case.program, by_core.domain, by_vertices=True)
        assert atlas.certificate.method == method.VERTICES and atlas.complete
        compared += 1
        if atlas.certificate.level == "checked":
            decided += 1
            assert facets_of(atlas) == facets_of(by_core), case
        else:
            assert atlas.certificate.failed_checks, case
    assert decided == compared


@pytest.mark.parametrize("floats", [1 << 10, 1 << 13, 1 << 23])
@pytest.mark.parametrize("domain", ["line", "plane"])
def test_parts_fit_together(floats: int, domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the parts are that pass the network one after another."""
    program = random_network((8, 24, 24, 12, 2), 3)
    rng = np.random.default_rng(4)
    p, q, r = rng.normal(size=(3, 8))
    where = pf.line(p, q, extend=(-3, 3)) if domain == "line" else pf.plane(p, q, r)
    monkeypatch.setattr(slices, "_BATCH_FLOATS", floats)
    atlas = unfold_program(program, where.resolve(8), by_vertices=True)
    assert atlas.certificate.level == "checked"
    by_core = pf.unfold(program, where)
    assert by_core.certificate.method == method.GENERATORS
    assert facets_of(atlas) == facets_of(by_core)
    # Whatever the parts, cells come in the order of their witnesses.
    assert (np.lexsort(atlas.witnesses.T[::-1]) == np.arange(len(atlas))).all()


def test_a_pool_behind_relus_ties_by_its_terms() -> None:
    """Two ReLUs that are both off tie in the maximum behind them: that zero is proved, since nothing adds to it."""
    pool = [(np.array([[1.0, -1.0]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))]
    layers = [(np.eye(2), np.array([-0.3, -0.4])), *pool]
    program = lower(pf.load(layers))
    atlas = unfold_program(program, pf.box(-1, 1).resolve(2), by_vertices=True)
    assert atlas.certificate.level == "checked"
    by_core = pf.unfold(program, pf.box(-1, 1))
    assert facets_of(atlas) == facets_of(by_core)
    assert len(atlas.shared_wall) == len(by_core.shared_wall) > 0


# -- lines


@pytest.mark.parametrize("seed", range(3))
def test_every_breakpoint_of_a_line(seed: int) -> None:
    program = random_network((10, 30, 20, 3), seed)
    a, b = np.random.default_rng(seed).normal(size=(2, 10))
    atlas = unfold_program(program, pf.line(a, b, extend=(-2, 2)).resolve(10), by_vertices=True)
    ends = np.sort(np.unique(np.concatenate([v.ravel() for v in atlas.vertices()]).round(12)))
    assert len(ends) == len(atlas) + 1 and (ends[0], ends[-1]) == (-2, 2)
    for low, high in pairwise(ends):
        t = np.linspace(low, high, 12)
        values, patterns = program.evaluate(a + t[:, None] * (b - a))
        straight = values[0] + (t - low)[:, None] / (high - low) * (values[-1] - values[0])
        assert np.allclose(values[1:-1], straight[1:-1], rtol=1e-9, atol=1e-9)
        assert (patterns[1:-1] == patterns[1]).all()
    # Every breakpoint is one: what lies on its two sides differs.
    assert (atlas.patterns[1:] != atlas.patterns[:-1]).any(axis=1).all()
    assert atlas.neighbour.tolist() == [-1, *(n for i in range(len(atlas) - 1) for n in (i + 1, i)), -1]


# -- what an atlas can do without the core


@pytest.mark.parametrize("domain", ["line", "plane"])
def test_geometry_without_the_core(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = random_network((6, 16, 12, 2), 8)
    p, q, r = np.random.default_rng(9).normal(size=(3, 6))
    where = pf.line(p, q, extend=(-2, 2)) if domain == "line" else pf.plane(p, q, r)
    by_core = pf.unfold(program, where)
    expected = {
        "volumes": by_core.volumes(),
        "centroids": by_core.centroids(),
        "low": by_core.bounding_boxes()[0],
        "f": by_core.f_vector(),
        "corners": [sorted(map(tuple, v.round(9).tolist())) for v in by_core.vertices()],
    }
    monkeypatch.setattr(problem, "_MOST_NUMBERS", -1)
    atlas = pf.unfold(program, where)
    assert atlas.certificate.method == method.VERTICES and atlas.certificate.level == "checked"
    assert pf.count(program, where).cells == len(atlas)
    there = by_core.index.find(atlas.patterns)
    assert np.allclose(atlas.volumes(), expected["volumes"][there], rtol=1e-7, atol=1e-12)
    assert np.allclose(atlas.centroids(), expected["centroids"][there], rtol=1e-7, atol=1e-9)
    assert np.allclose(atlas.bounding_boxes()[0], expected["low"][there], rtol=1e-7, atol=1e-9)
    corners = [sorted(map(tuple, v.round(9).tolist())) for v in atlas.vertices()]
    assert np.allclose(np.concatenate(corners), np.concatenate([expected["corners"][i] for i in there]), atol=1e-8)
    assert atlas.f_vector() == expected["f"] and atlas.euler_characteristic() == 1
    checked = pf.check(atlas)
    assert checked.level == "checked"
    assert {"maps agree across facets", "volumes add up", "Euler characteristic"} <= {c.name for c in checked.checks}
    assert (atlas.locate(atlas.witnesses) == np.arange(len(atlas))).all()
    # A corner lies in several cells; one of them is found, and its map is right there.
    vertex = atlas.vertices([0])[0]
    cells = atlas.locate(vertex[:1], outside="ignore")
    A, c = atlas.maps(cells)
    assert np.allclose(A[0] @ atlas.lift(vertex[:1])[0] + c[0], program.evaluate(atlas.lift(vertex[:1]))[0][0])
    centre, radius = atlas.chebyshev([0])
    assert radius[0] > 0 and atlas.locate(centre)[0] == 0


# -- limits


@pytest.mark.usefixtures("without_core")
def test_limits_keep_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_BATCH_FLOATS", 1 << 12)
    program = random_network((8, 24, 24, 2), 3)
    p, q, r = np.random.default_rng(4).normal(size=(3, 8))
    whole = pf.unfold(program, pf.plane(p, q, r))
    part = pf.unfold(program, pf.plane(p, q, r), max_cells=40)
    assert len(part) == 40 < len(whole) and not part.complete
    assert part.certificate.level == "counted" and part.certificate.stopped_by == "max_cells"
    assert (whole.index.find(part.patterns) >= 0).all()
    assert (part.neighbour == -2).any() and pf.check(part).failed_checks == ()
    assert pf.unfold(program, pf.plane(p, q, r), max_cells=len(whole)).complete
    seen: list[int] = []

    def interrupt(event: Progress) -> None:
        seen.append(event.done)
        if event.done >= 20:
            raise KeyboardInterrupt

    stopped = pf.unfold(program, pf.plane(p, q, r), progress=interrupt)
    assert stopped.certificate.stopped_by == "interrupt" and 20 <= len(stopped) < len(whole)
    assert seen == sorted(seen)
    assert pf.unfold(program, pf.plane(p, q, r), max_seconds=1e-9).certificate.stopped_by == "max_seconds"


@pytest.mark.usefixtures("without_core")
def test_an_unbounded_plane_of_a_large_network_is_refused() -> None:
    with pytest.raises(LimitError, match="give it bounds, as in"):
        pf.unfold(random_network((3, 4, 1), 0), pf.slice_of(np.zeros(3), np.eye(3)[:, :2]))


@pytest.mark.usefixtures("without_core")
def test_an_empty_plane_is_refused() -> None:
    far = pf.slice_of(np.full(3, 9.0), np.eye(3)[:, :2], within=pf.box(-1, 1))
    with pytest.raises(DomainError, match="is empty"):
        pf.unfold(random_network((3, 4, 1), 0), far)


def test_three_dimensions_go_the_other_way() -> None:
    program = random_network((20, 12, 8, 2), 5)
    rng = np.random.default_rng(6)
    atlas = pf.unfold(program, pf.slice_of(rng.normal(size=20), rng.normal(size=(20, 3)), bounds=pf.box(-1, 1)))
    assert atlas.certificate.method == method.GENERATORS and atlas.certificate.level == "checked"
    assert pf.check(atlas).level == "checked"


# -- a real network


def test_a_convolutional_network_between_two_pictures() -> None:
    """Pictures of noise: no two windows look alike, and every sign is decided."""
    one, other = np.random.default_rng(0).random(size=(2, 1, 28, 28))
    atlas = pf.unfold(mnist_conv(), pf.line(one, other, extend=(0.0, 0.05)))
    assert atlas.certificate.method == method.VERTICES and atlas.certificate.level == "checked"
    assert len(atlas) > 20 and not atlas.program.written_out
    ends = [np.sort(v.ravel()) for v in atlas.vertices()]
    for cell in range(0, len(atlas), 7):
        low, high = ends[cell]
        t = np.linspace(low, high, 12)[1:-1, None]
        A, c = atlas.maps([cell])
        values = atlas.program.evaluate(atlas.lift(t))[0]
        assert np.allclose(values, atlas.lift(t) @ A[0].T + c[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seconds", [0.3, 1.5])
def test_ties_everywhere_keep_to_the_time(seconds: float) -> None:
    """Around the black picture all windows see the same: nearly every sign is decided in exact numbers."""
    directions = np.random.default_rng(0).random(size=(2, 784)).round(2)
    around = pf.plane(np.zeros(784), *directions, pf.box(-0.01, 0.01))
    started = time.perf_counter()
    atlas, counted = (each(mnist_conv(), around, max_seconds=seconds) for each in (pf.unfold, pf.count))
    assert time.perf_counter() - started < 2 * seconds + 8
    assert (atlas.complete, counted.complete) == (False, False)
    assert atlas.certificate.stopped_by == counted.stopped_by == "max_seconds"
    assert atlas.certificate.level == counted.certificate.level == "counted"


def handwritten(count: int) -> np.ndarray:
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        return np.frombuffer(file.read(16 + count * 784), dtype=np.uint8, offset=16).reshape(count, 784) / 255


@pytest.mark.shared("mnist")
@pytest.mark.parametrize(
    ("extend", "least"), [((0.0, 0.1), 100), pytest.param((0.0, 1.0), 1000, marks=pytest.mark.slow)]
)
def test_the_line_between_two_digits(extend: tuple[float, float], least: int) -> None:
    """All breakpoints: the network is affine between two of them, and across each some gate switches.

    Windows that see nothing but the black border tie there, which floats cannot prove and rationals do.
    """
    network, (one, other) = mnist_conv(), handwritten(2)
    atlas = pf.unfold(network, pf.line(one, other, extend=extend))
    assert atlas.complete and atlas.certificate.level == "checked"
    assert atlas.certificate.method == method.VERTICES and len(atlas) > least
    ends = np.unique([v.ravel() for v in atlas.vertices()])
    ends = ends[np.concatenate([[True], np.diff(ends) > 1e-14])]
    assert len(ends) == len(atlas) + 1 and (ends[0], ends[-1]) == extend
    t = ends[:-1, None] + np.diff(ends)[:, None] * np.linspace(0, 1, 12)
    values = network(atlas.lift(t.reshape(-1, 1))).reshape(len(atlas), 12, 10)
    share = np.linspace(0, 1, 12)[:, None]
    straight = (1 - share) * values[:, :1] + share * values[:, -1:]
    np.testing.assert_allclose(values, straight, rtol=0, atol=1e-12 * np.abs(values).max())
    _, signs = lower(network).evaluate(atlas.lift(atlas.witnesses))
    switching = signs[np.argsort(atlas.witnesses.ravel())]
    assert (switching[1:] != switching[:-1]).any(axis=1).all()
    assert UNDECIDED not in [check.name for check in atlas.certificate.failed_checks]


@pytest.mark.shared("mnist")
@pytest.mark.parametrize(("reach", "least"), [(0.001, 20), pytest.param(0.004, 500, marks=pytest.mark.slow)])
def test_a_plane_through_three_digits(reach: float, least: int) -> None:
    p, q, r = handwritten(3)
    atlas = pf.unfold(mnist_conv(), pf.plane(p, q - p, r - p, pf.box(0, reach)))
    assert atlas.complete and atlas.certificate.level == "checked" and atlas.certificate.method == method.VERTICES
    assert len(atlas) > least
    step = max(1, min(97, len(atlas) // 5))
    assert (atlas.locate(atlas.witnesses[::step]) == np.arange(0, len(atlas), step)).all()
