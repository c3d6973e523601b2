"""What is called SHAP is SHAP: by default what the definition says and shap computes; values of cells are called so."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import factorial
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError

Layers = list[tuple[Any, Any]]


def network(rng: np.random.Generator, *widths: int) -> Layers:
    """Weights and biases that are multiples of 1/8, so that sums of products are exact and ties do occur."""
    return [(rng.integers(-8, 9, size=(n, m)) / 8.0, rng.integers(-8, 9, size=n) / 8.0) for m, n in pairwise(widths)]


def value(layers: Layers, x: list[Fraction]) -> list[Fraction]:
    for number, (W, b) in enumerate(layers):
        x = [
            sum((Fraction(w) * v for w, v in zip(row, x, strict=True)), Fraction(c))
            for row, c in zip(W, b, strict=True)
        ]
        if number < len(layers) - 1:
            x = [max(v, Fraction(0)) for v in x]
    return x


def by_definition(layers: Layers, x: Any, background: Any, feature: int, output: int) -> Fraction:
    """The mean over background points of the weighted gains of all coalitions without the feature."""
    d, total = len(x), Fraction(0)
    others = [j for j in range(d) if j != feature]
    for point in background:
        for size in range(d):
            weight = Fraction(factorial(size) * factorial(d - size - 1), factorial(d))
            for chosen in combinations(others, size):
                without = [Fraction(x[j] if j in chosen else point[j]) for j in range(d)]
                with_it = [Fraction(x[j] if j in (*chosen, feature) else point[j]) for j in range(d)]
                total += weight * (value(layers, with_it)[output] - value(layers, without)[output])
    return total / len(background)


@pytest.mark.parametrize("seed", range(12))
def test_the_default_is_the_definition_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 2 + seed % 3
    layers = network(rng, d, 5, 3, 2)
    X = rng.integers(-16, 17, size=(4, d)) / 8.0
    found = pf.explain.shapley(layers, X, background=X)
    assert isinstance(found, pf.explain.Shapley) and found.exact and found.scope == "interventional"
    for i, j, k in np.ndindex(found.values.shape):
        assert found.values[i, j, k] == pytest.approx(float(by_definition(layers, X[i], X, j, k)), abs=1e-12)


def test_shap_says_the_same() -> None:
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(8, 4)), rng.normal(size=8)), (rng.normal(size=(1, 8)), rng.normal(size=1))]
    X = rng.normal(size=(12, 4))
    model = pf.load(layers)
    found = pf.explain.shapley(model, X, background=X)
    explainer = shap.ExactExplainer(lambda rows: model(rows)[:, 0], shap.maskers.Independent(X, max_samples=len(X)))
    assert np.abs(found.values[:, :, 0] - explainer(X).values).max() < 1e-9


def test_an_input_alone_in_its_cell_is_compared_with_nothing() -> None:
    """Against itself all values would be zero, and look like an answer."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(60, 6)), rng.normal(size=60)), (rng.normal(size=(1, 60)), rng.normal(size=1))]
    X = rng.normal(size=(20, 6))
    with pytest.raises(PolyfoldError, match="no other background point lies in the cell of input 0, nor of 19 other"):
        pf.explain.shapley(layers, X, background=X, scope="cell")
    assert np.abs(pf.explain.shapley(layers, X, background=X).values).min(axis=(1, 2)).max() > 0


@pytest.mark.parametrize("scope", ["cell", "region"])
def test_an_input_is_left_out_of_its_own_background_once(scope: Any) -> None:
    """f = relu(x) + relu(y) on the positive quadrant: shares are distances from the mean of the others."""
    corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    atlas = pf.unfold(corner, pf.box(-8, 8))
    X = np.array([[1.0, 1.0], [2.0, 5.0], [2.0, 5.0], [6.0, 3.0]])
    found = pf.explain.shapley(atlas, X, background=X, scope=scope)
    assert isinstance(found, pf.explain.LocalShapley) and found.local.points.tolist() == [3, 3, 3, 3]
    for i in range(4):
        others = [[Fraction(v) for v in X[k]] for k in range(4) if k != i]
        mean = [sum(column) / 3 for column in zip(*others, strict=True)]
        assert found.values[i, :, 0] == pytest.approx([float(Fraction(X[i, j]) - mean[j]) for j in range(2)], abs=1e-12)
    strangers = pf.explain.shapley(atlas, X + 0.25, background=X, scope=scope)
    assert isinstance(strangers, pf.explain.LocalShapley) and strangers.local.points.tolist() == [4, 4, 4, 4]


def test_values_of_cells_never_carry_the_name() -> None:
    corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    found = pf.explain.shapley(corner, [[1.0, 2.0]], background=[[3.0, 3.0]], scope="cell")
    assert repr(found).startswith("LocalShapley") and "not SHAP values" in repr(found)
    assert not hasattr(found, "to_shap")
    with pytest.raises(PolyfoldError, match=r"needs an array of inputs as background=.*scope='cell'"):
        pf.explain.shapley(pf.unfold(corner, pf.box(-4, 4)), [[1.0, 2.0]], background="uniform")


def test_values_of_a_neighbour_say_so() -> None:
    """A third is no float: what is explained is the function of floats next to it, and the answer says that."""
    third = [([[Fraction(1, 3)]], [0]), ([[1.0]], [0.0])]
    for scope in ("interventional", "cell"):
        found = pf.explain.shapley(third, [[1.0]], background=[[2.0]], scope=scope)
        assert "exact, of a neighbour of the network's function" in repr(found)
    whole = pf.explain.shapley([([[0.5]], [0.0]), ([[1.0]], [0.0])], [[1.0]], background=[[2.0]])
    assert whole.function == "the network" and "neighbour" not in repr(whole)
