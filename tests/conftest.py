"""What holds for all tests: repeatable examples, a working Ctrl-C, and loud words where ../shared is absent.

Hypothesis tries the same examples in every `make test`, so that it says the same to everybody; `make test-all` tries
new ones (HYPOTHESIS_PROFILE=explore).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from shared_files import ABSENT, missing

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


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = [report for report in terminalreporter.getreports("skipped") if ABSENT in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{ABSENT}: {len(skipped)} tests were skipped for that", red=True, bold=True)
