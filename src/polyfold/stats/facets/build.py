"""facet_statistics: how many facets cells have, and which layers form them."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of, resting_on
from polyfold.atlas.layers_of_facets import layer_of_facets, layer_of_gates
from polyfold.errors import PolyfoldError
from polyfold.stats.facets.mean_bound import mean_bound
from polyfold.stats.facets.result import FacetStatistics


def facets(atlas: Atlas) -> FacetStatistics:
    """Numbers of facets per cell and their mean beside 2d, the layers that form them, volumes and diameters of cells.

    >>> import numpy as np, polyfold as pf
    >>> quarters = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = pf.stats.facets(quarters)
    >>> found.counts.tolist(), found.mean, found.mean_bound.holds
    ([2, 2, 2, 2], 2.0, True)
    >>> dict(zip(found.layers, found.layer_facets.tolist()))
    {'relu1': 4}
    """
    if not isinstance(atlas, Atlas):
        raise PolyfoldError(f"facet statistics are of an atlas, not of {type(atlas).__name__}: pf.unfold makes one")
    if not len(atlas):
        raise PolyfoldError("this atlas has no cells, and so no facets to count: pf.resume finds the missing ones")
    layers, layer = layer_of_gates(atlas)
    counts = np.diff(atlas.facet_start).astype(np.int64)
    found = FacetStatistics(atlas, counts, layers, layer_of_facets(atlas, layer), mean_bound(atlas))
    return resting_on(evidence_of(atlas), found)
