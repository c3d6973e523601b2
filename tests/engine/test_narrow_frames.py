"""Layers of many gates, most of which soon no longer cut a cell: cells below get frames of those that do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf

Layers = list[tuple[np.ndarray, np.ndarray]]


def network(widths: tuple[int, ...], degenerate: bool) -> Layers:
    """Degenerate: walls that meet in points, and walls that are there twice."""
    rng = np.random.default_rng(5)
    layers = []
    for a, b in pairwise(widths):
        weight, bias = rng.normal(size=(b, a)), rng.normal(size=b)
        if degenerate:
            weight, bias = np.rint(1.2 * weight), np.rint(1.2 * bias)
            weight[1::5], bias[1::5] = weight[:-1:5], bias[:-1:5]
        layers.append((weight, bias))
    return layers


@pytest.mark.parametrize("domain", [None, pf.box(-2, 2)], ids=["all", "box"])
@pytest.mark.parametrize("degenerate", [False, True], ids=["generic", "degenerate"])
@pytest.mark.parametrize("widths", [(2, 61, 1), (2, 41, 30, 1), (3, 36, 1)], ids=str)
def test_cells_of_wide_layers_are_proved(widths: tuple[int, ...], degenerate: bool, domain: pf.Domain | None) -> None:
    layers = network(widths, degenerate)
    atlas = pf.unfold(layers, domain, threads=2)
    assert pf.certify(atlas).level == "certified"
    assert len(atlas) == pf.count(layers, domain).cells
    alone = pf.unfold(layers, domain, threads=1)
    assert np.array_equal(atlas.patterns, alone.patterns)
    assert np.array_equal(atlas.witnesses, alone.witnesses)


def test_a_general_arrangement_of_lines_has_the_cells_that_it_must() -> None:
    lines = 120
    assert len(pf.unfold(network((2, lines, 1), degenerate=False))) == 1 + lines + lines * (lines - 1) // 2


@pytest.mark.parametrize("degenerate", [False, True], ids=["generic", "degenerate"])
def test_faces_of_wide_layers_are_those_of_the_cells(degenerate: bool) -> None:
    layers = network((2, 61, 1), degenerate)
    found = pf.topology.faces(layers, pf.box(-2, 2))
    assert found.f_vector[2] == len(pf.unfold(layers, pf.box(-2, 2)))
    assert found.euler_characteristic == 1
