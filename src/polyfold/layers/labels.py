"""Which points belong to which class."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold._base.inputs import labels_of
from polyfold._base.types import ArrayLike, Ids
from polyfold.network.graph import Network


def groups(y: ArrayLike, count: int) -> tuple[tuple[Any, ...], list[Ids]]:
    """The distinct labels in order, and the points of each.

    >>> groups(["b", "a", "b"], 3)
    (('a', 'b'), [array([1]), array([0, 2])])
    """
    distinct, index = np.unique(labels_of(y, count), return_inverse=True)
    return tuple(distinct.tolist()), [np.flatnonzero(index == k) for k in range(len(distinct))]


def own_classes(network: Network, X: Any) -> Ids:
    """What the network itself says: the number of the largest output, or of one output whether it is above 0."""
    outputs = network(X)
    if outputs.shape[1] == 1:
        return (outputs[:, 0] > 0).astype(np.int64)
    found: Ids = outputs.argmax(axis=1)
    return found
