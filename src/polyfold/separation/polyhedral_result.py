"""What is known about a cone or a simplex around one of two classes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold._base.truth import YesOrNo

Array = npt.NDArray[np.float64]
Status = Literal["separable", "not separable", "undecided"]
Kind = Literal["cone", "simplex"]


@dataclass(frozen=True, eq=False)
class GroupObstacle:
    """Rows `others` of the outer class that no half-space with all of the inner class in it leaves out together.

    Weights (positive, adding up to one) of rows of either class that add up to the same point.
    """

    inside: Hashable
    own: Mapping[int, Fraction]
    others: Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class FacetObstacle:
    """Groups of rows that the facets of one simplex cannot leave out, one group each.

    For every group the rows `others`, weighted, minus the rows `own`, with the same total weight, give one and the same
    vector, which is not zero for any group without being so for all.
    """

    inside: Hashable
    groups: tuple[frozenset[int], ...]
    own: tuple[Mapping[int, Fraction], ...]
    others: tuple[Mapping[int, Fraction], ...]


@dataclass(frozen=True, eq=False)
class PolyhedralSeparability(YesOrNo, InNotebooks):
    """Whether a polyhedral cone (or a simplex) holds one class and leaves the other out.

    status: "separable" has `weights` (m, d) and `bias` (m,): weights @ x + bias is negative in all entries for points
        of class `inside`, and positive in at least one for the others; proved in rationals. "not separable" is proved
        by the obstacles, of both classes: the points of the other class cannot be shared out among so few half-spaces
        without an obstacle in one of them. "undecided" says in `reason` why.
    programs: how many pairs of sets were tried.

    As a truth value, "undecided" raises UnknownError.
    """

    kind: Kind
    status: Status
    inside: Hashable
    weights: Array
    bias: Array
    group_obstacles: tuple[GroupObstacle, ...]
    facet_obstacles: tuple[FacetObstacle, ...]
    programs: int
    reason: str

    def truth(self) -> bool | None:
        return None if self.status == "undecided" else self.status == "separable"

    def ask_instead(self) -> str:
        return "look at its status and reason, or give it more time (max_seconds)"

    @cached_property
    def generators(self) -> Array:
        """v_i as rows (m, d): the columns of the pseudo-inverse of the weights. In a cone x = base + sum a_i v_i, plus
        what all weights map to zero, with a_i = (weights @ x + bias)_i; the cone is where all a_i <= 0."""
        return np.asarray(np.linalg.pinv(self.weights).T, dtype=np.float64)

    @cached_property
    def base(self) -> Array:
        """p: the apex of a cone (if m < d, that point of the apex flat which is nearest to the origin)."""
        return -self.generators.T @ self.bias

    @cached_property
    def vertices(self) -> Array:
        """(d + 1, d): the corners of a simplex; corner i lies on all facets but facet i."""
        rows = range(len(self.bias))
        found = [
            np.linalg.solve(self.weights[[k for k in rows if k != i]], -self.bias[[k for k in rows if k != i]])
            for i in rows
        ]
        return np.array(found)

    def __repr__(self) -> str:
        return f"PolyhedralSeparability: {self.reason}"
