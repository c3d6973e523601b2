"""The bundled fully connected networks are the ones that were trained, and stable where their docstrings say so."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.shared_files import MNIST
from polyfold.datasets.digits import mnist_he, mnist_he_facts, mnist_l1, mnist_l1_facts

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = [(mnist_l1, mnist_l1_facts), (mnist_he, mnist_he_facts)]


def stable(layers: Any) -> list[tuple[list[int], list[int]]]:
    """The neurons of each hidden layer that intervals in rationals prove always on, and always off, on [0, 1]^n."""
    low, high = [Fraction(0)] * layers[0][0].shape[1], [Fraction(1)] * layers[0][0].shape[1]
    found = []
    for weight, bias in layers[:-1]:
        rows = [[Fraction(w) for w in row] for row in weight.tolist()]
        least = [
            Fraction(b) + sum(w * (x if w > 0 else y) for w, x, y in zip(row, low, high, strict=True))
            for row, b in zip(rows, bias.tolist(), strict=True)
        ]
        most = [
            Fraction(b) + sum(w * (y if w > 0 else x) for w, x, y in zip(row, low, high, strict=True))
            for row, b in zip(rows, bias.tolist(), strict=True)
        ]
        on = [k for k, value in enumerate(least) if value >= 0]
        found.append((on, [k for k, value in enumerate(most) if value <= 0]))
        low, high = ([max(value, Fraction(0)) for value in values] for values in (least, most))
    return found


def scores(layers: Any, pictures: Any) -> Any:
    for k, (weight, bias) in enumerate(layers):
        pictures = (np.maximum(pictures, 0) if k else pictures) @ weight.T + bias
    return pictures


@pytest.mark.parametrize(("make", "facts"), NETWORKS)
def test_weights_are_float32_as_trained(make: Callable[[], Any], facts: Callable[[], dict[str, Any]]) -> None:
    widths = facts()["widths"]
    assert [weight.shape for weight, _ in make()] == list(zip(widths[1:], widths[:-1], strict=True))
    for part in (part for layer in make() for part in layer):
        assert np.array_equal(part.astype(np.float32).astype(np.float64), part)
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0.0
    assert facts()["test_accuracy"] > 0.95
    assert facts()["torch"].startswith("2.13.0")


def test_files_are_small() -> None:
    for name in ("mnist_l1", "mnist_he"):
        assert (ROOT / "src" / "polyfold" / "datasets" / f"{name}.npz").stat().st_size < 400_000


def test_stable_neurons_are_as_many_as_the_docstring_says() -> None:
    counts = [(len(on), len(off)) for on, off in stable(mnist_l1())]
    assert counts == [(18, 29), (23, 11)]
    says = " ".join((mnist_l1.__doc__ or "").split())
    assert "proves 18 and 23 to be always on and 29 and 11 to be always off" in says
    assert stable(mnist_he()) == [([], []), ([], [])]


def test_stable_neurons_do_not_switch_on_pictures_of_noise() -> None:
    pictures = np.random.default_rng(0).uniform(size=(500, 784))
    for number, (on, off) in enumerate(stable(mnist_l1()), start=1):
        values = scores(mnist_l1()[:number], pictures)
        assert (values[:, on] >= 0).all() and (values[:, off] <= 0).all()


@pytest.mark.shared("mnist")
@pytest.mark.parametrize(("make", "facts"), NETWORKS)
def test_they_know_digits(make: Callable[[], Any], facts: Callable[[], dict[str, Any]]) -> None:
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        pictures = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255
    with gzip.open(MNIST / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), dtype=np.uint8, offset=8)
    right = float((scores(make(), pictures.astype(np.float64)).argmax(axis=1) == labels).mean())
    assert right == pytest.approx(facts()["test_accuracy"], abs=2e-4)
