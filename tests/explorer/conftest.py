"""A real server on a free port of this machine, for all tests of the explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from helpers.cpu_time import for_many_tests
from helpers.explorers import Client, Explorer, started, stopped


@pytest.fixture(scope="package")
def explorer() -> Iterator[Explorer]:
    with for_many_tests():
        found = started()
    yield found
    with for_many_tests():
        assert stopped(found) == 0


@pytest.fixture
def start_explorer() -> Iterator[Callable[..., Explorer]]:
    all_started: list[Explorer] = []

    def start(*options: str) -> Explorer:
        all_started.append(started(*options))
        return all_started[-1]

    yield start
    for each in all_started:
        if each.process.poll() is None:
            stopped(each)


@pytest.fixture
def client(explorer: Explorer) -> Iterator[Client]:
    found = explorer.client()
    yield found
    found.http.close()
