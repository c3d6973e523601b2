"""Limits, interrupts and progress: what stops early says so, and says the same whatever the number of threads."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import CORNER, unfolded
from polyfold import _core as core
from polyfold.atlas.core_problem import core_problem
from polyfold.atlas.deferred_arrays import DeferredAtlas
from polyfold.domain.domain import resolve_domain
from polyfold.errors import LimitError
from polyfold.program.lower.lower import lower

ARRAYS = ("patterns", "witnesses", "bounded", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")


def network(widths, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


MEDIUM = network([3, 12, 8, 1])
# A box of so many dimensions is walked by another method.
HIGH = network([8, 9, 4, 1])
# Millions of cells: minutes of work.
ENDLESS = network([6, 40, 40, 40, 1])


def assert_same(a: pf.Atlas, b: pf.Atlas) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.exact_witnesses == b.exact_witnesses
    assert (a.certificate.complete, a.certificate.stopped_by) == (b.certificate.complete, b.certificate.stopped_by)


def assert_sound(part: pf.Atlas, stopped_by: str) -> None:
    """An incomplete atlas: only counted, no check failed, and its open facets are marked."""
    assert not part.complete
    assert part.certificate.level == "counted"
    assert part.certificate.stopped_by == stopped_by
    assert stopped_by in str(part.certificate)
    assert all(check.passed for check in part.certificate.checks)
    assert (part.neighbour == -2).any()
    assert (part.neighbour >= -2).all() and (part.neighbour < len(part)).all()


EVERYWHERE_AND_IN_BOXES = pytest.mark.parametrize(
    ("layers", "domain"), [(MEDIUM, None), (MEDIUM, pf.box(-1, 1)), (HIGH, pf.box(-1, 1))]
)


@EVERYWHERE_AND_IN_BOXES
def test_the_result_does_not_depend_on_threads(layers, domain):
    one = pf.unfold(layers, domain, threads=1)
    assert one.complete and one.certificate.stopped_by is None
    for threads in (2, 3, 7):
        assert_same(one, pf.unfold(layers, domain, threads=threads))
    assert pf.unfold(layers, domain).certificate.threads == len(os.sched_getaffinity(0))


def test_generated_cases_do_not_depend_on_threads():
    for seed in range(60):
        case, atlas = unfolded(seed)
        assert_same(atlas, pf.unfold(case.program, case.domain, threads=3))


def first_cells(whole: pf.Atlas, count: int) -> dict[str, np.ndarray]:
    """What is left of an atlas if only its first cells are kept."""
    facets = whole.facet_start[count]
    neighbour = whole.neighbour[:facets]
    shared = whole.shared_facet < facets
    return {
        "patterns": whole.patterns[:count],
        "witnesses": whole.witnesses[:count],
        "bounded": whole.bounded[:count],
        "facet_start": whole.facet_start[: count + 1],
        "facet_wall": whole.facet_wall[:facets],
        "neighbour": np.where(neighbour >= count, -2, neighbour),
        "shared_facet": whole.shared_facet[shared],
        "shared_wall": whole.shared_wall[shared],
    }


@EVERYWHERE_AND_IN_BOXES
def test_max_cells_keeps_exactly_the_first_cells(layers, domain):
    whole = pf.unfold(layers, domain)
    for count in (1, 2, 7, len(whole) // 2, len(whole) - 1):
        parts = [pf.unfold(layers, domain, max_cells=count, threads=threads) for threads in (1, 2, 3)]
        for name, expected in first_cells(whole, count).items():
            assert np.array_equal(getattr(parts[0], name), expected), (count, name)
        for part in parts:
            assert len(part) == count
            assert_same(part, parts[0])
            assert_sound(part, "max_cells")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_limit_that_is_not_reached_changes_nothing(threads):
    whole = pf.unfold(MEDIUM)
    for count in (len(whole), len(whole) + 1, 2**31 - 1):
        assert_same(whole, pf.unfold(MEDIUM, max_cells=count, max_seconds=600, threads=threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_cells_few_of_which_touch(threads):
    """Nearly all facets of a few cells in many dimensions lead to cells that were not found."""
    part = pf.unfold(network([12, 30, 30, 1]), max_cells=300, threads=threads)
    assert len(part) == 300
    assert (part.neighbour == -2).mean() > 0.75
    assert_sound(part, "max_cells")


def test_max_cells_on_degenerate_cases():
    for seed in range(1, 60, 2):
        case, whole = unfolded(seed)
        count = (len(whole) + 1) // 2
        part = pf.unfold(case.program, case.domain, max_cells=count, threads=2)
        for name, expected in first_cells(whole, count).items():
            assert np.array_equal(getattr(part, name), expected), (case, name)
        assert part.complete == (count == len(whole)), case


@pytest.mark.parametrize("threads", [1, 2])
def test_max_seconds_stops_a_long_run(threads):
    started = time.monotonic()
    part = pf.unfold(ENDLESS, pf.box(-1, 1), max_seconds=0.3, threads=threads)
    assert time.monotonic() - started < 30
    assert_sound(part, "max_seconds")
    assert part.certificate.seconds >= 0.3
    assert len(part) > 0
    assert np.array_equal(part.locate(part.witnesses), np.arange(len(part)))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("round_", range(3))
def test_ctrl_c_returns_what_there_is(threads, round_, interruptible):
    """A signal may arrive at any instruction, so more than once."""
    seen, sent = [], []

    def interrupt(cells):
        seen.append(cells)
        if len(seen) == 3:
            timer = threading.Timer(
                0.01 * (round_ + 1), lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), 2))
            )
            timer.start()

    part = pf.unfold(ENDLESS, pf.box(-1, 1), progress=interrupt, threads=threads)
    assert time.monotonic() - sent[0] < 30
    assert_sound(part, "interrupt")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_gives_up_what_there_is(interruptible):
    def interrupt(cells):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        pf.unfold(ENDLESS, pf.box(-1, 1), progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("threads", [1, 2])
def test_putting_cells_together_can_be_given_up(threads):
    problem = core_problem(lower(pf.load(MEDIUM)), resolve_domain(None, 3))
    asked = []

    def still_wanted():
        asked.append(True)
        return False

    found = core.find_cells(problem, False, threads, -1, lambda cells: True)
    with pytest.raises(core.GivenUp):
        found.put_together(still_wanted)
    assert asked == [True]
    again = found.put_together(lambda: True)  # and it can be had after all
    assert np.array_equal(again["neighbour"], pf.unfold(MEDIUM).neighbour)
    with pytest.raises(RuntimeError, match="put together before"):
        found.put_together(lambda: True)


@pytest.mark.parametrize(("inputs", "domain"), [(4, None), (6, pf.box(-1, 1))])
def test_an_interrupted_run_returns_before_its_cells_are_put_together(inputs, domain):
    # Checks of what is found in longer take seconds.
    part = pf.unfold(network([inputs, 40, 40, 40, 1]), domain, max_seconds=0.03)
    assert type(part) is DeferredAtlas and isinstance(part, pf.Atlas)
    assert not part.certificate.complete and part.dim == inputs and part.gates == 120  # which asks for no cell
    assert type(part) is DeferredAtlas
    assert not hasattr(part, "no_such_thing") and type(part) is DeferredAtlas
    cells = len(part)
    assert type(part) is pf.Atlas and cells == len(part.patterns) == len(part.witnesses) > 0
    assert not part.patterns.flags.writeable
    assert all(item.passed for item in pf.check(part).checks)


def test_cells_that_are_put_together_later_are_the_same(tmp_path):
    """Resumed, saved or copied first: every way leads to the atlas that nobody stopped."""
    stopped = []

    def stop_at_once(cells):
        stopped.append(cells)
        raise KeyboardInterrupt

    layers = network([3, 96, 96, 1])  # more than any machine finds before it first looks whether to stop
    whole = pf.unfold(layers, pf.box(-1, 1))
    for use in (
        pf.resume,
        copy.copy,
        copy.deepcopy,
        lambda part: part.with_certificate(part.certificate),
        lambda part: part if part.arrays_digest else None,
        saved_at(tmp_path),
    ):
        part = pf.unfold(layers, pf.box(-1, 1), progress=stop_at_once, threads=1)
        assert type(part) is DeferredAtlas, "the run was over before it was stopped: it needs more cells"
        used = use(part)
        assert_same(pf.resume(used), whole)
        assert_same(pf.resume(part), whole)
    assert stopped


def saved_at(folder):
    def save_and_open(part):
        part.save(folder / "part.parquet")
        return pf.open(folder / "part.parquet")

    return save_and_open


def test_cells_are_put_together_once_by_many_threads():
    part = pf.unfold(ENDLESS, pf.box(-1, 1), max_seconds=0.2)
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(part.neighbour)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8 and all(array is seen[0] for array in seen)


def test_an_interrupt_while_cells_are_put_together_later(interruptible):
    part = pf.unfold(ENDLESS, pf.box(-1, 1), max_seconds=1.0)
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.001, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        len(part)
        time.sleep(30)  # where the signal came only after it
    assert_sound(part, "max_seconds")


def test_an_interrupt_raised_by_the_callback():
    def report(cells):
        raise KeyboardInterrupt

    assert_sound(pf.unfold(ENDLESS, pf.box(-1, 1), progress=report), "interrupt")


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_callback_comes_out(threads):
    class MineError(Exception):
        pass

    def report(cells):
        raise MineError("mine")

    with pytest.raises(MineError, match="mine"):
        pf.unfold(ENDLESS, pf.box(-1, 1), progress=report, threads=threads)
    assert len(pf.unfold(CORNER)) == 4


def test_unfolding_outside_the_main_thread():
    found = []
    worker = threading.Thread(target=lambda: found.append(len(pf.unfold(MEDIUM))))
    worker.start()
    worker.join(60)
    assert found == [len(pf.unfold(MEDIUM))]


@pytest.mark.parametrize("name", ["max_cells", "threads"])
@pytest.mark.parametrize("value", [0, -1, 2**40, 1.5, 2.0, "3", True, [1], float("nan")])
def test_numbers_that_are_no_counts(name, value):
    with pytest.raises(LimitError, match=f"^{name}=.* whole number between 1 and"):
        pf.unfold(CORNER, **{name: value})


@pytest.mark.parametrize("value", [0, -1, -0.5, float("nan"), "1", [1.0], 1j])
def test_seconds_that_are_none(value):
    with pytest.raises(LimitError, match=r"^max_seconds=.* leaves no time"):
        pf.unfold(CORNER, max_seconds=value)


def test_numpy_numbers_are_numbers():
    part = pf.unfold(CORNER, max_cells=np.int64(3), max_seconds=np.float32(60), threads=np.int32(2))
    assert len(part) == 3


def test_progress_counts_up():
    seen = []
    part = pf.unfold(ENDLESS, pf.box(-1, 1), progress=seen.append, max_seconds=0.3)
    cells = [event.done for event in seen]
    assert len(cells) > 2
    assert cells == sorted(cells)
    assert 0 < cells[-1] <= len(part)
    assert {event.what for event in seen} == {"cells"} and 0 < seen[-1].seconds < 10


def test_a_progress_line_goes_to_standard_error_only(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    pf.unfold(ENDLESS, pf.box(-1, 1), progress=True, max_seconds=0.3)
    said = capfd.readouterr()
    assert said.out == ""
    assert "cells" in said.err and "per second" in said.err
    pf.unfold(MEDIUM)
    assert capfd.readouterr() == ("", "")


def test_another_signal_whose_handler_raises():
    """The handler runs at the first instruction of our callback, before any try: the engine has to survive that."""
    script = """
import signal
import subprocess
import sys
import numpy as np
import polyfold as pf

def handler(number, frame):
    raise TimeoutError("mine")

rng = np.random.default_rng(0)
layers = [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in [(6, 40), (40, 40), (40, 40), (40, 1)]]
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    pf.unfold(layers, pf.box(-1, 1), max_seconds=20)
except TimeoutError:
    print("clean")
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(pf.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert (done.returncode, done.stdout) == (0, "clean\n")


@pytest.mark.parametrize("domain", [None, pf.box(-1, 1)], ids=["whole space", "box"])
def test_a_time_limit_holds_where_a_single_cell_takes_longer(domain):
    """In 400 dimensions the engine is still at its first cell when the time is over."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(60, 400)), rng.normal(size=60)), (rng.normal(size=(1, 60)), np.zeros(1))]
    started = time.perf_counter()
    atlas = pf.unfold(layers, domain, max_seconds=0.5)
    assert time.perf_counter() - started < 20
    assert not atlas.complete and atlas.certificate.stopped_by == "max_seconds"
