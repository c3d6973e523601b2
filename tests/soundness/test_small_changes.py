"""What was rounded by less than the smallest float was rounded all the same, and verdicts leave room for it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold.program.exact_program import from_layers
from soundness.oracle import Layers, scores, winner
from soundness.pairs import write_onnx

torch = pytest.importorskip("torch")


def linear(weight: float) -> torch.nn.Module:
    layer = torch.nn.Linear(1, 1).double()
    layer.weight.data[:], layer.bias.data[:] = weight, 0.0
    return layer


def over_root_of(variance: float) -> torch.nn.Module:
    """x over the root of the variance."""
    layer = torch.nn.BatchNorm1d(1, eps=0.0).double()
    layer.running_var[:] = variance
    return layer


def network(*modules: torch.nn.Module) -> pf.Network:
    return pf.load(torch.nn.Sequential(*modules).eval(), input_shape=(1,))


def root_two_root_three_and_root_six(weight: float) -> tuple[pf.Network, pf.Network]:
    """Two networks that are one function, because root(2) root(3) = root(6)."""
    behind = (linear(weight), torch.nn.ReLU(), linear(1.0))
    return network(linear(1.0), over_root_of(2.0), over_root_of(3.0), *behind), network(
        linear(1.0), over_root_of(6.0), *behind
    )


@pytest.mark.parametrize("weight", quick_then_slow([1.0, 1e-250, 1e-300], quick=2))
def test_products_of_roots_are_not_different_behind_small_weights(weight: float) -> None:
    one, two = root_two_root_three_and_root_six(weight)
    assert pf.equivalent(one, two).word != "different"


@pytest.mark.parametrize("size", quick_then_slow([1e-200, 5e-324, 1e-300, 1e-310], quick=2))
def test_products_of_roots_are_not_different_on_small_boxes(size: float) -> None:
    one, two = root_two_root_three_and_root_six(1.0)
    assert pf.equivalent(one, two, pf.box(-size, size)).word != "different"


def test_a_coefficient_between_denormals_is_rounded() -> None:
    program = from_layers([([[1]], [0]), ([[1]], [Fraction(5e-324) / 3])]).to_program()
    assert program.rounding is not None
    assert program.distance(np.ones(1))[0] > 0


def test_classes_that_differ_between_denormals_only(tmp_path) -> None:  # type: ignore[no-untyped-def]  # pytest's own
    """The second network's wall lies between two denormals: a point that is shown must be on the right side of it."""
    hidden = ("affine", np.array([[0.0, -1.0, -1.0], [2.0, 1.0, 0.0]]), np.zeros(2))
    last = ("affine", np.array([[-2.0, 0.0], [1.0, 0.0]]), np.zeros(2))
    far = 2270981956851 / 524288
    shear = ("affine", np.array([[1.0, far], [0.0, 1.0]]), np.array([0.0, 5e-324]))
    back = ("affine", np.array([[1.0, -far], [0.0, 1.0]]), np.zeros(2))
    a: Layers = [hidden, ("relu",), last, ("argmax",)]
    b: Layers = [hidden, ("relu",), shear, back, last, ("argmax",)]
    found = pf.equivalent(write_onnx(tmp_path / "a.onnx", a, 3), write_onnx(tmp_path / "b.onnx", b, 3))
    assert found.word != "equal"
    if found.word == "different":
        assert found.point is not None
        assert winner(scores(a, list(found.point))) != winner(scores(b, list(found.point)))
