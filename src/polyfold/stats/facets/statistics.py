"""facets: how many facets cells have, which layers form them, and how large cells are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.clock import Report
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.layers_of_facets import DOMAIN, layer_of_facets, layer_of_gates
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError, how_many
from polyfold.stats.facets.diameters import diameters_of
from polyfold.stats.facets.mean_bound import MeanBound, mean_bound

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class FacetStatistics(Rows):
    """How many facets the cells of an atlas have, and which layers form them.

    Volumes and diameters are in the domain's parameters, in floats, and computed when asked for. `evidence` says what
    is known of the cells.

    Attributes
    ----------
    atlas : Atlas
        The cells.
    counts : array of int, shape (cells,)
        How many facets each cell has.
    layers : tuple of str
        The user's nodes that have gates, in order.
    facet_layer : array of int, shape (facets,)
        The number of the layer that forms each facet of the atlas, -1 on the domain's boundary. A facet on gates of
        several layers belongs to the earliest.
    mean_bound : MeanBound
        The mean beside 2d, and which theorem speaks of it.
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

    def rows(self) -> dict[str, Any]:
        """One row per cell: facets, how many of them each layer and the domain form, sizes."""
        columns: dict[str, Any] = {
            "cell": np.arange(len(self)),
            "facets": self.counts,
            "bounded": self.atlas.bounded,
            "volume": self.volumes,
            "diameter": self.diameters,
        }
        columns |= {f"facets_{name}": self.cell_layers[:, k] for k, name in enumerate(self.layers)}
        return columns | {"facets_domain": self.counts - self.cell_layers.sum(axis=1)}

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame, by cell."""
        return super().to_pandas().set_index("cell")

    def facts(self) -> dict[str, Any]:
        known = self.mean_bound
        return {
            "mean": known.mean,
            "bound": known.bound,
            "case": known.case,
            "distribution": self.distribution,
            "bounded": self.bounded,
            "layers": dict(zip(self.layers, self.layer_facets.tolist(), strict=True)),
            "counts": self.counts,
        }

    def ask_instead(self) -> str:
        return "compare its mean, or the number of cells, len(statistics)"


@question("stats.facets")
def facets(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> FacetStatistics:
    """Numbers of facets per cell and their mean beside 2d, the layers that form them, volumes and diameters of cells.

    The mean is compared with the bound of "Characterizing the Discrete Geometry of ReLU Networks"; docs/facets.md says
    where it is proved.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    FacetStatistics
        Numbers of facets by cell and by layer. Of an incomplete atlas these are those of the cells that it lists.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> quarters = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = pf.stats.facets(quarters)
    >>> found.counts.tolist(), found.mean, found.mean_bound.holds
    ([2, 2, 2, 2], 2.0, True)
    >>> dict(zip(found.layers, found.layer_facets.tolist()))
    {'relu1': 4}
    """
    atlas = as_atlas(source, domain, threads=threads)
    if not len(atlas):
        raise PolyfoldError("this atlas has no cells, and so no facets to count: pf.resume finds the missing ones")
    layers, layer = layer_of_gates(atlas)
    counts = np.diff(atlas.facet_start).astype(np.int64)
    found = FacetStatistics(atlas, counts, layers, layer_of_facets(atlas, layer), mean_bound(atlas))
    return answered(found, evidence_of(atlas))


def _read_only(array: Ids) -> Ids:
    array.setflags(write=False)
    return array
