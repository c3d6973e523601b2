"""Polyhedral-cone separability of two classes: is one of them in a cone with at most d facets that the other avoids?

The cone is S- = {p + sum a_i v_i : a_i <= 0}, with m <= d generators; for m < d everything that the weights map to
zero is added to it. In weights: {x : W x + b <= 0} with m <= d linearly independent rows. Independence costs nothing:
half-spaces that hold one finite set strictly and leave another out strictly can be leaned a little. So the question
is whether at most d half-spaces do.
"""

from __future__ import annotations

from typing import Any

from polyfold.separation.data import LabelledData, two_classes
from polyfold.separation.leaning import independent
from polyfold.separation.polyhedral import decided, in_users_unit
from polyfold.separation.polyhedral_result import PolyhedralSeparability


def cone(X: Any, y: Any, *, inside: Any = None, max_seconds: float | None = 60.0) -> PolyhedralSeparability:
    """Whether a polyhedral cone with at most d facets holds one class and leaves every point of the other out.

    Parameters
    ----------
    inside: the label of the class in the cone; both are tried if it is not given.
    max_seconds: the question is NP-complete; after so long the answer is "undecided". None for no limit.

    >>> found = cone([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> found.status, found.weights.shape
    ('separable', (2, 2))
    """
    data = two_classes(X, y, "separability by a polyhedral cone")
    return in_users_unit(data, cone_around(data, inside, max_seconds))


def cone_around(data: LabelledData, inside: Any, max_seconds: float | None) -> PolyhedralSeparability:
    """The same of data that have been checked, in their unit."""
    return decided(data, "cone", inside, max_seconds, data.dim, independent)
