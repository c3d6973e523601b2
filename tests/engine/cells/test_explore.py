"""Local search: the same cells as the engine's where it may look everywhere, and honest where it may not."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold._base.clock import Progress
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import stays_structured
from polyfold.atlas.patterns import pack
from polyfold.engine import source
from polyfold.engine.cells import by_pattern, exact_cell, explore, shared_walls
from polyfold.engine.proof.check import check_witnesses
from polyfold.engine.run import Leave, watched
from polyfold.engine.unfold import unfold_program
from polyfold.errors import DomainError, LimitError, PolyfoldError, ShapeError
from polyfold.program.lower.lower import lower
from polyfold.testing import generated_case

CORNER = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]


def grid(lines: int = 8) -> list[tuple[np.ndarray, np.ndarray]]:
    """Walls x = 0, 1, 2 ... and y = 0, 1, 2 ..."""
    weight = np.repeat(np.eye(2), lines, axis=0)
    return [(weight, -np.tile(np.arange(lines, dtype=float), 2)), (np.ones((1, 2 * lines)), np.zeros(1))]


def described(atlas: Atlas) -> dict[bytes, tuple[bool, frozenset[Any]]]:
    names = [pattern.tobytes() for pattern in atlas.patterns]

    def facet(f: int) -> tuple[frozenset[int], Any]:
        behind = int(atlas.neighbour[f])
        return frozenset(atlas.walls(f)), names[behind] if behind >= 0 else behind

    return {names[k]: (bool(atlas.bounded[k]), frozenset(facet(f) for f in atlas.facets(k))) for k in range(len(atlas))}


@pytest.mark.parametrize("seed", quick_then_slow(range(36), quick=15))
def test_without_bounds_it_finds_what_unfold_finds(seed: int) -> None:
    case = generated_case(seed, size=4)
    atlas = pf.unfold(case.program, case.domain)
    order = ("breadth", "depth", "random")[seed % 3]
    options = {"order": order, "seed": seed} if order == "random" else {"order": order}
    found = pf.explore(case.program, atlas.witnesses[seed % len(atlas)], domain=case.domain, **options)
    assert described(found) == described(atlas), case
    assert found.complete and found.certificate.level == "checked", case
    assert pf.certify(found).level == "certified", case


def test_it_works_in_many_dimensions() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(60, 200)), rng.normal(size=60)), (rng.normal(size=(3, 60)), rng.normal(size=3))]
    found = pf.explore(layers, np.zeros(200), max_cells=5)
    assert len(found) == 5 and found.certificate.stopped_by == "max_cells" and not found.certificate.failed_checks
    # Sixty walls in general position in 200 dimensions: every cell has them all.
    assert (np.diff(found.facet_start) == 60).all() and not found.bounded.any()


def pictures(inputs: int, *widths: int, seed: int = 0) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Layers with weights as torch makes them, and a picture."""
    rng = np.random.default_rng(seed)
    layers = [
        (rng.uniform(-1, 1, size=(rows, columns)) / np.sqrt(columns), rng.uniform(-1, 1, size=rows) / np.sqrt(columns))
        for columns, rows in pairwise([inputs, *widths])
    ]
    return layers, rng.uniform(size=inputs)


@pytest.mark.parametrize(
    ("inputs", "widths", "radius"), [(784, (12, 8, 2), 0.01), (70, (4, 4, 2), 0.5), (20, (4, 4, 2), 0.7)]
)
def test_boxes_around_pictures(
    inputs: int, widths: tuple[int, ...], radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The core tells what all cells are, by linear programs; it agrees with `unfold`, and all of it is proved."""
    layers, picture = pictures(inputs, *widths)
    around = pf.box(picture - radius, picture + radius)
    atlas = pf.unfold(layers, around)
    monkeypatch.setattr(explore._Search, "_wall_by_wall", lambda *_: pytest.fail("not a plain cell"))
    found = pf.explore(layers, picture, around)
    assert len(found) > 3 and found.complete and described(found) == described(atlas)
    assert pf.certify(found).level == "certified"


def in_784() -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    return pictures(784, 5, 6, 2)


@pytest.mark.parametrize("order", ["breadth", "depth", "random"])
def test_without_a_box_it_takes_as_few_coordinates_as_matter(order: str) -> None:
    layers, picture = in_784()
    atlas, found = pf.unfold(layers), pf.explore(layers, picture, order=order)
    assert len(found) > 100 and found.complete and described(found) == described(atlas)
    assert np.count_nonzero(found.witnesses.any(axis=0)) == 5 and not found.bounded.any()
    assert pf.certify(found).level == "certified"
    assert pf.explore(layers, picture, order=order, max_cells=1).locate(picture[None]).tolist() == [0]


def test_distances_are_measured_in_all_coordinates() -> None:
    """A radius, a target and a path mean the same where the search leaves coordinates out."""
    layers, picture = in_784()
    whole = pf.explore(layers, picture)
    target = picture + 40 * np.random.default_rng(1).normal(size=784)
    here, there = whole.locate([picture, target])
    assert here == 0 and there > 0
    best = pf.explore(layers, picture, order="best", target=target)
    assert best.certificate.stopped_by == "target" and best.locate(target[None]).tolist() == [len(best) - 1]
    assert len(best) < len(whole) / 2
    way = pf.explore(layers, picture, order="path", path=[target])
    line = pf.unfold(layers, pf.slice_of(picture, (target - picture)[:, None], bounds=pf.box(0, 1)))
    assert {p.tobytes() for p in way.patterns} == {p.tobytes() for p in line.patterns}
    assert len(pf.explore(layers, picture, radius=1e-6)) == 1 and pf.explore(layers, picture, radius=1e9).complete


def test_a_cell_that_the_core_does_not_tell_is_looked_at_wall_by_wall() -> None:
    """Two gates with one wall, and one that vanishes: what is behind a facet differs by more than its own gate."""
    layers, picture = in_784()
    weight, bias = layers[0]
    twice = [(np.concatenate([weight, weight[:1]]), np.append(bias, bias[0])), (np.eye(2, 6), np.zeros(2))]
    found, atlas = pf.explore(twice, picture), pf.unfold(twice)
    assert found.complete and described(found) == described(atlas)
    assert pf.certify(found).level == "certified"


def test_a_limit_holds_within_a_cell_of_the_core() -> None:
    layers, picture = pictures(784, 100, 100, 10)
    begun = time.perf_counter()
    found = pf.explore(layers, picture, pf.box(0, 1), max_seconds=1)
    assert found.certificate.stopped_by == "max_seconds" and time.perf_counter() - begun < 30


@pytest.mark.parametrize("order", ["breadth", "depth", "random"])
def test_a_count_stops_it(order: str) -> None:
    found = pf.explore(grid(), [3.5, 3.5], order=order, max_cells=10)
    assert len(found) == 10 and not found.complete and found.certificate.stopped_by == "max_cells"
    assert (found.neighbour == -2).any() and not found.certificate.failed_checks
    assert order in found.certificate.method and "linear programs" in found.certificate.method
    assert found.locate([[3.5, 3.5]]).tolist() == [0]


@pytest.mark.parametrize("order", ["breadth", "depth", "best"])
def test_a_count_changes_nothing_but_where_it_stops(order: str) -> None:
    """Cells that a count would never let be looked at are forgotten on the way; the others are the same."""
    target = [7.5, 6.5] if order == "best" else None
    whole = pf.explore(grid(), [3.5, 3.5], order=order, target=target)
    for count in (1, 2, 5, 7):
        found = pf.explore(grid(), [3.5, 3.5], order=order, target=target, max_cells=count)
        assert len(found) == count and (found.patterns == whole.patterns[:count]).all()


def test_memory_stops_it() -> None:
    found = pf.explore(grid(), [3.5, 3.5], max_memory=50_000)
    assert 1 < len(found) < 81 and found.certificate.stopped_by == "max_memory" and not found.certificate.failed_checks
    with pytest.raises(LimitError, match="16 rows of 2 numbers, take about 3,840 bytes to work with"):
        pf.explore(grid(), [3.5, 3.5], max_memory=1000)
    with pytest.raises(LimitError, match="max_memory=0 must be a positive number of bytes"):
        pf.explore(grid(), [3.5, 3.5], max_memory=0)


def test_breadth_goes_in_rings_and_depth_does_not() -> None:
    def farthest(order: str) -> float:
        found = pf.explore(grid(), [3.5, 3.5], order=order, max_cells=5)
        return float(np.abs(found.witnesses - 3.5).sum(axis=1).max())

    assert farthest("breadth") < 1.5 < farthest("depth")


def test_random_walks_repeat_with_their_seed() -> None:
    walks = [pf.explore(grid(), [3.5, 3.5], order="random", seed=seed, max_cells=12) for seed in (1, 1, 2)]
    assert (walks[0].patterns == walks[1].patterns).all()
    assert not (walks[0].patterns == walks[2].patterns).all()


def test_a_radius_stops_it() -> None:
    found = pf.explore(grid(), [3.5, 3.5], radius=0.6)
    assert len(found) == 5 and found.certificate.stopped_by == "radius" and not found.complete
    whole = pf.explore(grid(2), [0.5, 0.5], radius=1e6)
    assert whole.complete and len(whole) == 9


def test_best_first_reaches_its_target() -> None:
    found = pf.explore(grid(), [0.5, 0.5], order="best", target=[5.5, 0.5])
    assert len(found) <= 12 and found.certificate.stopped_by == "target"
    assert found.locate([[5.5, 0.5]])[0] == len(found) - 1


def test_a_target_ends_any_search() -> None:
    found = pf.explore(grid(), [0.5, 0.5], target=[1.5, 0.5])
    assert found.certificate.stopped_by == "target" and len(found) < 81
    assert len(pf.explore(grid(), [0.5, 0.5], target=[0.6, 0.6])) == 1


def test_a_path_is_followed() -> None:
    found = pf.explore(grid(), [0.5, 0.5], order="path", path=[[2.5, 0.5], [2.5, 1.5], [2.5, 1.5]])
    assert np.floor(found.witnesses).tolist() == [[0, 0], [1, 0], [2, 0], [2, 1]]
    assert found.certificate.stopped_by == "path" and found.inner_facets == 3
    assert not found.certificate.failed_checks


def test_a_path_within_a_wall_takes_cells_beside_it() -> None:
    found = pf.explore(grid(), [0.5, 1.0], order="path", path=[[2.5, 1.0]])
    assert np.floor(found.witnesses[:, 0]).tolist() == [0, 1, 2]
    assert set(np.floor(found.witnesses[:, 1])) <= {0.0, 1.0}


def test_a_start_on_walls_begins_next_to_them() -> None:
    found = pf.explore(CORNER, [0.0, 0.0])
    assert len(found) == 4 and found.complete
    edge = pf.explore(CORNER, [-1.0, 0.0], domain=pf.box(-1, 1), max_cells=1)
    assert edge.locate([[-1.0, 0.0]]).tolist() == [0]


def test_a_slice_is_explored_in_its_parameters() -> None:
    line = pf.slice_of([0.5, 0.5], [[1.0], [0.0]], bounds=pf.box(0, 3))
    found = pf.explore(grid(), [0.1], domain=line)
    assert described(found) == described(pf.unfold(grid(), line)) and found.complete


def test_time_and_interrupts_stop_it() -> None:
    found = pf.explore(grid(), [0.5, 0.5], max_seconds=1e-9)
    assert len(found) == 0 and found.certificate.stopped_by == "max_seconds"

    def interrupt(event: Progress) -> None:
        if event.done == 3:
            raise KeyboardInterrupt

    found = pf.explore(grid(), [0.5, 0.5], progress=interrupt)
    assert len(found) == 3 and found.certificate.stopped_by == "interrupt"


def slowly(*args: object) -> object:
    """Lowering takes a while, as that of a large network does."""
    time.sleep(0.3)
    return lower(*args)


def test_seconds_are_counted_from_the_call_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt that comes so many seconds after the call is not reported to have come earlier."""
    monkeypatch.setattr(source, "lower", slowly)

    def interrupt(event: Progress) -> None:
        raise KeyboardInterrupt

    found = pf.explore(grid(), [0.5, 0.5], progress=interrupt)
    assert found.certificate.stopped_by == "interrupt" and found.certificate.seconds >= 0.3
    found = pf.explore(grid(), [0.5, 0.5], max_seconds=0.1)
    assert found.certificate.stopped_by == "max_seconds" and not len(found)


def test_a_signal_is_not_reported_before_it_is_sent(monkeypatch: pytest.MonkeyPatch, interruptible: None) -> None:
    monkeypatch.setattr(source, "lower", slowly)
    rng = np.random.default_rng(0)
    endless = [(rng.normal(size=(60, 6)), rng.normal(size=60)), (rng.normal(size=(40, 60)), rng.normal(size=40))]
    begun, sent = time.perf_counter(), list[float]()

    def interrupt() -> None:
        sent.append(time.perf_counter() - begun)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.6, interrupt).start()
    found = pf.explore([*endless, (np.ones((1, 40)), [0.0])], np.zeros(6))
    # The call began a moment after this test's clock; lowering takes three times as long as is allowed for that.
    assert found.certificate.stopped_by == "interrupt" and found.certificate.seconds >= sent[0] - 0.1


def test_an_interrupt_while_the_line_of_a_path_is_unfolded(
    monkeypatch: pytest.MonkeyPatch, interruptible: None
) -> None:
    """The line has a run of its own, which notes the signal first: the search around it ends as well."""

    def unfolded(program: pf.program.Program, domain: pf.Domain, **options: Any) -> pf.Atlas:
        def interrupted(leave: Leave) -> None:
            signal.raise_signal(signal.SIGINT)
            assert not leave.keep_going(0)

        assert watched(interrupted, domain).stopped_by == "interrupt"
        return unfold_program(program, domain, **options)

    monkeypatch.setattr(explore, "unfold_program", unfolded)
    found = pf.explore(grid(), [0.5, 0.5], order="path", path=[[2.5, 0.5]])
    assert found.certificate.stopped_by == "interrupt" and not len(found)


def test_what_cannot_be_decided_leaves_the_atlas_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    program = lower(pf.load([(rng.normal(size=(6, 2)), rng.normal(size=6)), (np.ones((1, 6)), np.zeros(1))]))
    monkeypatch.setattr(exact_cell, "_MOST_PRODUCTS", 0)
    monkeypatch.setattr(shared_walls, "_MOST_PRODUCTS", 0)
    monkeypatch.setattr(by_pattern, "_FEW_UNBOUNDED", 0)  # the core decides everything here
    found = pf.explore(program, [0.1, 0.2])
    assert not found.complete and found.certificate.stopped_by == "undecided"
    assert [check.name for check in found.certificate.failed_checks] == ["every facet was decided"]
    with pytest.raises(PolyfoldError, match="start lies on a wall"):
        pf.explore(CORNER, [0.0, 1.0])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"order": "sideways"}, PolyfoldError, "order must be one of 'breadth', .*, got 'sideways'"),
        ({"order": "best"}, PolyfoldError, "order='best' goes towards a target"),
        ({"order": "path"}, PolyfoldError, "order='path' follows a path"),
        ({"path": [[1.0, 1.0]]}, PolyfoldError, "not with order='breadth'"),
        ({"order": "path", "path": [[1.0, 1.0]], "radius": 2.0}, PolyfoldError, "radius=2.0 means nothing"),
        ({"order": "path", "path": [1.0, 1.0]}, ShapeError, r"this one has shape \(2,\)"),
        ({"radius": -1}, PolyfoldError, "radius=-1"),
        ({"order": "random", "seed": -1}, PolyfoldError, "seed=-1"),
        ({"seed": 3}, PolyfoldError, "seed=3 means nothing with order='breadth'"),
        ({"max_cells": 0}, LimitError, "max_cells=0"),
        ({"max_seconds": 0}, LimitError, "max_seconds=0"),
        ({"start": [1.0]}, ShapeError, "start must be 2 numbers; it has shape"),
        ({"start": [9.0, 9.0], "domain": pf.box(-1, 1)}, DomainError, "start lies outside the domain"),
        ({"target": [9.0, 9.0], "domain": pf.box(-1, 1)}, DomainError, "target lies outside"),
    ],
)
def test_impossible_options_are_quoted(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pf.explore(CORNER, **{"start": [0.5, 0.5], **options})


def test_a_flat_domain_is_refused() -> None:
    with pytest.raises(DomainError, match="no interior"):
        pf.explore(CORNER, [0.0, 0.5], domain=pf.polytope([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]))


def test_a_convolution_that_is_not_written_out() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 4, 5, stride=6), torch.nn.ReLU(), torch.nn.Conv2d(4, 4, 3, stride=4), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(4 * 2 * 2, 3)).double()
    program = lower(pf.load(module, input_shape=(1, 64, 64)))
    assert stays_structured(program)
    rng = np.random.default_rng(0)
    start = rng.uniform(size=4096)
    around = pf.explore(program, start, max_cells=2)
    way = pf.explore(program, start, order="path", path=[start + 0.02 * rng.normal(size=4096)], max_cells=2)
    for found in (around, way):
        assert len(found) == 2 and found.certificate.level == "counted"
        (witnesses,) = (item for item in found.certificate.checks if item.name == "witnesses have their patterns")
        assert witnesses.passed and witnesses.detail == "2 proved in floats, 0 unproved"
        assert found.locate(found.witnesses).tolist() == [0, 1]
    assert around.locate([start + 1.0], outside="ignore").tolist() == [-1]
    # A witness of another cell is not proved.
    signs = around.signs([0, 1])
    forged = replace(around, patterns=pack(signs[::-1]))
    assert not check_witnesses(forged).passed
