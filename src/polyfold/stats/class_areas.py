"""How much of the domain each class wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold.atlas.asked import bounded_cells
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer, resting_on
from polyfold.stats.classes import Classes, as_classes

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassAreas(Answer, InNotebooks):
    """The volume of each class in the domain's parameters.

    `tied[k]` is how much of `areas[k]` class k has only because it has the lowest number: another class has the very
    same value there (or, with one output, the output equals the threshold).
    Areas are sums in floats: `evidence` says what is known of the cells, not of the roundings.
    """

    areas: Array
    tied: Array

    @property
    def total(self) -> float:
        return float(self.areas.sum())

    @property
    def shares(self) -> Array:
        """The parts of the whole: what a point drawn uniformly belongs to, with these probabilities."""
        return self.areas / self.total

    def __repr__(self) -> str:
        return f"ClassAreas: {', '.join(f'{area:g}' for area in self.areas.tolist())}; {self.evidence}"


def class_areas(atlas: Atlas | Classes, cells: Any = None) -> ClassAreas:
    """The volume of each class: of the domain, or of some of the atlas's cells. They must be bounded.

    Outputs' thresholds other than 0 are an option of `pf.stats.classes`, whose result may be given here.

    >>> import polyfold as pf
    >>> two = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> pf.stats.class_areas(pf.unfold(two, pf.box(0, 4))).areas.round(12).tolist()
    [1.5, 2.5]
    """
    found = as_classes(atlas, "the area of each class")
    parts = np.flatnonzero(np.isin(found.cell, found.original.ids(cells)))
    bounded_cells(found.atlas, parts, "the area of each class")
    volumes, label = found.atlas.volumes(parts), found.label[parts]
    areas, tied = np.zeros(len(found)), np.zeros(len(found))
    np.add.at(areas, label, volumes)
    np.add.at(tied, label, volumes * found.tied[parts])
    return resting_on(found.evidence, ClassAreas(areas, tied))
