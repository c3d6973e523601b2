"""Simplex separability of two classes: does a d-simplex hold one of them and leave the other out?

With at most d half-spaces it does: made independent, they are completed by facets far away from the inner class. With
d + 1 the normals must add up to zero, with positive factors; then the half-spaces of all groups are found together,
by one linear program in which these factors are absorbed into the normals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polyfold.separation.data import LabelledData, PointSet, two_classes
from polyfold.separation.facets import all_facets
from polyfold.separation.halfspaces import HalfSpace
from polyfold.separation.leaning import completed, independent
from polyfold.separation.polyhedral import decided, in_users_unit
from polyfold.separation.polyhedral_result import PolyhedralSeparability


def simplex(X: Any, y: Any, *, inside: Any = None, max_seconds: float | None = 60.0) -> PolyhedralSeparability:
    """Whether a simplex with d + 1 facets holds one class and leaves every point of the other out.

    Parameters
    ----------
    inside: the label of the class in the simplex; both are tried if it is not given.
    max_seconds: the question is NP-complete; after so long the answer is "undecided". None for no limit.

    >>> ring = [[3, 0], [-3, 0], [0, 3], [0, -3], [2, 2], [-2, 2], [2, -2], [-2, -2]]
    >>> found = simplex([[0, 0], *ring], ["core"] + ["ring"] * 8)
    >>> found.status, found.inside, found.vertices.shape
    ('separable', 'core', (3, 2))
    """
    data = two_classes(X, y, "separability by a simplex")
    return in_users_unit(data, simplex_around(data, inside, max_seconds))


def simplex_around(data: LabelledData, inside: Any, max_seconds: float | None) -> PolyhedralSeparability:
    """The same of data that have been checked, in their unit."""

    def finish(inner: PointSet, outer: PointSet, walls: Sequence[HalfSpace]) -> Sequence[HalfSpace] | None:
        if len(walls) > data.dim:
            return walls
        apart = independent(inner, outer, walls)
        return None if apart is None else completed(inner, outer, apart)

    return decided(data, "simplex", inside, max_seconds, data.dim + 1, finish, all_facets)
