"""FacetStatistics: what is known about the facets and the sizes of an atlas's cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyfold._base.extras import require
from polyfold._base.notebook import InNotebooks
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer
from polyfold.atlas.layers_of_facets import DOMAIN
from polyfold.errors import how_many
from polyfold.stats.facets.diameters import diameters_of
from polyfold.stats.facets.mean_bound import MeanBound

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class FacetStatistics(Answer, InNotebooks):
    """Facets of an atlas's cells: `counts[i]` is how many cell i has.

    `layers` are the user's nodes that have gates, in order; `facet_layer[k]` is the number of the one that forms facet
    k of the atlas, -1 on the domain's boundary. A facet on gates of several layers belongs to the earliest.
    `mean_bound` holds the mean beside 2d. Volumes and diameters are in the domain's parameters, and computed when asked
    for. `evidence` says what is known of the cells.
    """

    atlas: Atlas
    counts: Ids
    layers: tuple[str, ...]
    facet_layer: Ids
    mean_bound: MeanBound

    def __post_init__(self) -> None:
        for array in (self.counts, self.facet_layer):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"FacetStatistics of {how_many(len(self), 'cell')}: {self.mean_bound}; {self.evidence}"

    # -- how many

    @property
    def mean(self) -> float:
        """The mean number of facets; `mean_bound.mean` has it exactly."""
        return float(self.mean_bound.mean)

    @cached_property
    def distribution(self) -> Ids:
        """`distribution[k]` cells have k facets."""
        return _read_only(np.bincount(self.counts))

    @property
    def bounded(self) -> int:
        """How many cells are bounded."""
        return int(self.atlas.bounded.sum())

    @property
    def unbounded(self) -> int:
        """How many cells are not."""
        return len(self) - self.bounded

    # -- which layers

    @cached_property
    def layer_facets(self) -> Ids:
        """How many facets each layer forms. A facet between two cells counts once."""
        # Both cells list it; the second one would be counted again. A cell that was not reached lists nothing.
        once = ~((self.atlas.neighbour >= 0) & (self.atlas.neighbour < self.atlas.facet_owner))
        inner = self.facet_layer[once & (self.facet_layer != DOMAIN)]
        return _read_only(np.bincount(inner, minlength=len(self.layers)))

    @cached_property
    def cell_layers(self) -> Ids:
        """(cells, layers): how many facets of each cell each layer forms."""
        inner = self.facet_layer != DOMAIN
        found = np.zeros((len(self), len(self.layers)), dtype=np.int64)
        np.add.at(found, (self.atlas.facet_owner[inner], self.facet_layer[inner]), 1)
        return _read_only(found)

    # -- how large

    @cached_property
    def volumes(self) -> Array:
        """Volumes of cells; infinite where unbounded."""
        found = self.atlas.volumes()
        found.setflags(write=False)
        return found

    @cached_property
    def diameters(self) -> Array:
        """The largest distance between two vertices of each cell; infinite where it is unbounded."""
        found = diameters_of(self.atlas.generators())
        found.setflags(write=False)
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row a cell: facets, how many of them each layer and the domain form, sizes."""
        frames = require("pandas", extra="store", purpose="to_pandas()")
        columns: dict[str, object] = {
            "cell": np.arange(len(self)),
            "facets": self.counts,
            "bounded": self.atlas.bounded,
            "volume": self.volumes,
            "diameter": self.diameters,
        }
        columns |= {f"facets_{name}": self.cell_layers[:, k] for k, name in enumerate(self.layers)}
        columns["facets_domain"] = self.counts - self.cell_layers.sum(axis=1)
        table: pandas.DataFrame = frames.DataFrame(columns).set_index("cell")
        return table


def _read_only(array: Ids) -> Ids:
    array.setflags(write=False)
    return array
