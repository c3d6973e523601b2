"""A few calls on one thread, timed by pytest-benchmark; `make bench-history` runs them."""

from __future__ import annotations

from typing import Any

import pytest

import polyfold as pf
from cases import Case, boxes
from networks import linear_layers, torch_default
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program

CASES = {
    case.label: case
    for case in (Case((2, 32, 32, 1)), Case((3, 16, 16, 1)), *boxes(1, (2, 64, 64, 1), (3, 32, 32, 1), (5, 16, 16, 1)))
}


def lowered(case: Case) -> tuple[Program, Any]:
    program = lower(pf.load(linear_layers(torch_default(case.widths))))
    return program, None if case.radius is None else pf.box(-case.radius, case.radius)


@pytest.mark.parametrize("name", CASES)
def time_unfold(benchmark: Any, name: str) -> None:
    program, domain = lowered(CASES[name])
    assert benchmark(pf.unfold, program, domain, threads=1).complete


@pytest.mark.skipif(not hasattr(pf, "count"), reason="this polyfold does not count")
@pytest.mark.parametrize("name", CASES)
def time_count(benchmark: Any, name: str) -> None:
    program, domain = lowered(CASES[name])
    assert benchmark(pf.count, program, domain, threads=1).complete


def time_lower(benchmark: Any) -> None:
    network = pf.load(linear_layers(torch_default((2, 64, 64, 1))))
    assert benchmark(lower, network).gates == 128


def time_locate(benchmark: Any) -> None:
    program, domain = lowered(Case((3, 32, 32, 1), 1))
    atlas = pf.unfold(program, domain, threads=1)
    points = atlas.witnesses[:1000]
    assert (benchmark(atlas.locate, points) >= 0).all()
