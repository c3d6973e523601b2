"""What layers do to classes: the cone score at its extremes, collapse, spread, and signs that are decided."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from helpers.random_layers import layers_of, points_in
from polyfold.datasets import iris, iris_test
from polyfold.datasets.blobs import blobs, blobs_data
from polyfold.layers.gates import gate_signs


def behind(tau: pf.layers.TruncationMap) -> list[tuple[np.ndarray, np.ndarray]]:
    """A network with one hidden layer."""
    return [(tau.weight, tau.bias), (np.ones((2, tau.gates)), np.zeros(2))]


def test_a_cone_scores_one() -> None:
    """One class in the cone, one in the opposite one: kept as it is, and collapsed to a point."""
    rng = np.random.default_rng(0)
    h = rng.normal(size=5)
    tau = pf.layers.cone_layer(np.ones(5), h, 2.0)
    near = rng.normal(scale=0.05, size=(40, 5)) + h / np.linalg.norm(h)
    X, y = np.concatenate([1 + near, 1 - near]), np.repeat(["forward", "behind"], 40)
    found = pf.layers.truncation(behind(tau)).interpret(X, y)
    assert found.classes == ("behind", "forward") and found.decided == (True,)
    assert found.layer_score.tolist() == [1.0] and found.score.tolist() == [[1.0, 1.0]]
    assert found.kept.tolist() == [[0.0, 1.0]] and found.collapsed.tolist() == [[1.0, 0.0]]
    assert found.at_a_point.tolist() == [[True, False]]
    assert found.spread[1, 0] == 0.0 < found.spread[0, 0]
    assert found.spread[1, 1] == pytest.approx(found.spread[0, 1])
    assert found.shrinking[0] == pytest.approx([0.0, 1.0])


def test_mixed_sectors_score_zero() -> None:
    """As many gates on as off at every point."""
    layers = [(np.eye(2), np.zeros(2)), (np.ones((2, 2)), np.zeros(2))]
    X = np.array([[1.0, -1.0], [2.0, -3.0], [-1.0, 4.0], [-2.0, 1.0]])
    found = pf.layers.truncation(layers).interpret(X, [0, 0, 1, 1])
    assert found.layer_score.tolist() == [0.0] and not found.score.any()
    assert not found.kept.any() and not found.collapsed.any() and not found.at_a_point.any()
    # In between: three gates on and one off is a half.
    four = [(np.eye(4), np.zeros(4)), (np.ones((2, 4)), np.zeros(2))]
    assert pf.layers.truncation(four).interpret([[1.0, 1.0, 1.0, -1.0]]).layer_score.tolist() == [0.5]
    # Gates that are zero agree with either side.
    assert pf.layers.truncation(four).interpret([[1.0, 1.0, 0.0, 0.0]]).kept.tolist() == [[1.0]]
    assert pf.layers.truncation(four).interpret([[0.0, 0.0, 0.0, 0.0]]).layer_score.tolist() == [1.0]


@pytest.mark.parametrize("seed", range(5))
def test_numbers_from_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layers = layers_of(rng, [3, 3, 2, 2])
    X, y = points_in(rng, 60, 3), rng.integers(0, 3, 60)
    found = pf.layers.truncation(layers).interpret(X, y)
    value = X
    for k, (W, b) in enumerate(layers[:-1]):
        z = value @ W.T + b
        on, off = (z > 0).sum(axis=1), (z < 0).sum(axis=1)
        score = np.abs(on - off) / (on + off)
        assert found.layer_score[k] == pytest.approx(score.mean())
        for j in range(3):
            mine = y == j
            assert found.score[k, j] == pytest.approx(score[mine].mean())
            assert found.kept[k, j] == (off[mine] == 0).mean()
            assert found.collapsed[k, j] == (on[mine] == 0).mean()
            states = found.states[k + 1][mine]
            assert found.spread[k + 1, j] == pytest.approx(np.sqrt(states.var(axis=0).sum()), abs=1e-12)
            np.testing.assert_allclose(found.means[k + 1, j], states.mean(axis=0), rtol=0, atol=1e-12)
        value = np.maximum(z, 0)
    rows = found.table()
    assert len(rows) == 6 and rows[0]["spread_after"] == rows[3]["spread_before"]


def test_signs_on_walls_are_decided() -> None:
    """Points so near to walls that floats give the wrong sign, in the second layer too: fractions are the oracle."""
    layers = [
        (np.array([[0.1, 0.2], [1.0, -1.0]]), np.array([-0.3, 0.1])),
        (np.array([[1.0, 0.1], [0.3, -1.0]]), np.array([0.0, 0.1])),
        (np.ones((1, 2)), np.zeros(1)),
    ]
    X = np.array([[i / 10, (30 - i) / 20] for i in range(-20, 60)] + [[i / 10, (i + 1) / 10] for i in range(-9, 9)])
    signs, decided = gate_signs(pf.layers.truncation(layers), pf.layers.truncation(layers).states(X))
    assert decided == (True, True)
    floats_differ = 0
    for i, x in enumerate(X):
        value = [Fraction(entry) for entry in x]
        for k, (W, b) in enumerate(layers[:-1]):
            z = [
                sum((Fraction(w) * v for w, v in zip(row, value, strict=True)), Fraction(c))
                for row, c in zip(W, b, strict=True)
            ]
            assert [int(sign) for sign in signs[k][i]] == [(q > 0) - (q < 0) for q in z]
            in_floats = np.sign(W @ np.array([float(v) for v in value]) + b)
            floats_differ += int((in_floats != signs[k][i]).sum())
            value = [max(q, Fraction(0)) for q in z]
    assert floats_differ > 0


def test_gates_behind_a_layer_that_loses_are_not_called_decided() -> None:
    found = pf.layers.truncation(iris()).interpret(*iris_test())
    assert found.decided == (True, False, False)
    assert found.residuals.proved == (False, False, False, False) and (found.residuals.largest > 0.1).all()
    lifted = pf.layers.truncation(iris(), lift=True).interpret(*iris_test())
    assert lifted.decided == (True, True, False) and lifted.residuals.proved == (True, False, False, False)
    assert lifted.classes == ("setosa", "versicolor", "virginica") and lifted.means.shape == (4, 3, 5)


def test_a_trained_network_collapses_its_classes() -> None:
    """What docs/truncation.md says about its film strip."""
    X, y = blobs_data()
    found = pf.layers.truncation(blobs())
    assert found.holds and (pf.load(blobs())(X).argmax(axis=1) == y).all()
    seen = found.interpret(X, y)
    assert seen.decided == (True, True, True)
    assert not seen.at_a_point[:2].any() and seen.at_a_point[2].tolist() == [False, False, True]
    assert seen.collapsed[0, 1] > 0.95 and seen.kept[0, 2] > 0.95
    assert seen.spread[1, 1] < 0.02 * seen.spread[0, 1] and seen.spread[3, 2] == 0.0
    assert seen.layer_score.round(2).tolist() == [0.66, 0.36, 0.33]
    assert "relu3: cone score 0.33, at a point 2" in repr(seen)
    np.testing.assert_allclose(seen.states[3][y == 2], found.maps[2].base[None].repeat(60, 0), rtol=0, atol=0)


def test_in_rationals_where_floats_do_not_suffice() -> None:
    """Thirty square layers: the product of their weights is singular for floats, and its states are far away."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(3, 3)), 0.3 * rng.normal(size=3)) for _ in range(30)]
    layers.append((rng.normal(size=(2, 3)), np.zeros(2)))
    found = pf.layers.truncation(layers)
    assert found.holds and found.floats_suffice[0] and not found.floats_suffice[-1]
    X = points_in(rng, 15, 3)
    rough, exact = found.interpret(X), found.interpret(X, exact=True)
    assert not rough.exact and rough.floats_suffice == found.floats_suffice
    assert exact.exact and all(exact.floats_suffice) and not exact.residuals.largest.any()
    truth = found.states_exactly(X)
    for k, (state, near, sure) in enumerate(zip(truth, rough.states, found.floats_suffice, strict=False)):
        np.testing.assert_allclose(exact.states[k], state.astype(float), rtol=1e-15, atol=0)
        if sure:
            np.testing.assert_allclose(near, exact.states[k], rtol=0, atol=1e-3 * np.abs(exact.states[k]).max())
    # Signs are decided by either.
    assert exact.kept.tolist() == rough.kept.tolist() and exact.score.tolist() == rough.score.tolist()


def test_rationals_decide_all_signs() -> None:
    """Behind layers that are not surjective, too: by the definition, in fractions."""
    found = pf.layers.truncation(iris())
    X, species = iris_test()
    seen = found.interpret(X[:10], species[:10], exact=True)
    assert seen.decided == (True, True, True) and (seen.residuals.largest > 0.1).all()
    near = found.interpret(X[:10], species[:10])
    np.testing.assert_allclose(near.spread, seen.spread, rtol=0, atol=1e-9)
    assert near.layer_score == pytest.approx(seen.layer_score)


def test_without_labels_classes_are_the_networks_own() -> None:
    X, y = blobs_data()
    assert pf.layers.truncation(blobs()).interpret(X).labels.tolist() == y.tolist()
    one = [(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))]
    assert pf.layers.truncation(one).interpret([[1.0, 2.0], [2.0, 1.0]]).classes == (0, 1)


def test_labels_of_all_kinds_and_bad_ones() -> None:
    import torch

    found = pf.layers.truncation(blobs())
    X, y = blobs_data()
    assert found.interpret(X, torch.as_tensor(np.array(y))).members.tolist() == [60, 60, 60]
    with pytest.raises(
        pf.PolyfoldError, match=r"y must have one label per row of X, which has 180 rows; its shape is \(3,\)"
    ):
        found.interpret(X, [0, 1, 2])
    with pytest.raises(pf.PolyfoldError, match="X has no rows"):
        found.interpret(np.zeros((0, 2)), [])
    with pytest.raises(pf.PolyfoldError, match=r"y\[\d+\] is nan"):
        found.interpret(X, np.where(y == 0, np.nan, 1.0))
    with pytest.raises(pf.PolyfoldError, match="all numbers or all texts"):
        found.interpret(X[:2], np.array([1, "a"], dtype=object))
