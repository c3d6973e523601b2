"""An output that is not there is one error everywhere, which quotes it and says how many there are."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import polyfold as pf
from polyfold.plotting.scene.histograms import share_bars

LAYERS = [
    (np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -0.7]]), np.array([0.1, -0.2, 0.05])),
    (np.array([[1.0, -2.0, 0.5], [0.5, 0.4, -1.0]]), np.zeros(2)),
]
X = np.array([[0.3, -0.4], [0.1, 0.2]])
NOT_THERE = [2, 7, -1, -2, True, np.True_, 0.0, 1.5, float("nan"), "0", "largest!", np.float64(1.0), 10**30]


@pytest.fixture(scope="module")
def atlas() -> pf.Atlas:
    return pf.unfold(LAYERS, pf.box(-1, 1))


@pytest.fixture(scope="module")
def line() -> pf.Atlas:
    return pf.unfold(LAYERS, pf.line([-1, -1], [1, 1]))


def recording() -> pf.training.Recording:
    return pf.training.record([(W.copy(), b.copy()) for W, b in LAYERS]).recording


QUESTIONS: dict[str, Callable[[pf.Atlas, pf.Atlas, object], object]] = {
    "maximum": lambda atlas, line, k: pf.stats.maximum(atlas, output=k),
    "minimum": lambda atlas, line, k: pf.stats.minimum(atlas, output=k),
    "level_set": lambda atlas, line, k: pf.topology.level_set(atlas, 0.1, output=k),
    "sublevel": lambda atlas, line, k: pf.topology.sublevel(atlas, 0.1, output=k),
    "superlevel": lambda atlas, line, k: pf.topology.superlevel(atlas, 0.1, output=k),
    "critical_points": lambda atlas, line, k: pf.topology.critical_points(atlas, output=k),
    "critical_points of faces": lambda atlas, line, k: pf.topology.critical_points(pf.topology.faces(atlas), output=k),
    "persistence": lambda atlas, line, k: pf.topology.persistence(atlas, output=k),
    "dual_space": lambda atlas, line, k: pf.maps.dual_space(atlas, output=k),
    "integrated_gradients": lambda atlas, line, k: pf.explain.integrated_gradients(LAYERS, X, baseline=X[0], output=k),
    "several of integrated_gradients": lambda a, b, k: pf.explain.integrated_gradients(
        LAYERS, X, baseline=X[0], output=[0, k]
    ),
    "local_maps": lambda atlas, line, k: pf.maps.matrices(LAYERS, X, output=[k]),
    "one of local_maps": lambda atlas, line, k: pf.maps.matrices(LAYERS, X, output=k),
    "plot of outputs": lambda atlas, line, k: pf.plot(atlas, colour="output", output=k),
    "plot of slopes": lambda atlas, line, k: pf.plot(atlas, colour="slope", output=k),
    "plot of a line": lambda atlas, line, k: pf.plot(line, output=k),
    "plot of a line, several": lambda atlas, line, k: pf.plot(line, output=[0, k]),
    "surface": lambda atlas, line, k: pf.plot(atlas, kind="surface", output=k),
    "movie": lambda atlas, line, k: pf.training.movie(recording(), pf.box(-1, 1), out="a.html", output=k),
    "SHAP values": lambda atlas, line, k: pf.explain.shapley(LAYERS, X, background=X).to_shap(k),
    "bars of shares": lambda atlas, line, k: share_bars(
        pf.explain.shapley(atlas, X, background="uniform", scope="cell"), output=k
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_output_that_is_not_there(question, atlas, line):
    if question == "SHAP values":
        pytest.importorskip("shap")
    if question == "persistence":
        pytest.importorskip("gudhi")
    for number in NOT_THERE:
        if isinstance(number, str) and question == "integrated_gradients":
            continue  # "largest" is an option there, and others are "no option"
        said = f"there is no output {number!r}: the network has 2 outputs, counted from 0"
        with pytest.raises(pf.PolyfoldError, match=f"^{re.escape(said)}$"):
            QUESTIONS[question](atlas, line, number)


@pytest.mark.parametrize("question", [name for name in QUESTIONS if "plot" not in name and name != "movie"])
def test_numbers_of_numpy_are_numbers(question, atlas, line):
    if question == "SHAP values":
        pytest.importorskip("shap")
    if question == "persistence":
        pytest.importorskip("gudhi")
    for number in (1, np.int64(1), np.uint8(1)):
        QUESTIONS[question](atlas, line, number)


def test_maps_of_some_outputs():
    maps = pf.maps.matrices(LAYERS, X, output=[1])
    assert maps.of(np.int64(1)).shape == (2, 3)
    for number in (0, 2, -1, True, 1.0, "1"):
        said = f"there are no maps of output {number!r}: there are those of [1]"
        with pytest.raises(pf.PolyfoldError, match=re.escape(said)):
            maps.of(number)


def test_lists_that_are_no_coefficients(atlas):
    for given in ([1.0], [1.0, 2.0, 3.0], [[1.0], [1.0, 2.0]], [np.nan, 1.0], "01"):
        with pytest.raises(pf.PolyfoldError):
            pf.stats.maximum(atlas, output=given)
    assert pf.stats.maximum(atlas, output=[1.0, 0.0]).value == pf.stats.maximum(atlas, output=0).value
