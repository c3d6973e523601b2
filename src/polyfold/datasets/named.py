"""Bundled networks by their names."""

from __future__ import annotations

from collections.abc import Callable

from polyfold.datasets.blobs import blobs
from polyfold.datasets.convolutional import mnist_conv
from polyfold.datasets.digits import mnist_he, mnist_l1
from polyfold.datasets.iris import iris
from polyfold.network.graph import Network
from polyfold.network.read.arrays import from_arrays

# Read when they are asked for.
BUNDLED: dict[str, Callable[[], Network]] = {
    "blobs": lambda: from_arrays(blobs()),
    "iris": lambda: from_arrays(iris()),
    "mnist_conv": mnist_conv,
    "mnist_he": lambda: from_arrays(mnist_he()),
    "mnist_l1": lambda: from_arrays(mnist_l1()),
}
