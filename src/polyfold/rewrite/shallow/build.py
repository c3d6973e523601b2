"""shallow: an atlas as a network with three hidden layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of, resting_on
from polyfold.atlas.geometry.bounded_maps import bounded_maps
from polyfold.atlas.geometry.exact_maps import ExactMaps
from polyfold.domain.domain import DomainLike
from polyfold.engine.unfold import unfold
from polyfold.errors import PolyfoldError
from polyfold.exact.rational import as_float
from polyfold.exact.rounding import TINY
from polyfold.exact.tolerances import WELL_KNOWN
from polyfold.rewrite.shallow.exactly import PiecesOfAnAtlas
from polyfold.rewrite.shallow.hyperplanes import distinct_hyperplanes
from polyfold.rewrite.shallow.network import Shallow

Array = npt.NDArray[np.float64]


def shallow(network_or_atlas: Any, domain: DomainLike = None) -> Shallow:
    """The same function with three hidden layers, whatever the depth of the network was.

    Every cell becomes a piece with its map. On a slice the inputs are the domain's parameters.

    Parameters
    ----------
    network_or_atlas: a complete atlas, or anything that `pf.load` takes.
    domain: of a network that is no atlas yet.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> network = pf.rewrite.shallow(pf.unfold(corner))
    >>> network([[2.0, 1.0], [0.0, 0.0], [-1.0, 3.0]]).ravel().tolist()
    [3.0, 0.0, 3.0]
    >>> network.widths.layers
    (6, 8, 8)
    """
    if isinstance(network_or_atlas, Atlas):
        if domain is not None:
            raise PolyfoldError("an atlas has its domain already: give either an atlas, or a network and a domain")
        atlas = network_or_atlas
    else:
        atlas = unfold(network_or_atlas, domain)
    if not atlas.complete:
        raise PolyfoldError(f"without all cells some pieces are missing, and {atlas.certificate.how_to_complete}")
    found = distinct_hyperplanes(atlas)
    of_domain = np.zeros(len(found.c), dtype=bool)
    of_domain[found.of_facet[atlas.neighbour < 0]] = True
    alpha, beta = _well_known_maps(atlas)
    inner = np.flatnonzero((atlas.neighbour >= 0) & found.near)
    piece = np.concatenate([atlas.facet_owner, found.corner_cell])
    by_piece = np.argsort(piece, kind="stable")
    network = Shallow(
        domain=atlas.domain,
        H=found.H,
        c=found.c,
        piece_start=np.concatenate([[0], np.cumsum(np.bincount(piece, minlength=len(atlas)))]),
        condition=np.concatenate([found.of_facet, found.of_corner])[by_piece],
        is_open=np.concatenate([~found.near, np.ones(len(found.of_corner), dtype=bool)])[by_piece],
        of_domain=of_domain,
        alpha=alpha,
        beta=beta,
        frozen=np.zeros(len(atlas), dtype=bool),
        sides=np.column_stack([found.of_facet[inner], atlas.facet_owner[inner], atlas.neighbour[inner]]),
        exact=PiecesOfAnAtlas.of(atlas, found.exact),
        head=atlas.program.head,
    )
    return resting_on(evidence_of(atlas), network)


@np.errstate(over="ignore", invalid="ignore")
def _well_known_maps(atlas: Atlas) -> tuple[Array, Array]:
    """All maps in floats; where terms cancel, or leave the range of floats, rounded from exact ones."""
    found = bounded_maps(atlas, np.arange(len(atlas)))
    values, size = found.values, np.abs(found.values).max(axis=2, keepdims=True)
    fine = (found.errors <= WELL_KNOWN * size) | (found.errors <= 2 * TINY)
    doubtful = np.flatnonzero(~(fine & np.isfinite(values)).all(axis=(1, 2)))
    exact = ExactMaps(atlas)
    for cell in doubtful.tolist():
        values[cell] = np.array([as_float(x) for x in exact[cell]]).reshape(values.shape[1:])
    return np.ascontiguousarray(values[:, :, :-1]), np.ascontiguousarray(values[:, :, -1])
