"""The bundled convolutional network is the one that was trained."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from helpers.shared_files import MNIST
from polyfold.datasets.convolutional import mnist_conv, mnist_conv_facts
from polyfold.program.lower.lower import lower


def test_its_size() -> None:
    program = lower(mnist_conv())
    assert (program.input_dim, program.gates, program.output_dim) == (784, 7090, 10)
    assert mnist_conv_facts()["test_accuracy"] >= 0.98


@pytest.mark.shared("mnist")
def test_it_knows_digits() -> None:
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        pictures = np.frombuffer(file.read(16 + 300 * 784), dtype=np.uint8, offset=16).reshape(300, 784) / 255
    with gzip.open(MNIST / "t10k-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(8 + 300), dtype=np.uint8, offset=8)
    scores = lower(mnist_conv()).evaluate(pictures)[0]
    assert (scores.argmax(axis=1) == labels).mean() >= 0.96
