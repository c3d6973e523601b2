"""Bad input gets one clear error; incomplete atlases and unbounded domains do not get a wrong answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from helpers.known_networks import ABSOLUTE, XOR, random_layers, unit_square

OVER_A_DOMAIN = [
    pf.stats.integral,
    pf.stats.mean,
    pf.stats.variance,
    pf.stats.covariance,
    pf.stats.maximum,
    pf.stats.minimum,
    pf.stats.lipschitz,
]
BY_CLASS = [
    pf.stats.classes,
    pf.stats.class_areas,
    pf.stats.decision_boundary,
    lambda atlas: pf.stats.nearest_change(atlas, [[0.0, 0.0]]),
]


@pytest.mark.parametrize("ask", [*OVER_A_DOMAIN, *BY_CLASS])
@pytest.mark.parametrize("given", [None, "model.onnx", np.zeros((2, 2))])
def test_no_network(ask, given):
    with pytest.raises(pf.PolyfoldError, match=r"give|no file|No such file"):
        ask(given)


@pytest.mark.parametrize("ask", OVER_A_DOMAIN)
def test_a_network_is_unfolded_first(ask):
    """What is asked of an atlas can be asked of its network, with the domain."""
    assert ask(XOR, pf.box(0, 1)).to_json()["value"] == ask(unit_square(XOR)).to_json()["value"]


@pytest.mark.parametrize("ask", OVER_A_DOMAIN)
def test_an_atlas_has_a_domain_of_its_own(ask):
    with pytest.raises(pf.errors.DomainError, match="an atlas has a domain of its own"):
        ask(unit_square(XOR), pf.box(0, 2))


@pytest.mark.parametrize("ask", [*OVER_A_DOMAIN, *BY_CLASS])
def test_an_incomplete_atlas(ask):
    atlas = pf.unfold(random_layers(np.random.default_rng(0), 2, 20, 1), pf.box(-1, 1), max_cells=5)
    assert not atlas.complete
    with pytest.raises(pf.PolyfoldError, match=r"needs all cells, and the atlas is incomplete .*pf.resume"):
        ask(atlas)
    if ask in OVER_A_DOMAIN:
        ask(atlas, cells=[0, 1])  # of cells that are there, the answer is right


@pytest.mark.parametrize("ask", [pf.stats.integral, pf.stats.mean, pf.stats.variance, pf.stats.covariance])
def test_an_unbounded_domain(ask):
    atlas = pf.unfold(ABSOLUTE, pf.box(-1, np.inf))
    with pytest.raises(pf.PolyfoldError, match=r"needs a bounded domain, and 1 of the 2 cells are unbounded .*pf.box"):
        ask(atlas)
    ask(atlas, cells=atlas.bounded)


@pytest.mark.parametrize(
    "ask", [pf.stats.integral, pf.stats.mean, pf.stats.variance, pf.stats.covariance, pf.stats.lipschitz]
)
def test_maps_that_overflow(ask):
    atlas = pf.unfold([([[1e200]], [0.0]), ([[1e200]], [0.0])], pf.box(-1, 1))
    with pytest.raises(pf.PolyfoldError, match="overflows: coefficients of the network"):
        ask(atlas)
    # In rationals there is an answer, and signs are decided.
    assert pf.stats.maximum(atlas).exact_value == Fraction(1e200) ** 2 and pf.stats.maximum(atlas).settled
    assert pf.stats.class_areas(atlas).areas.tolist() == [1.0, 1.0]


def test_walls_that_overflow():
    steep = pf.unfold([([[1e200, 1e200]], [-1e200]), ([[1.0]], [0.0])], pf.box(0, 2))
    assert pf.stats.nearest_change(steep, [[0.0, 0.0]]).distance == pytest.approx([0.5**0.5])
    beyond = pf.unfold([([[1e200]], [0.0]), ([[1e200]], [-1.0]), ([[1.0]], [0.0])], pf.box(-1, 1))
    # The wall's numbers lie beyond float64; a multiple of them by a power of two does not.
    assert pf.stats.nearest_change(beyond, [[-0.5]]).distance == pytest.approx([0.5])


def test_areas_of_an_unbounded_domain():
    with pytest.raises(pf.PolyfoldError, match="the area of each class needs a bounded domain"):
        pf.stats.class_areas(pf.unfold(ABSOLUTE))


@pytest.mark.parametrize("ask", OVER_A_DOMAIN)
def test_chosen_cells(ask):
    atlas = unit_square(XOR)
    with pytest.raises(pf.PolyfoldError, match="over no cells at all"):
        ask(atlas, cells=[])
    with pytest.raises(pf.PolyfoldError, match="named twice"):
        ask(atlas, cells=[0, 0])
    with pytest.raises(IndexError, match="there is no cell 9"):
        ask(atlas, cells=[9])


def test_groups():
    with pytest.raises(pf.PolyfoldError, match="by='neuron' must be 'domain', 'region' or 'cell'"):
        pf.stats.integral(unit_square(XOR), by="neuron")
    with pytest.raises(pf.PolyfoldError, match="takes all cells of every region"):
        pf.stats.variance(unit_square(XOR), cells=[0], by="region")


def test_which_output():
    atlas = unit_square([(np.eye(2), np.zeros(2))])
    with pytest.raises(pf.PolyfoldError, match="which of the 2 outputs"):
        pf.stats.maximum(atlas)
    with pytest.raises(pf.PolyfoldError, match="there is no output 2: the network has 2 outputs"):
        pf.stats.minimum(atlas, output=2)
    for wrong in ([1.0], [1.0, np.nan], [[1.0, 0.0]]):
        with pytest.raises(pf.PolyfoldError, match="output="):
            pf.stats.maximum(atlas, output=wrong)
    with pytest.raises(pf.PolyfoldError, match="max_seconds=-1"):
        pf.stats.maximum(atlas, output=0, max_seconds=-1)


def test_thresholds():
    for wrong in (np.inf, np.nan, "half", [0.0, 1.0]):
        with pytest.raises(pf.PolyfoldError, match="threshold="):
            pf.stats.classes(unit_square(XOR), threshold=wrong)
    with pytest.raises(pf.PolyfoldError, match="a threshold is for one output; with 2 the largest one decides"):
        pf.stats.classes(unit_square([(np.eye(2), np.zeros(2))]), threshold=0.5)


def test_points_and_norms():
    atlas = unit_square(XOR)
    with pytest.raises(pf.PolyfoldError, match="norm=2 must be 'l1', 'l2' or 'linf'"):
        pf.stats.nearest_change(atlas, [[0.5, 0.5]], norm=2)
    with pytest.raises(pf.PolyfoldError, match=r"point 1, \[2.0, 0.0\], lies outside the domain that was unfolded"):
        pf.stats.nearest_change(atlas, [[0.5, 0.5], [2.0, 0.0]])
    with pytest.raises(pf.PolyfoldError):
        pf.stats.nearest_change(atlas, [[0.5, 0.5, 0.5]])
    assert len(pf.stats.nearest_change(atlas, np.zeros((0, 2)))) == 0
    with pytest.raises(IndexError, match="there is no piece 7"):
        pf.stats.decision_boundary(pf.stats.classes(atlas, threshold=0.5)).vertices(7)
