"""Two fully connected networks that tell handwritten digits apart, trained by tools/train_mnist_l1.py.

Their weights are float32, so `pf.load(mnist_l1()).save_onnx(path, dtype="float32")` rounds nothing.

>>> [weight.shape for weight, bias in mnist_l1()], [weight.shape for weight, bias in mnist_he()]
([(100, 784), (100, 100), (10, 100)], [(32, 784), (16, 32), (10, 16)])
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from polyfold.datasets.bundled import Layers
from polyfold.network.ops.op import constant

_FOLDER = Path(__file__).parent


def mnist_l1() -> Layers:
    """784 pixels between 0 and 1 in, one score per digit out; two hidden layers of 100 ReLUs.

    Trained with 0.0002 times the sum of all absolute weights added to the loss, so that many neurons do not switch on
    [0, 1]^784: interval arithmetic alone proves 18 and 23 to be always on and 29 and 11 to be always off, in the first
    and in the second layer. It knows 97.9 % of the MNIST test pictures. Seed 0; `mnist_l1_facts` has all settings.

    Returns
    -------
    list of pairs of array, shapes (outputs, inputs) and (outputs,)
        The layers (W, b), a ReLU between every two of them.
    """
    return _layers("mnist_l1")


def mnist_he() -> Layers:
    """784 pixels between 0 and 1 in, one score per digit out; hidden layers of 32 and 16 ReLUs.

    Initialised as He et al. do it and trained like `mnist_l1`, with seed 0, but with the loss alone. It knows 96.6 % of
    the MNIST test pictures. `mnist_he_facts` has all settings.

    Returns
    -------
    list of pairs of array, shapes (outputs, inputs) and (outputs,)
        The layers (W, b), a ReLU between every two of them.
    """
    return _layers("mnist_he")


def mnist_l1_facts() -> dict[str, Any]:
    """How the network was trained, and how well it does.

    Returns
    -------
    dict
        Settings and results by their names.

    Examples
    --------
    >>> mnist_l1_facts()["l1"], mnist_l1_facts()["test_accuracy"]
    (0.0002, 0.979)
    """
    return _facts("mnist_l1")


def mnist_he_facts() -> dict[str, Any]:
    """How the network was trained, and how well it does.

    Returns
    -------
    dict
        Settings and results by their names.

    Examples
    --------
    >>> mnist_he_facts()["l1"], mnist_he_facts()["test_accuracy"]
    (0.0, 0.9658)
    """
    return _facts("mnist_he")


def _layers(name: str) -> Layers:
    with np.load(_FOLDER / f"{name}.npz") as weights:
        numbers = sorted({int(key.split(".")[0]) for key in weights.files if key != "facts"})
        return [(constant(weights[f"{number}.weight"]), constant(weights[f"{number}.bias"])) for number in numbers]


def _facts(name: str) -> dict[str, Any]:
    with np.load(_FOLDER / f"{name}.npz") as weights:
        facts: dict[str, Any] = json.loads(str(weights["facts"]))
    return facts
