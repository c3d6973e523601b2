"""Atlases that are wrong in one way each, made from right ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import polyfold as pf


def changed(array: np.ndarray, at: object, value: object) -> np.ndarray:
    copy = array.copy()
    copy[at] = value
    return copy


def keeping_facets(atlas: pf.Atlas, kept: np.ndarray) -> pf.Atlas:
    """The atlas with these facets only (a mask)."""
    owner = np.repeat(np.arange(len(atlas)), np.diff(atlas.facet_start))
    number = np.cumsum(kept) - 1
    shared = kept[atlas.shared_facet]
    counts = np.bincount(owner[kept], minlength=len(atlas))
    return replace(
        atlas,
        facet_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        facet_wall=atlas.facet_wall[kept],
        neighbour=atlas.neighbour[kept],
        shared_facet=number[atlas.shared_facet[shared]],
        shared_wall=atlas.shared_wall[shared],
    )


def keeping_cells(atlas: pf.Atlas, kept: np.ndarray, *, hole: int = -2) -> pf.Atlas:
    """The atlas with these cells only (a mask), renumbered; those that had another one as a neighbour have `hole`."""
    atlas = keeping_facets(atlas, np.repeat(kept, np.diff(atlas.facet_start)))
    number = np.append(np.where(kept, np.cumsum(kept) - 1, hole), [-2, -1])
    return replace(
        atlas,
        patterns=atlas.patterns[kept],
        witnesses=atlas.witnesses[kept],
        bounded=atlas.bounded[kept],
        facet_start=np.append(atlas.facet_start[:-1][kept], atlas.facet_start[-1]),
        neighbour=number[atlas.neighbour].astype(np.int32),
        exact_witnesses={int(number[cell]): at for cell, at in atlas.exact_witnesses.items() if kept[cell]},
    )


def without_cell(atlas: pf.Atlas, cell: int, *, facets: str) -> pf.Atlas:
    """One cell left out, all others renumbered. Facets towards it are "dropped", left "dangling" or made "boundary"."""
    towards = atlas.neighbour == cell
    if facets == "dropped":
        atlas = keeping_facets(atlas, ~towards)
    if facets == "boundary":
        atlas = replace(atlas, facet_wall=np.where(towards, atlas.gates, atlas.facet_wall).astype(np.int32))
    return keeping_cells(atlas, np.arange(len(atlas)) != cell, hole=-1 if facets == "boundary" else -2)


def with_facet(atlas: pf.Atlas, cell: int, wall: int, neighbour: int) -> pf.Atlas:
    """One facet more, the last one of its cell."""
    at = int(atlas.facet_start[cell + 1])
    return replace(
        atlas,
        facet_start=atlas.facet_start + (np.arange(len(atlas) + 1) > cell),
        facet_wall=np.insert(atlas.facet_wall, at, wall),
        neighbour=np.insert(atlas.neighbour, at, neighbour),
        shared_facet=atlas.shared_facet + (atlas.shared_facet >= at),
    )


def with_cell_twice(atlas: pf.Atlas, cell: int) -> pf.Atlas:
    """A copy of a cell behind all others."""
    facets = atlas.facets(cell)
    return replace(
        atlas,
        patterns=np.concatenate([atlas.patterns, atlas.patterns[cell : cell + 1]]),
        witnesses=np.concatenate([atlas.witnesses, atlas.witnesses[cell : cell + 1]]),
        bounded=np.append(atlas.bounded, atlas.bounded[cell]),
        facet_start=np.append(atlas.facet_start, atlas.facet_start[-1] + len(facets)),
        facet_wall=np.append(atlas.facet_wall, atlas.facet_wall[facets]),
        neighbour=np.append(atlas.neighbour, atlas.neighbour[facets]),
    )


def flipped(atlas: pf.Atlas, cell: int, gate: int) -> pf.Atlas:
    """One bit of one pattern turned round."""
    patterns = atlas.patterns.copy()
    patterns[cell, gate // 8] ^= np.uint8(1 << (gate % 8))
    return replace(atlas, patterns=patterns)


def back_of(atlas: pf.Atlas, cell: int, facet: int) -> int:
    """The same facet as its neighbour lists it."""
    other = int(atlas.neighbour[facet])
    return next(f for f in atlas.facets(other) if atlas.neighbour[f] == cell)


Forgery = Callable[[pf.Atlas, np.random.Generator], pf.Atlas]


def _inner(atlas: pf.Atlas, rng: np.random.Generator) -> tuple[int, int]:
    """A facet between two cells, and its owner."""
    facet = int(rng.choice(np.flatnonzero(atlas.neighbour >= 0)))
    return facet, int(np.searchsorted(atlas.facet_start, facet, side="right")) - 1


def _missing(facets: str) -> Forgery:
    def forge(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
        return without_cell(atlas, int(rng.integers(len(atlas))), facets=facets)

    forge.__name__ = f"a missing cell, facets towards it {facets}"
    return forge


def facet_dropped_from_both(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    facet, cell = _inner(atlas, rng)
    kept = np.ones(len(atlas.neighbour), dtype=bool)
    kept[[facet, back_of(atlas, cell, facet)]] = False
    return keeping_facets(atlas, kept)


def facet_dropped_from_one(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    return keeping_facets(atlas, np.arange(len(atlas.neighbour)) != rng.integers(len(atlas.neighbour)))


def neighbours_swapped(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    while True:
        (first, _), (second, _) = _inner(atlas, rng), _inner(atlas, rng)
        if atlas.neighbour[first] != atlas.neighbour[second]:
            return replace(atlas, neighbour=changed(atlas.neighbour, [first, second], atlas.neighbour[[second, first]]))


def false_facet(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    while True:
        cell, gate = int(rng.integers(len(atlas))), int(rng.integers(atlas.gates))
        if all(gate not in atlas.walls(facet) for facet in atlas.facets(cell)):
            return with_facet(atlas, cell, gate, (cell + 1) % len(atlas))


def false_domain_row(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    while True:
        cell, row = int(rng.integers(len(atlas))), atlas.gates + int(rng.integers(atlas.domain.rows))
        if all(row not in atlas.walls(facet) for facet in atlas.facets(cell)):
            return with_facet(atlas, cell, row, -1)


def facet_listed_twice(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    facet, cell = _inner(atlas, rng)
    return with_facet(atlas, cell, int(atlas.facet_wall[facet]), int(atlas.neighbour[facet]))


def facet_on_another_wall(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    facet, cell = _inner(atlas, rng)
    listed = set(atlas.facet_wall[atlas.facets(cell)].tolist())
    others = [gate for gate in range(atlas.gates) if gate not in listed]
    return replace(atlas, facet_wall=changed(atlas.facet_wall, facet, int(rng.choice(others))))


def witness_moved(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    cell = int(rng.integers(len(atlas)))
    return replace(atlas, witnesses=changed(atlas.witnesses, cell, atlas.witnesses[(cell + 1) % len(atlas)]))


def bit_flipped(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    return flipped(atlas, int(rng.integers(len(atlas))), int(rng.integers(atlas.gates)))


def cell_twice(atlas: pf.Atlas, rng: np.random.Generator) -> pf.Atlas:
    return with_cell_twice(atlas, int(rng.integers(len(atlas))))


FORGERIES: tuple[Forgery, ...] = (
    _missing("dropped"),
    _missing("dangling"),
    _missing("boundary"),
    facet_dropped_from_both,
    facet_dropped_from_one,
    neighbours_swapped,
    false_facet,
    false_domain_row,
    facet_listed_twice,
    facet_on_another_wall,
    witness_moved,
    bit_flipped,
    cell_twice,
)
