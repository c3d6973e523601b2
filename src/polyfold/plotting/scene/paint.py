"""Colours of cells in space: by a column, by class or by region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.inputs import one_output
from polyfold._base.types import Array, Ids
from polyfold._base.words import names_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.regions import Regions
from polyfold.engine.regions import regions
from polyfold.plotting.geometry.columns import column
from polyfold.plotting.geometry.map_colours import map_colours
from polyfold.plotting.scene.cells import class_names
from polyfold.plotting.scene.shapes import Colouring
from polyfold.stats.classes import Classes, classes


@dataclass(frozen=True, eq=False)
class Paint:
    """What is drawn of an atlas, and in which colours: its cells, or parts of them on each of which one class wins."""

    original: Atlas
    colour: Any
    output: int
    output_names: tuple[str, ...]
    class_names: tuple[str, ...]
    classes: Classes | None = None
    regions: Regions | None = None

    @property
    def drawn(self) -> Atlas:
        """The cells, or with classes their parts."""
        return self.original if self.classes is None else self.classes.atlas

    @property
    def thing(self) -> str:
        """What is drawn."""
        return "cell" if self.classes is None else "part"

    def parts_of(self, cells: Any) -> Any:
        """What is drawn of some cells of the original; None is all."""
        if cells is None or self.classes is None:
            return cells
        return np.flatnonzero(np.isin(self.classes.cell, self.original.ids(cells)))

    def colouring(self, cells: Ids, middles: Array) -> Colouring:
        """Of cells or parts, with a point in the middle of each."""
        if self.classes is not None:
            return Colouring(self.classes.label[cells].astype(np.float64), "class", self.class_names)
        if self.regions is not None:
            number = map_colours(self.regions)[self.regions.label[cells]].astype(np.float64)
            return Colouring(number, "region", ("",) * (int(number.max(initial=0)) + 1))
        by = column(self.original, self.colour, cells, middles, self.output, self.output_names[self.output])
        return Colouring(by.values, by.label, by.names)


def paint(of: Atlas | Classes | Regions, colour: Any, output: int, output_names: Sequence[str] | None) -> Paint:
    """The paint for an atlas, whose classes or regions are found if they are asked for; or for those of an atlas."""
    asked = colour if isinstance(of, Atlas) and isinstance(colour, str) else ""
    atlas = of if isinstance(of, Atlas) else of.original if isinstance(of, Classes) else of.atlas
    return Paint(
        atlas,
        colour,
        one_output(output, atlas.outputs),
        names_for(output_names, atlas.outputs, "y", "output"),
        class_names(atlas, output_names),
        of if isinstance(of, Classes) else classes(atlas) if asked == "class" else None,
        of if isinstance(of, Regions) else regions(atlas) if asked == "region" else None,
    )
