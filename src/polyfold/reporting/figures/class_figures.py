"""Classes in figures: how long the boundary between each two is, and which linear regions they win in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.types import Flags
from polyfold.atlas.regions import Regions
from polyfold.stats.classes import Classes
from polyfold.stats.decision_boundary import DecisionBoundary


@dataclass(frozen=True)
class Border:
    """The boundary between two classes: how many pieces, and their lengths, areas or volumes added up."""

    pair: tuple[int, int]
    pieces: int
    measure: float


def borders(boundary: DecisionBoundary) -> tuple[Border, ...]:
    """The boundary class by class, the lower numbers first.

    >>> import polyfold as pf
    >>> larger = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> borders(pf.stats.decision_boundary(pf.unfold(larger, pf.box(0, 3))))[0].pair
    (0, 1)
    """
    pairs, which = np.unique(boundary.pair.reshape(-1, 2), axis=0, return_inverse=True)
    found = []
    for number, (one, other) in enumerate(pairs.tolist()):
        mine = which.ravel() == number
        found.append(Border((one, other), int(mine.sum()), float(boundary.measures[mine].sum())))
    return tuple(found)


def region_classes(regions: Regions, classes: Classes) -> Flags:
    """(regions, classes): whether each class wins on a part of each region that has an interior.

    >>> import polyfold as pf
    >>> atlas = pf.unfold([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0])], pf.box(0, 4))
    >>> region_classes(pf.regions(atlas), pf.stats.classes(atlas)).tolist()
    [[True, False], [True, True]]
    """
    found = np.zeros((len(regions), len(classes)), dtype=bool)
    found[regions.label[classes.cell], classes.label] = True
    return found
