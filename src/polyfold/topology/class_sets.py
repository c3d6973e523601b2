"""The region of a class and the boundary between classes, as sets of faces."""

from __future__ import annotations

import numpy as np

from polyfold._base.numbers import one_of
from polyfold.atlas.atlas import Atlas
from polyfold.errors import PolyfoldError
from polyfold.stats.classes import Classes, as_classes
from polyfold.topology.face_complex import closed, listed
from polyfold.topology.subcomplex import Subcomplex


def class_region(atlas: Atlas | Classes, label: int) -> Subcomplex:
    """The closure of where a class wins: the largest output, or with one output whether it is positive.

    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> pf.topology.class_region(pf.unfold(larger, pf.box(0, 1)), 0).f_vector
    (3, 3, 1)
    """
    found = as_classes(atlas, "the region of a class")
    label = one_of(label, len(found), "class", "the network")
    faces = listed(found.atlas, original=found.original)
    return faces.closure(faces.dim, found.label == label)


def boundary(atlas: Atlas | Classes, *, between: tuple[int, int] | None = None) -> Subcomplex:
    """The decision boundary as a complex of its own: its pieces and all faces of theirs.

    It is where parts of different classes meet, as for `pf.stats.decision_boundary`: of any two of them, or of the two
    that `between` names.

    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> pf.topology.boundary(pf.unfold(larger, pf.box(0, 1))).f_vector
    (2, 1)
    """
    found = as_classes(atlas, "the decision boundary")
    faces = listed(found.atlas, original=found.original)
    # A facet between two cells is the face that bounds both.
    least, greatest = np.full(faces.f_vector[-2], len(found)), np.full(faces.f_vector[-2], -1)
    entries = faces.boundary[faces.dim].tocoo()
    np.minimum.at(least, entries.row, found.label[entries.col])
    np.maximum.at(greatest, entries.row, found.label[entries.col])
    chosen = [np.zeros(count, dtype=bool) for count in faces.f_vector]
    chosen[faces.dim - 1] = least < greatest
    if between is not None:
        low, high = _two_classes(between, len(found))
        chosen[faces.dim - 1] &= (least == low) & (greatest == high)
    return Subcomplex(faces, tuple(closed(faces, chosen)))


def _two_classes(between: tuple[int, int], count: int) -> tuple[int, int]:
    pair = sorted({one_of(label, count, "class", "the network") for label in between})
    if len(pair) != 2:
        raise PolyfoldError(f"between={between!r} must name two different classes")
    return pair[0], pair[1]
