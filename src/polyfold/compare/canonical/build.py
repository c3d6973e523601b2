"""canonical: from an atlas to the canonical form of its function."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.clock import Report, running, tick
from polyfold._base.options import whole_number
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.generators import LINE, VERTEX, Generators
from polyfold.compare.canonical.chains import Chains, Counts
from polyfold.compare.canonical.flats import Row, forward, pivot
from polyfold.compare.canonical.form import Canonical, Jump, support_of
from polyfold.compare.canonical.maps import DistinctMaps, Numbers, fractions
from polyfold.compare.canonical.rows import CellRows
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import complete_atlas
from polyfold.errors import LimitError, how_many
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.program.exact_program import from_program, lower_exactly
from polyfold.program.program import Program

_MOST_CHAINS = 10_000_000
# Cells whose vertices are found between two looks at the clock.
_CELLS_AT_ONCE = 256
# An atlas of a rounded program knows the neighbour only: its form is that of the neighbour, and never a network's.
_NOT_KNOWN = "not known, a neighbour's form"


@question("compare.canonical")
def canonical(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    max_chains: int | None = _MOST_CHAINS,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Canonical:
    """A description of the function that depends on nothing but the function and the domain.

    Networks that compute the same real-valued function on the same domain have equal forms and equal digests, however
    deep they are and whatever neurons are permuted, rescaled, split or of no use; others have different forms. On a
    slice the function is one of the domain's parameters. Of a model with a head (softmax, sigmoid, argmax) it is the
    function of the scores, and the head is part of the form: the same scores behind different heads have different
    digests. Scores that a softmax does not tell apart have different forms; `pf.equivalent` compares behind the head.
    Where floats cannot hold all coefficients that the network's numbers lead to, the form is that of a neighbour, and a
    digest of these numbers is part of it: equal forms are then still of the same function, but not the other way round.
    An atlas of a rounded program has the form of the neighbour, and says so: give the network to compare networks.

    Parameters
    ----------
    source : SourceLike
        A model, or a complete atlas of one.
    domain : DomainLike, optional
        Where to look; an atlas has its own.
    max_chains : int or None
        How many chains of faces (a facet, a facet of it, ..., a vertex) may be looked at; None for any number. A vertex
        ends (d - 1)! of them on every facet, so that their number grows fast with the dimension.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many cells were
        looked at.

    Returns
    -------
    Canonical
        The form, which can be compared with others by `==`.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> by_two = pf.compare.canonical([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> by_one = pf.compare.canonical([([[4.0], [-0.5], [0.5]], [0.0, 0.0, 2.0]), ([[0.25, 2.0, 0.0]], [0.0])])
    >>> by_two == by_one, by_two.digest == by_one.digest
    (True, True)
    >>> by_two
    Canonical: 2 maps, 1 hyperplane between them, 1 -> 1; digest ...
    """
    most = np.iinfo(np.int64).max
    limit = most if max_chains is None else whole_number("max_chains", max_chains, most)
    given = source if isinstance(source, Atlas | Program) else load(source)
    atlas = _complete_atlas(given, domain, limit, threads)
    return _Builder(atlas, limit).form(_own_numbers(given, atlas))


def _own_numbers(given: Atlas | Program | Network, atlas: Atlas) -> str | None:
    """A digest of what the atlas's program was rounded from: other numbers may be rounded to the same."""
    if atlas.program.rounding is None:
        return None
    if isinstance(given, Program) and given.rounding is None:
        return from_program(given).digest
    if not isinstance(given, Network):
        return _NOT_KNOWN
    return lower_exactly(given).digest


def _complete_atlas(given: Atlas | Program | Network, domain: DomainLike, limit: int, threads: int | None) -> Atlas:
    # Cells hang together, so there are as many facets between them, less one at most, and each begins a chain.
    most = min(limit + 1, np.iinfo(np.int32).max)
    why = "a canonical form is one of the whole function"
    atlas = complete_atlas(given, domain, why, threads=threads, max_cells=most)
    if not atlas.complete:
        raise LimitError(
            f"the network has more than {how_many(len(atlas), 'cell')}, and so more chains of faces than "
            f"max_chains={limit:,}: raise it, or take a smaller domain"
        )
    return atlas


class _Builder:
    """What is needed of an atlas on the way to its canonical form."""

    def __init__(self, atlas: Atlas, limit: int) -> None:
        self.atlas = atlas
        self.rows = CellRows(atlas)
        self.generators: Generators | None = None
        if atlas.dim > 2:
            self.generators = _all_generators(atlas)
        self._refuse_too_many(limit)

    def form(self, numbers: str | None) -> Canonical:
        found = DistinctMaps.of(self.atlas)
        form = Canonical(
            inputs=self.atlas.dim,
            outputs=self.atlas.outputs,
            domain=self.rows.of_domain(),
            maps=tuple(found.lines(number) for number in range(len(found.maps))),
            jumps=tuple(self._jumps(found)),
            found=found,
            head=self.atlas.program.head,
            numbers=numbers,
        )
        return answered(form, evidence_of(self.atlas))

    def _jumps(self, maps: DistinctMaps) -> Iterator[Jump]:
        atlas = self.atlas
        here, there = atlas.facet_owner, atlas.neighbour
        found: dict[tuple[Row, Numbers], tuple[Counts, list[int]]] = {}
        # Each facet between two cells is listed by both.
        for cell, facets_here in groupby(np.flatnonzero(maps.bends & (there > here)).tolist(), key=here.__getitem__):
            tick()
            running().tell(int(cell), len(atlas))
            chains, rows = self._chains(int(cell))
            for facet in facets_here:
                local = facet - int(atlas.facet_start[cell])
                lies_on = forward(rows[local])
                assert lies_on is not None
                hyperplane, side = lies_on
                pair = maps.maps[maps.of_cell[cell]], maps.maps[maps.of_cell[there[facet]]]
                counts, facets = found.setdefault((hyperplane, _amount(*pair, hyperplane, side)), ({}, []))
                for chain, count in chains.of_facet(local, hyperplane).items():
                    counts[chain] = counts.get(chain, 0) + count
                facets.append(facet)
        for hyperplane, change in sorted(found):
            counts, facets = found[hyperplane, change]
            yield Jump(hyperplane, fractions(change), support_of(counts), tuple(facets))

    def _chains(self, cell: int) -> tuple[Chains, list[Row]]:
        rows, found = self.rows[cell], self.generators
        if found is None:
            return Chains(rows), rows
        lies_on, vertices = [0] * len(rows), 0
        for bit, g in enumerate(range(int(found.start[cell]), int(found.start[cell + 1]))):
            if found.kind[g] == LINE:
                continue
            vertices |= (int(found.kind[g]) == VERTEX) << bit
            for local in found.facet[found.facet_start[g] : found.facet_start[g + 1]].tolist():
                lies_on[local] |= 1 << bit
        return Chains(rows, lies_on, vertices), rows

    def _refuse_too_many(self, limit: int) -> None:
        """A vertex of a facet ends (d - 1)! chains there if it is simple, and more if it is not."""
        inner = int((self.atlas.neighbour > self.atlas.facet_owner).sum())
        if self.generators is None:
            chains = inner * self.atlas.dim
        else:
            found, atlas = self.generators, self.atlas
            ends = np.repeat(np.where(found.kind == LINE, 0, 1), np.diff(found.facet_start))
            facet = atlas.facet_start[np.repeat(found.owner, np.diff(found.facet_start))] + found.facet
            once = (atlas.neighbour > atlas.facet_owner)[facet]
            chains = int(ends[once].sum()) * factorial(atlas.dim - 1)
        if chains > limit:
            raise LimitError(
                f"the {how_many(len(self.atlas), 'cell')} have about {how_many(chains, 'chain')} of faces, more than "
                f"max_chains={limit:,}: raise it, or take a smaller domain"
            )


def _all_generators(atlas: Atlas) -> Generators:
    """Those of all cells, found in parts with a look at the clock in between."""
    parts = []
    for first in range(0, len(atlas), _CELLS_AT_ONCE):
        tick()
        parts.append(atlas.generators(np.arange(first, min(first + _CELLS_AT_ONCE, len(atlas)))))
    points, facets = (np.cumsum([0, *(len(each) for each in some)]) for some in _lists(parts))
    starts = [part.start[1:] + shift for part, shift in zip(parts, points, strict=False)]
    facet_starts = [part.facet_start[1:] + shift for part, shift in zip(parts, facets, strict=False)]
    return Generators(
        np.concatenate([[0], *starts]),
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.kind for part in parts]),
        np.concatenate([[0], *facet_starts]),
        np.concatenate([part.facet for part in parts]),
    )


def _lists(parts: list[Generators]) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]]:
    return [part.points for part in parts], [part.facet for part in parts]


def _amount(here: Numbers, there: Numbers, hyperplane: Row, side: int) -> Numbers:
    """By which multiple of the hyperplane's form the maps differ: both agree where it is zero."""
    column = pivot(hyperplane)
    assert column is not None
    scale = fmpq(side, hyperplane[column])
    width = len(hyperplane)
    return tuple((here[k] - there[k]) * scale for k in range(column, len(here), width))
