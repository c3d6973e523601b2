"""What holds for all tests: repeatable examples, a working Ctrl-C, and loud words where ../shared is absent.

Hypothesis tries the same examples in every `make test`, so that it says the same to everybody; `make test-all` tries
new ones (HYPOTHESIS_PROFILE=explore).
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from typing import Any

# Workers share the cores already: threads of torch and BLAS that wait for each other took up to nine times the work.
# Both read this once, when they are imported, which is after this file.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
# shap compiles for seven seconds what runs for a few milliseconds here.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pytest
from hypothesis import settings

from helpers.cpu_time import cpu_seconds
from helpers.shared_files import ABSENT, missing

# A quick test that works for longer than this is named at the end of a run: it should be made smaller, or slow.
MOST_CPU_SECONDS = 10.0
CPU_SECONDS = "cpu_seconds"
STARTED = pytest.StashKey[float]()

settings.register_profile("repeat", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C works as in a terminal, here and in programs that the test starts.

    Jobs in the background and under nohup begin with the signal ignored, and hand that down.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("shared"):
        reason = missing(*marker.args)
        if reason:
            pytest.skip(reason)


def pytest_collection_finish() -> None:
    """What was imported until now stays: the collector of garbage need not look at it over and over again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    item.stash[STARTED] = cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """Reports go from workers to the terminal; the last one, of the teardown, takes along what the test took."""
    report = yield
    if report.when == "teardown" and "slow" not in item.keywords:
        report.user_properties.append((CPU_SECONDS, cpu_seconds() - item.stash[STARTED]))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for seconds, test in sorted(
        (seconds, report.nodeid)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, seconds in report.user_properties
        if name == CPU_SECONDS and seconds > MOST_CPU_SECONDS
    ):
        terminalreporter.write_line(
            f"WARNING: {test} took {seconds:.0f} CPU-seconds: mark it slow and keep a smaller quick test", yellow=True
        )
    skipped = [report for report in terminalreporter.getreports("skipped") if ABSENT in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{ABSENT}: {len(skipped)} tests were skipped for that", red=True, bold=True)
