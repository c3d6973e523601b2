"""Maps between networks: against plain least squares, and where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import LimitError, ShapeError
from polyfold.maps import gram

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(400, 6)), RNG.normal(size=(90, 6))


def network(seed: int, hidden: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [
        (rng.normal(size=(hidden, 6)), rng.normal(size=hidden)),
        (rng.normal(size=(hidden, hidden)), rng.normal(size=hidden)),
        (rng.normal(size=(3, hidden)), rng.normal(size=3)),
    ]


A, B = network(1, 10), network(2, 8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_least_squares(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "AT_ONCE", 64)
    a, b = (pf.maps.matrices(layers, X, dtype=dtype) for layers in (A, B))
    found = pf.maps.transfer(a, b)
    assert found.rank == (7, 7, 7)
    for k in range(3):
        rows, goal = (maps.of(k).astype(np.float64) for maps in (a, b))
        best = np.linalg.lstsq(rows, goal, rcond=None)[0]
        np.testing.assert_allclose(found.of(k), best, rtol=0, atol=1e-9 * np.abs(best).max())
        left = np.square(rows @ best - goal).sum() / np.square(goal).sum()
        assert found.residual[k] == pytest.approx(left, abs=1e-12) and 0.01 < left < 1


def test_to_itself_it_is_the_identity_on_the_rows() -> None:
    # Four hidden gates: rows have five dimensions of seven.
    layers = [(RNG.normal(size=(4, 6)), RNG.normal(size=4)), (RNG.normal(size=(2, 4)), RNG.normal(size=2))]
    maps = pf.maps.matrices(layers, X)
    found = pf.maps.transfer(maps, maps)
    assert found.rank == (5, 5) and max(found.residual) < 1e-12
    for k in range(2):
        np.testing.assert_allclose(maps.of(k) @ found.of(k), maps.of(k), rtol=0, atol=1e-9)
        # What is orthogonal to all rows goes to zero: M is the projection.
        np.testing.assert_allclose(found.of(k) @ found.of(k), found.of(k), rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.of(k), found.of(k).T, rtol=0, atol=1e-9)
    test = pf.maps.matrices(layers, Y)
    assert (found.predict(test) == test.predict()).all() and found.score(test, test.predict()) == 1.0
    np.testing.assert_allclose(found.values(test), test.values(), rtol=0, atol=1e-9)


def test_a_map_that_there_is_is_found() -> None:
    # Scaled outputs have scaled maps; another order of inputs has its columns in that order.
    order = np.array([3, 1, 0, 2, 5, 4])
    other = [(A[0][0][:, order], A[0][1]), A[1], (2 * A[2][0], 2 * A[2][1])]
    a = pf.maps.matrices(A, X)
    b = pf.maps.matrices(other, X[:, order])
    as_if = pf.maps.MapMatrices(b.matrices, a.X, b.outputs, b.input_shape, b.cells, b.residual)
    expected = np.zeros((7, 7))
    expected[order, np.arange(6)] = expected[6, 6] = 2.0
    found = pf.maps.transfer(a, as_if)
    np.testing.assert_allclose(found.of(1), expected, rtol=0, atol=1e-9)
    assert max(found.residual) < 1e-12
    np.testing.assert_allclose(pf.maps.similarity(a, as_if).alignment, [1.0, 1.0, 1.0], rtol=0, atol=1e-12)


def test_a_penalty_makes_it_smaller() -> None:
    a, b = (pf.maps.matrices(layers, X) for layers in (A, B))
    sizes, left = [], []
    for ridge in (0.0, 0.01, 1.0):
        found = pf.maps.transfer(a, b, ridge=ridge)
        sizes.append(np.linalg.norm(found.of(0)))
        left.append(found.residual[0])
        rows, goal = a.of(0), b.of(0)
        largest = np.linalg.eigvalsh(rows.T @ rows)[-1]
        best = np.linalg.solve(rows.T @ rows + ridge * largest * np.eye(7), rows.T @ goal)
        np.testing.assert_allclose(found.of(0), best, rtol=0, atol=1e-9)
        assert left[-1] == pytest.approx(np.square(rows @ best - goal).sum() / np.square(goal).sum())
    assert sizes == sorted(sizes, reverse=True) and left == sorted(left)


def test_alignment_by_its_definition() -> None:
    a, b = (pf.maps.matrices(layers, X) for layers in (A, B))
    assert pf.maps.similarity(a, a).mean == pytest.approx(1.0) and pf.maps.similarity(b, b).mean == pytest.approx(1.0)
    found = pf.maps.similarity(a, b)
    assert found.alignment == pytest.approx(pf.maps.similarity(b, a).alignment)
    for k in range(3):
        rows, goal = (maps.of(k) - maps.of(k).mean(axis=0) for maps in (a, b))
        # As kernels over inputs: <K, L> / (|K| |L|).
        K, L = rows @ rows.T, goal @ goal.T
        expected = (K * L).sum() / np.linalg.norm(K) / np.linalg.norm(L)
        assert found.alignment[k] == pytest.approx(expected) and 0 < expected < 0.99


def test_the_table_is_its_pairs() -> None:
    train = {name: pf.maps.matrices(layers, X) for name, layers in (("a", A), ("b", B))}
    test = {name: pf.maps.matrices(layers, Y) for name, layers in (("a", A), ("b", B))}
    labels = test["a"].predict()
    table = pf.maps.transfer_table(train, test=test, y=labels)
    assert table.names == ("a", "b")
    assert table.accuracy[0, 0] == 1.0 and table.accuracy[1, 1] == test["b"].score(labels)
    for k, goal in ((0, 1), (1, 0)):
        one, other = table.names[k], table.names[goal]
        found = pf.maps.transfer(train[one], train[other])
        assert table.accuracy[k, goal] == found.score(test[one], labels)
        assert table.residual[k, goal] == pytest.approx(np.mean(found.residual))
        assert table.alignment[k, goal] == pytest.approx(pf.maps.similarity(train[one], train[other]).mean)
    assert table.residual[0, 0] == 0 and table.alignment[1, 1] == 1


def test_bad_input() -> None:
    a, other = pf.maps.matrices(A, X), pf.maps.matrices(A, Y)
    with pytest.raises(ShapeError, match="other inputs"):
        pf.maps.transfer(a, other)
    with pytest.raises(ShapeError, match="cannot be compared"):
        pf.maps.similarity(a, pf.maps.matrices(A, X, output=[0]))
    for ridge in (-1.0, np.inf, "much"):
        with pytest.raises(LimitError, match="ridge="):
            pf.maps.transfer(a, a, ridge=ridge)
    with pytest.raises(ShapeError, match="the same ones"):
        pf.maps.transfer_table({"a": a}, test={"b": a}, y=a.predict())
