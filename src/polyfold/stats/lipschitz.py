"""The Lipschitz constant of a network over a domain: the largest norm of its cells' linear maps.

A domain is convex, so that a segment between two of its points runs through cells only, and on each the network changes
by at most the norm of the cell's map times the length of the piece. No smaller number will do: along the best direction
within one cell the network changes by just that much.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import Report
from polyfold._base.question import question
from polyfold._base.result import Value, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.asked import cells_asked_for, finite
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.cell_maps import bounded_maps
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.rounding import LEAST, relative
from polyfold.exact.tolerances import SINGULAR_VALUE_ROUNDINGS
from polyfold.network.scores import Of, asked_of


@dataclass(frozen=True, eq=False)
class Lipschitz(Value):
    """A Lipschitz constant: ||f(u) - f(v)||_p <= value ||u - v||_p for all u and v, and for no smaller value.

    Attributes
    ----------
    value, error : float
        The constant, and a bound on how far roundings can have moved it. It is proved, up to that, if the atlas is.
    norm : float
        The p of the norms.
    cells : array of int
        The cells in which it is attained, as far as roundings can tell.
    ids : array of int, shape (n,)
        The cells that were asked about.
    of_cells : array of float, shape (n,)
        The constant of each of them alone.
    of : str
        Whether f are the model's outputs or the scores before its head.
    """

    value: float
    norm: float
    error: float
    cells: Ids
    ids: Ids
    of_cells: Array
    of: str = "the model's outputs"

    def of_regions(self, regions: Regions) -> Array:
        """The constant on each linear region alone."""
        if len(self.ids) != len(regions.label):
            raise PolyfoldError(
                f"these are constants of {how_many(len(self.ids), 'cell')}, and the regions are made of "
                f"{how_many(len(regions.label), 'cell')}: ask for those of all cells of the same atlas"
            )
        return self.of_cells[np.argsort(self.ids)][regions.first_cell]

    def __repr__(self) -> str:
        of = "" if self.of == "the model's outputs" else f", of {self.of}"
        attained = how_many(len(self.cells), "cell")
        return f"Lipschitz: {self.value:g} for p = {self.norm:g}, attained in {attained}{of}; {self.evidence}"


@question("stats.lipschitz")
def lipschitz(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    norm: float = 2,
    cells: ArrayLike | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Lipschitz:
    """The smallest number L with ||f(u) - f(v)||_p <= L ||u - v||_p on the whole domain, and where it is attained.

    On a slice u are its parameters, not the inputs.

    Parameters
    ----------
    source : SourceLike
        A model, or an atlas of one.
    domain : DomainLike, optional
        Where to look; an atlas has its own.
    norm : float
        The p of the norms: 1, 2 or infinity; with one output any p >= 1.
    cells : array of int, optional
        Take the largest constant of these cells only.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Lipschitz
        The constant, a bound on its rounding error, and the cells in which it is attained.

    Examples
    --------
    >>> import polyfold as pf
    >>> steep = [([[1.0, 1.0], [1.0, -1.0]], [0.0, 0.0]), ([[3.0, 1.0]], [0.0])]
    >>> found = pf.stats.lipschitz(steep, norm=float("inf"))
    >>> found.value, found.of_cells.tolist(), found.cells.tolist()
    (6.0, [0.0, 2.0, 6.0, 6.0], [2, 3])
    """
    atlas = as_atlas(source, domain, threads=threads, any_cells=True)
    words = asked_of(of, atlas.program.head, "the Lipschitz constant")
    order = _order(norm, atlas.outputs)
    ids = cells_asked_for(atlas, cells, "the Lipschitz constant")
    norms, errors = np.empty(len(ids)), np.empty(len(ids))
    widest = max([atlas.program.input_dim, *atlas.program.steps.widths])

    def fill(part: slice) -> None:
        maps = bounded_maps(atlas, ids[part])
        norms[part], errors[part] = _norms(maps.values[..., :-1], maps.errors[..., :-1], order)

    with np.errstate(over="ignore", invalid="ignore"):
        in_chunks(len(ids), 12 * atlas.outputs * (widest + 1) + atlas.gates, fill)
    finite(norms + errors, "the Lipschitz constant")
    value = float(norms.max())
    # The largest true norm lies between the largest of all lower bounds and the largest of all upper ones. Both are
    # taken from the value, for sums with it would round the errors away.
    above, below = (norms - value) + errors, float(((value - norms) + errors).min())
    error = max(float(above.max()), below) * (1 + relative(8)) + LEAST
    attained = ids[above + below >= -relative(8) * (np.abs(above) + below)]
    return answered(Lipschitz(value, order, error, attained, ids, norms, words), evidence_of(atlas))


def _order(p: float, outputs: int) -> float:
    try:
        order = float(p)
    except (TypeError, ValueError):
        raise PolyfoldError(f"norm must be 1, 2 or float('inf'), or with one output any p >= 1, got {p!r}") from None
    if isnan(order) or order < 1:
        raise PolyfoldError(f"norm must be at least 1, got {p!r}")
    if outputs > 1 and order not in (1.0, 2.0, inf):
        raise PolyfoldError(
            f"norm={p!r}: with {outputs} outputs the constant is known for p = 1, 2 and infinity only (for others it "
            "is hard to compute); with one output for any p >= 1"
        )
    return order


def _norms(A: Array, doubts: Array, p: float) -> tuple[Array, Array]:
    """Norms (n,) of linear maps (n, m, d) from p-norms to p-norms, and how far they can be off."""
    # Squares of numbers beyond 1e-154 and 1e154 leave the floats. Times a power of two every map has the size of one,
    # and what is too small then does not count beside its largest number.
    largest = np.maximum(np.abs(A), doubts).max(axis=(1, 2), initial=0.0)
    exponent = np.frexp(largest)[1]
    norms, errors = np.full((2, len(A)), inf)
    known = np.isfinite(largest)
    shift = -exponent[known, None, None]
    some = _norms_of_size_one(np.ldexp(A[known], shift), np.ldexp(doubts[known], shift), p)
    norms[known], errors[known] = (np.ldexp(part, exponent[known]) for part in some)
    # Back among the least floats both are rounded once more.
    return norms, errors + 2 * LEAST


def _norms_of_size_one(A: Array, doubts: Array, p: float) -> tuple[Array, Array]:
    """The same of maps whose largest number is about one."""
    m, d = A.shape[1:]
    if m == 1:
        # |a . x| <= ||a||_q ||x||_p with 1/p + 1/q = 1, and for some x they are equal.
        q = inf if p == 1 else 1.0 if p == inf else p / (p - 1)
        norms, doubt = _vector_norms(A[:, 0], q), _vector_norms(doubts[:, 0], q)
        # Powers and roots may be off by some roundings each, more where q is large: relative to the logarithms.
        roundings = d + 2 if q in (1.0, 2.0, inf) else d + 64 + int(min(8 * q, 2.0**20))
        return norms, (doubt + relative(roundings) * norms) * (1 + relative(2 * roundings + 8))
    if p == 1:
        norms, doubt = np.abs(A).sum(axis=1).max(axis=1), doubts.sum(axis=1).max(axis=1)
    elif p == inf:
        norms, doubt = np.abs(A).sum(axis=2).max(axis=1), doubts.sum(axis=2).max(axis=1)
    else:
        norms, doubt = np.linalg.norm(A, 2, axis=(1, 2)), np.sqrt((doubts**2).sum(axis=(1, 2)))
    roundings = m + d + 8 if p != 2 else SINGULAR_VALUE_ROUNDINGS * (m + d)
    return norms, (doubt + relative(roundings) * norms) * (1 + relative(2 * (m + d) + 8))


def _vector_norms(a: Array, q: float) -> Array:
    """q-norms of rows. A high power of all but the largest number is zero, of which the norm must not be."""
    sizes = np.abs(a)
    if q in (1.0, inf):
        return np.asarray(np.linalg.norm(sizes, q, axis=1))
    largest = np.where(sizes.max(axis=1) > 0, sizes.max(axis=1), 1.0)
    return np.asarray(largest * ((sizes / largest[:, None]) ** q).sum(axis=1) ** (1 / q))
