"""What a flat set without end adds to the sublevel sets.

Around a flat set Z, the sublevel set is the union A of the faces on which the output is largest on Z, and what lies
strictly below is covered by the parts of these faces that do. All of these are convex, and so are their intersections:
by the nerve lemma A has the topology of the poset of its faces, and the part below that of the poset of its faces that
do not lie in Z. The homology of the one relative to the other is that of all chains of faces whose smallest member lies
in Z. Faces without end need no care in this, unlike where every face counts as one cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from polyfold._base.clock import tick
from polyfold.topology.betti import sparse_rank

Face = tuple[int, int]  # dimension and number
Chain = tuple[Face, ...]

_MOST_CHAINS = 200_000


def relative_numbers(facets: Mapping[Face, list[Face]], in_flat_set: Mapping[Face, bool], dim: int) -> list[int] | None:
    """The dimensions of that homology over two elements, or nothing if there are too many chains.

    `facets` has the faces on which the output is largest on the flat set, each with those of its facets of which that
    is true as well.
    """
    below: dict[Face, set[Face]] = {}
    chains: dict[Face, list[Chain]] = {}
    total = 0
    for face in sorted(facets):
        tick()
        below[face] = set(facets[face]).union(*(below[facet] for facet in facets[face]))
        own: list[Chain] = [(face,)] if in_flat_set[face] else []
        chains[face] = own + [(*chain, face) for smaller in sorted(below[face]) for chain in chains[smaller]]
        total += len(chains[face])
        if total > _MOST_CHAINS:
            return None
    by_length: list[list[Chain]] = [[] for _ in range(dim + 2)]
    for ending in chains.values():
        for chain in ending:
            by_length[len(chain) - 1].append(chain)
    ranks = [0, *(_rank(by_length[k - 1], by_length[k], in_flat_set) for k in range(1, dim + 2))]
    return [len(by_length[k]) - ranks[k] - ranks[k + 1] for k in range(dim + 1)]


def _rank(smaller: list[Chain], larger: list[Chain], in_flat_set: Mapping[Face, bool]) -> int:
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.sparse import csc_array

    place = {chain: i for i, chain in enumerate(smaller)}

    def entries() -> Iterator[tuple[int, int]]:
        for j, chain in enumerate(larger):
            for left_out in range(len(chain)):
                part = chain[:left_out] + chain[left_out + 1 :]
                if in_flat_set[part[0]]:
                    yield place[part], j

    pairs = np.array(list(entries()), dtype=np.int64).reshape(-1, 2)
    ones = np.ones(len(pairs), dtype=np.int8)
    matrix = csc_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(len(smaller), len(larger)))
    skipped = np.zeros(len(larger), dtype=np.uint8)
    return len(sparse_rank(matrix, skipped, True)["pivot_rows"])
