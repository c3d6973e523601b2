"""Clustered data: classes in balls around their means that are small beside the simplex of the means.

The talk behind it says "sufficiently clustered" and no more. Here it means: the means of the Q classes are the
corners of a simplex; with r_j the radius of the ball around mean j that holds class j, and h_j the height of corner j
above the face of the others,

    r_i + r_j < h_j  for all i other than j,   and   r_j < (1 - 1/Q) h_j.

The affine function that is 1 at mean j and 0 at all others (its barycentric coordinate) changes by at most r / h_j
over a ball of radius r. So it is larger on class j than on the other classes and than 1/Q, its value at the centre:
hyperplanes parallel to the face opposite to corner j cut class j off, in whatever order the classes come.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from flint import fmpq

from polyfold._base.clock import Report, tick
from polyfold._base.question import question
from polyfold._base.result import Verdict, answered
from polyfold._base.types import Array, ArrayLike
from polyfold.exact.rational import as_float
from polyfold.exact.rational_arrays import Rationals, identity, matrix, nearest, product
from polyfold.separation.data import LabelledData, labelled, proved_of


@dataclass(frozen=True, eq=False)
class Clustered(Verdict):
    """Whether data are clustered, decided in rationals; `radii`, `heights` and `normals` are rounded.

    Attributes
    ----------
    verdict : "yes" or "no"
        Whether they are.
    labels : tuple
        The classes.
    means : array of float, shape (Q, d)
        Their means.
    radii : array of float, shape (Q,)
        Of the ball around each class's mean that holds the class.
    heights : array of float, shape (Q,)
        Of each mean above the flat through the others. Zero if the means lie in a common flat of too low dimension.
    normals : array of float, shape (Q, d)
        Unit vectors from the face opposite to each mean towards it; NaN where heights are zero.
    reason : str
        The answer in words.
    """

    words = ("clustered", "not clustered", "unknown")

    verdict: Literal["yes", "no", "unknown"]
    labels: tuple[Hashable, ...]
    means: Array
    radii: Array
    heights: Array
    normals: Array
    reason: str

    def __repr__(self) -> str:
        return f"Clustered: {self.reason}"


@question("separation.clustered")
def clustered(
    X: ArrayLike, y: ArrayLike, *, max_seconds: float | None = None, progress: bool | Report = False
) -> Clustered:
    """Whether every class lies in a small ball around its mean, small beside the simplex of the means.

    Clustered data are sequentially separable in every order of the classes.

    Parameters
    ----------
    X : array of float, shape (n, d)
        Points.
    y : array, shape (n,)
        Their labels.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Clustered
        The verdict, with means, radii and heights.

    Examples
    --------
    >>> import polyfold as pf
    >>> found = pf.separation.clustered([[0, 0], [1, 0], [9, 0], [10, 0], [0, 9]], [0, 0, 1, 1, 2])
    >>> found.word, found.radii.tolist()
    ('clustered', [0.5, 0.5, 0.0])
    """
    data = labelled(X, y)
    found = clusters_of(data)
    means, radii, heights = (data.given(each) for each in (found.means, found.radii, found.heights))
    given = replace(found, means=means, radii=radii, heights=heights)
    return answered(given, proved_of(data, "radii and heights compared in rationals"))


def clusters_of(data: LabelledData) -> Clustered:
    """The same of data that have been checked, with lengths in their unit."""
    means, count = data.means, len(data.labels)
    squares = [_largest_square(data.of(k).exact, means.exact[k]) for k in range(count)]
    radii = np.array([as_float(square) ** 0.5 for square in squares])
    inverse = _inverse_gram(means.exact)
    if inverse is None:
        nothing = np.full(means.floats.shape, np.nan)
        reason = f"no: the means of the {count} classes are no corners of a simplex (they are affinely dependent)"
        return Clustered("no", data.labels, means.floats, radii, np.zeros(count), nothing, reason)
    # Gradients of barycentric coordinates are inverse @ edges, and minus the sum of these for the first corner. The
    # squares of their lengths, one over the squares of the heights, can be read off the inverse.
    rows = product(inverse, means.exact[1:] - means.exact[0])
    lengths = [sum(inverse.ravel().tolist(), fmpq(0)), *np.diagonal(inverse).tolist()]
    heights = np.array([as_float(1 / length) ** 0.5 for length in lengths])
    normals = nearest(np.concatenate([-rows.sum(axis=0)[None], rows])) * heights[:, None]
    fault = _too_large(data, squares, [1 / length for length in lengths])
    return Clustered(
        "yes" if fault is None else "no", data.labels, means.floats, radii, heights, normals, fault or "yes"
    )


def _inverse_gram(corners: Rationals) -> Rationals | None:
    """The inverse of the products of edges from the first corner; None if the corners are affinely dependent."""
    edges = corners[1:] - corners[0]
    if len(edges) > edges.shape[1]:
        return None
    gram, columns = matrix(product(edges, edges.T)), []
    for unit in identity(len(edges)):
        tick()
        try:
            # Column by column: flint holds the interpreter, and the whole inverse takes long.
            columns.append(gram.solve(matrix(unit[:, None]), algorithm="dixon").entries())
        except ZeroDivisionError:
            return None
    return np.array(columns, dtype=object).reshape(len(edges), len(edges)).T


def _too_large(data: LabelledData, radii: list[fmpq], heights: list[fmpq]) -> str | None:
    """Why the balls are too large, given squares of radii and heights; None if they are not."""
    count, labels = len(radii), data.labels
    if data.same_point is not None:
        return f"no: {data.in_words(data.same_point)}"
    for j in range(count):
        if radii[j] >= (1 - fmpq(1, count)) ** 2 * heights[j]:
            return f"no: the ball around class {labels[j]} reaches the hyperplane through the centre"
        for i in range(count):
            if i != j and not _sum_is_less(radii[i], radii[j], heights[j]):
                return f"no: the balls around classes {labels[i]} and {labels[j]} are too large for their distance"
    return None


def _sum_is_less(a: fmpq, b: fmpq, c: fmpq) -> bool:
    """Whether sqrt(a) + sqrt(b) < sqrt(c), exactly."""
    rest = c - a - b
    return bool(rest > 0 and 4 * a * b < rest * rest)


def _largest_square(rows: Rationals, mean: Rationals) -> fmpq:
    """The square of the largest distance from the mean."""
    largest = fmpq(0)
    for row in rows:
        tick()
        largest = max(largest, sum((entry * entry for entry in row - mean), fmpq(0)))
    return largest
