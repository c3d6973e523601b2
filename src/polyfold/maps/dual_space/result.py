"""DualSpace: the distinct maps of an atlas's cells as points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer
from polyfold.errors import PolyfoldError, ShapeError, how_many

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class DualSpace(Answer, InNotebooks):
    """One point (w, b) for every distinct map w . u + b that an output has on the cells of an atlas.

    `points` (n, d + 1) are over the domain's parameters, numbered by their first cells; `point_of_cell[i]` is the point
    of cell i. Cells have the same point exactly if they have the same map, wherever they lie. `cell_of_sample[s]` and
    `point_of_sample[s]` say where data point s sits, and `samples[p]` how many sit at point p; they are empty or zero
    without data. `evidence` says what is known of the cells.
    """

    atlas: Atlas
    output: int
    points: Array
    point_of_cell: Ids
    cell_of_sample: Ids

    def __post_init__(self) -> None:
        if self.points.shape[1:] != (self.atlas.dim + 1,) or self.point_of_cell.shape != (len(self.atlas),):
            raise ShapeError(f"dual space has one point of {self.atlas.dim + 1} numbers for each of the cells")
        for array in (self.points, self.point_of_cell, self.cell_of_sample):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        data = f", {how_many(len(self.cell_of_sample), 'sample')}" if len(self.cell_of_sample) else ""
        cells = how_many(len(self.atlas), "cell")
        return f"DualSpace: {how_many(len(self), 'point')} of {cells}{data}; {self.evidence}"

    @property
    def point_of_sample(self) -> Ids:
        """The point whose cells hold each sample."""
        return self.point_of_cell[self.cell_of_sample]

    @cached_property
    def samples(self) -> Ids:
        """How many samples each point has."""
        return np.bincount(self.point_of_sample, minlength=len(self))

    @cached_property
    def cells(self) -> Ids:
        """How many cells each point has."""
        return np.bincount(self.point_of_cell, minlength=len(self))

    @cached_property
    def first_cell(self) -> Ids:
        """The first cell of each point."""
        return np.unique(self.point_of_cell, return_index=True)[1]

    @cached_property
    def volumes(self) -> Array:
        """The volume of each point's cells; infinite where one is unbounded."""
        found = np.zeros(len(self))
        np.add.at(found, self.point_of_cell, self.atlas.volumes())
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row a point: w_0, w_1, ..., b, its first cell, and its numbers of cells and samples."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise PolyfoldError("to_pandas() needs pandas: pip install 'polyfold[store]'") from None
        columns: dict[str, object] = {"point": np.arange(len(self))}
        columns |= {f"w_{k}": self.points[:, k] for k in range(self.atlas.dim)}
        columns |= {"b": self.points[:, -1], "first_cell": self.first_cell}
        columns |= {"cells": self.cells, "samples": self.samples}
        return pandas.DataFrame(columns).set_index("point")
