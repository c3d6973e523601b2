"""shallow: an atlas as a network with three hidden layers."""

from __future__ import annotations

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import Report, tick
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.types import Array
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import complete_atlas
from polyfold.exact.rational import as_float
from polyfold.exact.rounding import TINY
from polyfold.exact.tolerances import WELL_KNOWN
from polyfold.rewrite.shallow.exactly import PiecesOfAnAtlas
from polyfold.rewrite.shallow.hyperplanes import distinct_hyperplanes
from polyfold.rewrite.shallow.network import Shallow

# Numbers that are worked with between two looks at the clock.
_FLOATS_AT_ONCE = 1 << 21


@question("rewrite.shallow")
def shallow(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Shallow:
    """The same function with three hidden layers, whatever the depth of the network was.

    Every cell becomes a piece with its map. On a slice the inputs are the domain's parameters.

    Parameters
    ----------
    source : SourceLike
        A model, or a complete atlas of one.
    domain : DomainLike, optional
        Where to look; an atlas has its own.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Shallow
        The network. It can be given wherever a model can.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> network = pf.rewrite.shallow(pf.unfold(corner))
    >>> network([[2.0, 1.0], [0.0, 0.0], [-1.0, 3.0]]).ravel().tolist()
    [3.0, 0.0, 3.0]
    >>> network.widths.layers
    (6, 8, 8)
    """
    atlas = complete_atlas(source, domain, "without all cells some pieces are missing", threads=threads)
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
    return answered(network, evidence_of(atlas))


@np.errstate(over="ignore", invalid="ignore")
def _well_known_maps(atlas: Atlas) -> tuple[Array, Array]:
    """All maps in floats; where terms cancel, or leave the range of floats, rounded from exact ones."""
    values = np.empty((len(atlas), atlas.outputs, atlas.dim + 1))
    fine = np.empty(len(atlas), dtype=bool)

    def fill(part: slice) -> None:
        found = bounded_maps(atlas, np.arange(len(atlas))[part])
        size = np.abs(found.values).max(axis=2, keepdims=True)
        known = (found.errors <= WELL_KNOWN * size) | (found.errors <= 2 * TINY)
        values[part], fine[part] = found.values, (known & np.isfinite(found.values)).all(axis=(1, 2))

    widest = max([atlas.program.input_dim, *atlas.program.steps.widths])
    in_chunks(len(atlas), 12 * atlas.outputs * (widest + 1) + atlas.gates, fill, _FLOATS_AT_ONCE)
    exact = ExactMaps(atlas)
    for cell in np.flatnonzero(~fine).tolist():
        tick()
        values[cell] = np.array([as_float(x) for x in exact[cell]]).reshape(values.shape[1:])
    return np.ascontiguousarray(values[:, :, :-1]), np.ascontiguousarray(values[:, :, -1])
