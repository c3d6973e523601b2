"""A network for three clusters of points in the plane, and the points: trained by tools/train_blobs.py.

>>> [weight.shape for weight, bias in blobs()]
[(2, 2), (2, 2), (2, 2), (3, 2)]
>>> X, labels = blobs_data()
>>> X.shape, labels.shape
((180, 2), (180,))
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyfold.datasets.bundled import Layers
from polyfold.network.ops.op import constant

_FILE = Path(__file__).parent / "blobs.npz"


def blobs() -> Layers:
    """Two numbers in, a score for each of three clusters out; three hidden layers of two ReLUs. It gets all right.

    Returns
    -------
    list of pairs of array, shapes (outputs, inputs) and (outputs,)
        The layers (W, b), a ReLU between every two of them.
    """
    with np.load(_FILE) as arrays:
        return [(constant(arrays[f"W{k}"]), constant(arrays[f"b{k}"])) for k in range(1, 5)]


def blobs_data() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The 180 points that `blobs` was trained with, and the cluster of each.

    Returns
    -------
    array of float, shape (180, 2)
        The points.
    array of int, shape (180,)
        Their clusters, 0 to 2.
    """
    with np.load(_FILE) as arrays:
        labels = np.array(arrays["y"], dtype=np.int64)
        labels.setflags(write=False)
        return constant(arrays["X"]), labels
