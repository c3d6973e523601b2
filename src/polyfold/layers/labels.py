"""Which points belong to which class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import labels_of_one_kind
from polyfold.errors import ShapeError, how_many
from polyfold.network.graph import Network

Ids = npt.NDArray[np.int64]


def groups(labels: Any, count: int) -> tuple[tuple[Any, ...], list[Ids]]:
    """The distinct labels in order, and the points of each.

    >>> groups(["b", "a", "b"], 3)
    (('a', 'b'), [array([1]), array([0, 2])])
    """
    values = labels_of_one_kind("labels", labels)
    if values.ndim != 1 or len(values) != count:
        raise ShapeError(f"{how_many(count, 'point')} need as many labels; these have shape {values.shape}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ShapeError("labels must not be infinite or NaN")
    try:
        distinct, index = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ShapeError(f"labels must be of one kind, all numbers or all words: {error}") from None
    return tuple(distinct.tolist()), [np.flatnonzero(index == k) for k in range(len(distinct))]


def own_classes(network: Network, X: Any) -> Ids:
    """What the network itself says: the number of the largest output, or of one output whether it is above 0."""
    outputs = network(X)
    if outputs.shape[1] == 1:
        return (outputs[:, 0] > 0).astype(np.int64)
    found: Ids = outputs.argmax(axis=1)
    return found
