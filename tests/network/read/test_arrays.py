"""Networks from (W, b) pairs."""

from __future__ import annotations

import numpy as np
import pytest

from polyfold.errors import NetworkError, ShapeError
from polyfold.network import load


def test_relu_between_layers_and_none_after_the_last() -> None:
    network = load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [-5.0])])
    np.testing.assert_array_equal(network([[2.0], [-3.0]]), [[-3.0], [-2.0]])
    assert [node.name for node in network.nodes] == ["linear1", "relu1", "linear2"]
    assert network.source == "arrays"


def test_weights_are_copied_bit_for_bit_and_read_only() -> None:
    weight = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    network = load([(weight, np.zeros(3))])
    held = network.nodes[0].op.weight  # type: ignore[attr-defined]
    np.testing.assert_array_equal(held, weight.astype(np.float64))
    weight[0, 0] = 7
    assert held[0, 0] != 7
    with pytest.raises(ValueError, match="read-only"):
        held[0, 0] = 1


def test_a_network_is_returned_as_it_is() -> None:
    network = load([([[1.0]], [0.0])])
    assert load(network) is network


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([], ["empty list"]),
        ([([[1.0, 2.0]], [0.0]), ([[1.0, 2.0]], [0.0])], ["layer 2", "(1, 2)", "layer 1 gives 1", "W.T"]),
        ([([1.0, 2.0], [0.0])], ["layer 1", "W must be a matrix", "(2,)"]),
        ([([[1.0, 2.0]], [0.0, 1.0])], ["layer 1", "b has shape (2,)", "(1,)"]),
        ([([["a"]], [0.0])], ["layer 1: W", "'a'"]),
        ([([[1.0], [1.0, 2.0]], [0.0])], ["layer 1: W", "[1.0, 2.0]"]),
        ([([[1j]], [0.0])], ["layer 1: W", "complex"]),
        ([[1.0, 2.0, 3.0]], ["layer 1", "pair (W, b)"]),
        ([([[1.0]], [0.0]), 5], ["layer 2", "pair (W, b)", "5"]),
        ([(np.ones((0, 2)), np.ones(0))], ["layer 1", "(0, 2)", "empty"]),
        ([([[np.nan]], [0.0])], ["linear1", "nan"]),
        ([([[1.0]], [np.inf])], ["linear1", "inf"]),
    ],
)
def test_bad_layers_are_named_and_quoted(layers: list[object], words: list[str]) -> None:
    with pytest.raises(NetworkError) as caught:
        load(layers)
    for word in words:
        assert word in str(caught.value)


def test_rows_of_the_wrong_width_are_quoted() -> None:
    network = load([([[1.0, 1.0]], [0.0])])
    with pytest.raises(ShapeError, match=r"X must be rows of 2 numbers.*\(4, 3\)"):
        network(np.zeros((4, 3)))
    assert network(np.ones(2)).tolist() == [[2.0]]  # one vector is one row
    with pytest.raises(ShapeError, match=r"X\[1, 0\] is nan"):
        network([[0.0, 0.0], [np.nan, 0.0]])
