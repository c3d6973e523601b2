"""Which rows of data a cut should go through: two for a line, three for a plane, of different classes if there are."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.domain.domain import plane
from polyfold.errors import DomainError

# So many rows are tried for a third corner.
_TRIED = 200


def ends_of_a_line(points: Array, answers: Ids) -> tuple[int, int] | None:
    """The first row, and the first other one of another class; of the same class if all are; None if all are equal.

    >>> ends_of_a_line(np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1]))
    (0, 2)
    """
    for wanted in (answers != answers[0], np.ones(len(points), dtype=bool)):
        for row in np.flatnonzero(wanted).tolist():
            if not np.array_equal(points[row], points[0]):
                return 0, row
    return None


def corners_of_a_triangle(points: Array, answers: Ids) -> tuple[int, int, int] | None:
    """The ends of a line and a third row off it, of a third class if there is one; None if all lie on a line.

    >>> corners_of_a_triangle(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 1.0]]), np.array([0, 1, 2, 0]))
    (0, 1, 3)
    """
    ends = ends_of_a_line(points, answers)
    if ends is None:
        return None
    others = [row for row in range(len(points)) if row not in ends]
    seen = {int(answers[row]) for row in ends}
    for row in sorted(others, key=lambda row: int(answers[row]) in seen)[:_TRIED]:
        try:
            plane(points[ends[0]], points[ends[1]], points[row])
        except DomainError:
            continue
        return (*ends, row)
    return None
