"""DualSpace: the distinct maps of an atlas's cells as points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.result import Rows
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.errors import ShapeError, how_many

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class DualSpace(Rows):
    """One point (w, b) for every distinct map w . u + b that an output has on the cells of an atlas.

    Cells have the same point exactly if they have the same map, wherever they lie.

    Attributes
    ----------
    atlas : Atlas
        Whose cells these are.
    output : int
        The number of the output.
    points : array of float, shape (n, d + 1)
        Over the domain's parameters, numbered by their first cells.
    point_of_cell : array of int, shape (cells,)
        The point of each cell.
    cell_of_sample : array of int, shape (samples,)
        The cell in which each data point sits; empty without data.
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

    def facts(self) -> dict[str, Any]:
        return {
            "output": self.output,
            "points": self.points,
            "point_of_cell": self.point_of_cell,
            "cells": self.cells,
            "first_cell": self.first_cell,
            "cell_of_sample": self.cell_of_sample,
            "samples": self.samples,
        }

    def rows(self) -> dict[str, Any]:
        """One row per point: w_0, w_1, ..., b, its first cell, and its numbers of cells and samples."""
        columns: dict[str, Any] = {"point": np.arange(len(self))}
        columns |= {f"w_{k}": self.points[:, k] for k in range(self.atlas.dim)}
        columns |= {"b": self.points[:, -1], "first_cell": self.first_cell}
        return columns | {"cells": self.cells, "samples": self.samples}

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame, by the numbers of the points."""
        return super().to_pandas().set_index("point")
