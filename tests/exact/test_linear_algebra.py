"""Pseudo-inverses are what Penrose's four equations say, in rationals; floats know them where they say so."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from polyfold.exact.linear_algebra import exact_rank, pseudo_inverse, pseudo_inverse_in_floats
from polyfold.exact.rational_arrays import Rationals, nearest, product, rationals, zeros


def of_rank(rng: np.random.Generator, rows: int, columns: int, rank: int) -> Rationals:
    """A random matrix of rationals with this rank: the unit in front makes both factors of full rank."""
    left, right = rng.integers(-4, 5, (rows, rank)), rng.integers(-4, 5, (rank, columns))
    left[:rank], right[:, :rank] = np.eye(rank), np.eye(rank)
    return product(rationals(left), rationals(right)) * fmpq(1, 3)


SHAPES = [(1, 1, 1), (3, 5, 3), (5, 3, 3), (4, 4, 4), (4, 4, 2), (3, 6, 2), (6, 3, 1), (2, 3, 0)]


@pytest.mark.parametrize(("rows", "columns", "rank"), SHAPES)
def test_penrose(rows: int, columns: int, rank: int) -> None:
    rng = np.random.default_rng([rows, columns, rank])
    for _ in range(5):
        A = of_rank(rng, rows, columns, rank)
        assert exact_rank(A) == rank
        X = pseudo_inverse(A)
        AX, XA = product(A, X), product(X, A)
        assert (product(AX, A) == A).all() and (product(XA, X) == X).all()
        assert (AX == AX.T).all() and (XA == XA.T).all()
        found, condition = pseudo_inverse_in_floats(A, rank)
        assert condition >= 1
        np.testing.assert_allclose(found, nearest(X), rtol=0, atol=1e-12 * max(1.0, np.abs(nearest(X)).max()))


@pytest.mark.parametrize(("rows", "columns", "rank"), [(50, 60, 50), (60, 45, 45), (50, 50, 30)])
def test_large_matrices_by_their_singular_values(rows: int, columns: int, rank: int) -> None:
    """As many of them as the rank says; numpy's cut-off comes to the same where there is a gap."""
    rng = np.random.default_rng(rank)
    A = rng.integers(-8, 9, (rows, rank)) @ rng.integers(-8, 9, (rank, columns)) / 16
    exact = rationals(A)
    assert exact_rank(exact) == rank
    found, condition = pseudo_inverse_in_floats(exact, rank)
    truth = np.linalg.pinv(A, rcond=1e-10)
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-13 * condition * np.abs(truth).max())
    np.testing.assert_allclose(A @ found @ A, A, rtol=0, atol=1e-13 * condition * np.abs(A).max())


def test_ranks_that_floats_cannot_tell() -> None:
    tiny = 2.0**-60
    A = rationals(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]))
    assert exact_rank(A) == 2 and exact_rank(rationals(np.array([[1.0, 1.0], [tiny, tiny]]))) == 1
    # 0.1 + 0.2 is not 0.3 in floats, and neither is its rank.
    assert exact_rank(rationals(np.array([[0.1, 0.2, 0.1 + 0.2], [1.0, 2.0, 3.0]]))) == 2


@pytest.mark.parametrize("size", [8, 14, 20])
def test_nearly_singular_matrices_get_more_digits(size: int) -> None:
    """Hilbert matrices: floats alone have no correct digit of the larger inverses."""
    H = rationals([[fmpq(1, i + j + 1) for j in range(size)] for i in range(size)])
    found, condition = pseudo_inverse_in_floats(H, size)
    truth = nearest(pseudo_inverse(H))
    assert condition > 1e9
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-15 * np.abs(truth).max())
    flat = np.concatenate([H, H[:1] + H[1:2]])
    assert exact_rank(flat) == size
    truth = nearest(pseudo_inverse(flat))
    np.testing.assert_allclose(pseudo_inverse_in_floats(flat, size)[0], truth, rtol=0, atol=1e-15 * np.abs(truth).max())
    square = np.concatenate([flat, zeros(size + 1, 1)], axis=1)
    truth = nearest(pseudo_inverse(square))
    np.testing.assert_allclose(
        pseudo_inverse_in_floats(square, size)[0], truth, rtol=0, atol=1e-15 * np.abs(truth).max()
    )


def test_an_upper_bound_saves_nothing_it_should_not() -> None:
    A = of_rank(np.random.default_rng(0), 5, 5, 3)
    assert exact_rank(A, 3) == exact_rank(A, 4) == exact_rank(A) == 3
