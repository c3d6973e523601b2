"""Cells while they are found: blocks do not overlap, and end in what pf.unfold gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import polyfold as pf
from polyfold.datasets.convolutional import mnist_conv
from polyfold.program.lower.lower import lower

ARRAYS = ("patterns", "witnesses", "bounded", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")


def random_network(*widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(3)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in itertools.pairwise(widths)]


def conv_plane() -> tuple[object, object]:
    basis = np.zeros((784, 2))
    basis[[300, 350], [0, 1]] = 1
    origin = np.random.default_rng(0).random(784)
    return lower(mnist_conv()), pf.slice_of(origin, basis, bounds=pf.box(-0.1, 0.2))


def assert_blocks_end_in_unfold(network: object, domain: object, first: int, at_least: int) -> None:
    blocks = list(pf.unfold_in_blocks(network, domain, first=first))
    assert len(blocks) >= at_least
    assert [block.atlas.complete for block in blocks] == [False] * (len(blocks) - 1) + [True]
    seen: set[bytes] = set()
    for block in blocks:
        new = {row.tobytes() for row in block.atlas.patterns[block.new]}
        assert len(new) == len(block) and not new & seen
        seen |= new
        assert seen == {row.tobytes() for row in block.atlas.patterns}
    whole = pf.unfold(network, domain)
    assert not blocks[-1].atlas.certificate.failed_checks
    for name in ARRAYS:
        assert np.array_equal(getattr(blocks[-1].atlas, name), getattr(whole, name)), name


@pytest.mark.parametrize("domain", [None, pf.box(-2, 2)])
def test_blocks_in_the_plane(domain: object) -> None:
    assert_blocks_end_in_unfold(random_network(2, 12, 12, 2), domain, 10, 4)


def test_blocks_in_space() -> None:
    assert_blocks_end_in_unfold(random_network(3, 8, 6, 1), pf.box(-2, 2), 7, 4)


def test_blocks_of_a_plane_through_a_large_network() -> None:
    assert_blocks_end_in_unfold(*conv_plane(), 20, 2)


def test_limits_hold_for_the_whole_run() -> None:
    network = random_network(2, 12, 12, 2)
    blocks = list(pf.unfold_in_blocks(network, pf.box(-2, 2), first=10, max_cells=35))
    assert [len(block.atlas) for block in blocks] == [10, 20, 35]
    assert not blocks[-1].atlas.complete
    large, plane = conv_plane()
    (*_, last) = pf.unfold_in_blocks(large, plane, first=20, max_cells=40)
    assert len(last.atlas) == 40 and not last.atlas.complete


def test_a_time_limit_ends_the_run() -> None:
    blocks = pf.unfold_in_blocks(random_network(4, 150, 150, 150, 2), first=50, max_seconds=0.3)
    (*_, last) = blocks
    assert not last.atlas.complete


@pytest.mark.parametrize("options", [{"first": 0}, {"max_cells": -1}, {"max_seconds": 0}])
def test_bad_limits_are_refused_at_once(options: dict[str, object]) -> None:
    with pytest.raises(pf.PolyfoldError, match=next(iter(options))):
        pf.unfold_in_blocks(random_network(2, 3, 1), **options)
