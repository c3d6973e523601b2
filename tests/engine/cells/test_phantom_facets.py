"""Cells whose patterns differ in one gate need not share a facet; each facet listed is proved by a point inside it."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

import polyfold as pf
from helpers.facet_oracles import FacetPoints, pairs_one_bit_apart


def layers_of_seed_0() -> list[tuple[np.ndarray, np.ndarray]]:
    """torch's seed 0, widths 2, 16, 16, 1."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    return [
        (part.weight.detach().numpy().astype(float), part.bias.detach().numpy().astype(float))
        for part in model
        if isinstance(part, nn.Linear)
    ]


def test_four_pairs_of_cells_are_one_gate_apart_and_share_no_facet() -> None:
    atlas = pf.unfold(layers_of_seed_0())
    assert pairs_one_bit_apart(atlas) == 1115
    assert atlas.inner_facets == 1111


def test_every_facet_has_a_point_that_proves_it() -> None:
    """At the point one gate is exactly zero, and every other one has the sign that it has in both cells.

    So all of a small ball around the point lies in the two cells, and the gate's zeros part it.
    """
    layers = layers_of_seed_0()
    atlas = pf.unfold(layers)
    patterns, points = atlas.signs(), FacetPoints(atlas, layers)
    proved = 0
    for facet in np.flatnonzero(atlas.neighbour > atlas.facet_owner):
        here, there = patterns[atlas.facet_owner[facet]], patterns[atlas.neighbour[facet]]
        signs = np.array(points.signs(points.point(int(facet))))
        gate = atlas.facet_wall[facet]
        others = np.arange(atlas.gates) != gate
        assert signs[gate] == 0 and signs[others].all()
        assert ((signs > 0)[others] == here[others]).all() and ((signs > 0)[others] == there[others]).all()
        assert here[gate] != there[gate]
        proved += 1
    assert proved == 1111


def test_in_an_arrangement_there_are_no_phantoms() -> None:
    rng = np.random.default_rng(0)
    atlas = pf.unfold([(rng.normal(size=(12, 3)), rng.normal(size=12)), (rng.normal(size=(1, 12)), [0.0])])
    assert pairs_one_bit_apart(atlas) == atlas.inner_facets
