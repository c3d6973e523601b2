"""Counts that are known without any engine: Zaslavsky's formula, and published networks."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
import pytest

import polyfold as pf
from helpers.shared_files import MODELS


def hyperplanes(d: int, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(d * 1000 + n)
    return [(rng.normal(size=(n, d)), rng.normal(size=n)), (np.ones((1, n)), np.zeros(1))]


@pytest.mark.parametrize(("d", "n"), [(1, 9), (2, 40), (3, 24), (4, 16), (5, 14), (6, 12), (8, 11), (10, 12), (15, 16)])
def test_hyperplanes_in_general_position(d: int, n: int) -> None:
    atlas = pf.unfold(hyperplanes(d, n))
    assert len(atlas) == sum(comb(n, i) for i in range(d + 1))
    # The facets are the cells of the arrangements that the hyperplanes cut out of each other.
    assert atlas.inner_facets == n * sum(comb(n - 1, i) for i in range(d))
    assert atlas.certificate.level == "checked"
    # Bounded cells: the alternating companion of Zaslavsky's formula.
    assert int(atlas.bounded.sum()) == comb(n - 1, d)


def torch_default(*widths: int) -> object:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers: list[object] = []
    for a, b in pairwise(widths):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1]).double()


@pytest.mark.parametrize(
    ("widths", "cells", "facets"),
    [
        ((2, 16, 16, 1), 572, 1111),
        ((2, 32, 32, 1), 2268, None),
        ((3, 16, 16, 1), 5028, None),
        ((10, 12, 1), 4083, None),
    ],
)
def test_torch_default_networks(widths: tuple[int, ...], cells: int, facets: int | None) -> None:
    atlas = pf.unfold(torch_default(*widths))
    assert len(atlas) == cells
    assert facets is None or atlas.inner_facets == facets
    assert atlas.complete and atlas.certificate.level == "checked"


@pytest.mark.shared("models")
@pytest.mark.parametrize("name", ["pretrain_con", "finetune_inv"])
def test_double_integrator_controllers(name: str) -> None:
    atlas = pf.unfold(MODELS / f"cersyve_double_integrator_{name}.onnx", pf.box(-1, 1))
    assert pf.check(atlas).level == "checked"
    # A plane graph: vertices - edges + cells = 1, counting edges and vertices independently of the engine's facets.
    points = {tuple(np.round(p, 9)) for cell in atlas.vertices() for p in cell}
    edges = atlas.inner_facets + atlas.boundary_facets
    assert len(points) - edges + len(atlas) == 1


PROPERTY_3 = (
    [-0.303531156, -0.009549297, 0.493380324, 0.3, 0.3],
    [-0.298552812, 0.009549297, 0.5, 0.5, 0.5],
)


@pytest.mark.shared("models")
def test_acasxu_on_the_property_3_box() -> None:
    atlas = pf.unfold(MODELS / "acasxu_1_1.onnx", pf.box(*PROPERTY_3))
    assert len(atlas) == 71_930
    assert atlas.complete and atlas.certificate.level == "checked"
    assert atlas.bounded.all()


@pytest.mark.shared("models")
def test_two_walls_that_only_touch_the_box() -> None:
    """Two naive engines disagree here (2 and 3 cells): a wall passes exactly through corners of the box."""
    from polyfold.program.lower.lower import lower
    from polyfold.testing.reference import reference_unfold

    network = pf.load(MODELS / "marabou_fc_2-2-3.onnx")
    assert len(pf.unfold(network, pf.box(-1, 1))) == len(reference_unfold(lower(network), pf.box(-1, 1))) == 2
