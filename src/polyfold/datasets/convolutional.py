"""A small convolutional network that tells handwritten digits apart, trained by tools/train_mnist_conv.py.

>>> network = mnist_conv()
>>> network.input_dim
784
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.network.graph import Network
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.movement import Reshape
from polyfold.network.ops.op import constant, size
from polyfold.network.ops.spatial import Convolution
from polyfold.network.ops.switches import Largest, Rectify
from polyfold.network.read.builder import Builder, Value

_FILE = Path(__file__).parent / "mnist_conv.npz"
_STEP = Window(stride=(1, 1), padding=((0, 0), (0, 0)), dilation=(1, 1), groups=1)


def mnist_conv() -> Network:
    """A picture of 28 x 28 pixels between 0 and 1 in, one score per digit out.

    Two convolutions with kernels of 5 x 5 (10 and 20 channels), each with a max-pool of 2 x 2 and a ReLU, and a layer
    of 50 ReLUs: 7,090 gates, and 21,840 weights. It knows 98.6 % of the MNIST test pictures.
    """
    with np.load(_FILE) as weights:
        builder = Builder("mnist_conv")
        value = builder.port("picture", (1, 28, 28))
        for name in ("0", "3"):
            kernel, bias = (constant(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
            value = builder.emit("convolution", Convolution(kernel, bias, _STEP), value)
            value = builder.emit("pool", Largest(_squares(value)), value)
            value = _rectified(builder, value)
        value = builder.emit("flat", Reshape((size(value.shape),)), value)
        for name in ("7", "9"):
            layer = Linear(*(constant(weights[f"{name}.{part}"]) for part in ("weight", "bias")))
            value = builder.emit("layer", layer, value if name == "7" else _rectified(builder, value))
    return builder.finish([value])


def mnist_conv_facts() -> dict[str, Any]:
    """How the network was trained, and how well it does.

    Returns
    -------
    dict
        Settings and results by their names.

    Examples
    --------
    >>> mnist_conv_facts()["test_accuracy"] > 0.98
    True
    """
    with np.load(_FILE) as weights:
        facts: dict[str, Any] = json.loads(str(weights["facts"]))
    return facts


def _squares(value: Value) -> npt.NDArray[np.int64]:
    """The four members of every square of 2 x 2 entries."""
    entries = np.arange(size(value.shape)).reshape(value.shape)
    return np.stack([entries[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], axis=-1)


def _rectified(builder: Builder, value: Value) -> Value:
    return builder.emit("relu", Rectify(constant(1.0), constant(0.0)), value)
