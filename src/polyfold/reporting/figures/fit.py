"""How a network does on data: its answers, and how many of them are right or how far they are off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.network.graph import Network


@dataclass(frozen=True, eq=False)
class Fit:
    """`scores` (n, outputs) are the network's outputs, in floats; `answers` (n,) its classes, if it has any.

    With true classes `right` is how many answers are right, and table[i, j] how often class i got the answer j; with
    true outputs there are the mean and the largest difference between the output and the truth.
    """

    scores: Array
    answers: Ids | None
    right: int | None
    table: Ids | None
    mean_error: float | None
    largest_error: float | None


def fit(network: Network, X: Array, *, classes: bool, labels: Ids | None = None, targets: Array | None = None) -> Fit:
    """The network at the rows of X, beside the truth if it is known. With one output class 1 is where it exceeds 0.

    >>> from polyfold.network.load import load
    >>> same = load([([[1.0]], [0.0])])
    >>> fit(same, np.array([[1.0], [3.0]]), classes=False, targets=np.array([1.0, 2.0])).mean_error
    0.5
    """
    scores = network(X)
    answers = None
    if classes:
        answers = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
    right = None if answers is None or labels is None else int((answers == labels).sum())
    table = None
    if answers is not None and labels is not None:
        table = np.zeros((max(2, scores.shape[1]),) * 2, dtype=np.int64)
        np.add.at(table, (labels, answers), 1)
    gaps = None if targets is None else np.abs(scores[:, 0] - targets)
    return Fit(
        scores,
        answers,
        right,
        table,
        None if gaps is None else float(gaps.mean()),
        None if gaps is None else float(gaps.max()),
    )
