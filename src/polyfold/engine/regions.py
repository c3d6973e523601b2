"""regions: the linear regions of a network, which are cells that share one affine map and touch in facets."""

from __future__ import annotations

from polyfold._base.clock import Report
from polyfold._base.question import question
from polyfold.atlas.regions import Regions, merged
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas


@question("regions")
def regions(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Regions:
    """Merge cells that have the same affine map on the domain and touch in a facet. Equality is decided exactly.

    Of the definitions of a linear region in the literature this is: a maximal union of cells on which the network is
    one affine map and that are connected through facets.

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
    Regions
        The region of every cell. Of an incomplete atlas these are the regions of the cells that it lists.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> useless = [(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))]
    >>> atlas = pf.unfold(useless)
    >>> len(atlas), len(pf.regions(atlas))
    (4, 2)
    """
    return merged(as_atlas(source, domain, threads=threads, any_cells=True))
