"""The check that every importer ends with."""

from __future__ import annotations

import numpy as np
import pytest

from polyfold.errors import NetworkError
from polyfold.network import load
from polyfold.network.read.check import sample_points, verify

NETWORK = load([([[1.0, 2.0]], [0.5])])


def test_the_same_function_passes() -> None:
    verify(NETWORK, NETWORK, tolerance=0.0)


def test_a_difference_is_an_error_that_says_how_large() -> None:
    with pytest.raises(NetworkError, match=r"differs by 0\.25"):
        verify(NETWORK, lambda points: NETWORK(points) + 0.25, tolerance=1e-9)


def test_nan_is_a_difference() -> None:
    with pytest.raises(NetworkError, match="differs by nan"):
        verify(NETWORK, lambda points: NETWORK(points) * np.nan, tolerance=1e-9)


def test_another_number_of_outputs_is_an_error() -> None:
    with pytest.raises(NetworkError, match="1 output,"):
        verify(NETWORK, lambda points: np.zeros((len(points), 2)), tolerance=1e-9)


def test_points_are_reproducible() -> None:
    np.testing.assert_array_equal(sample_points(3), sample_points(3))
