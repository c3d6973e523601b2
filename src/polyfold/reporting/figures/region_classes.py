"""Which classes win in which linear regions."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Flags
from polyfold.atlas.regions import Regions
from polyfold.stats.classes import Classes


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
