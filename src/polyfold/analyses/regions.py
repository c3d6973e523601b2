"""Linear regions: cells that share one affine map and are connected through facets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.location import jets_around
from polyfold.atlas.maps import in_chunks, majorant, output_forms, roundings, support
from polyfold.errors import how_many
from polyfold.exact.evaluate import RationalProgram
from polyfold.exact.rounding import TINY, relative

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Regions:
    """The linear regions of an atlas: `label[i]` is the region of cell i, numbered by their first cells."""

    atlas: Atlas
    label: Ids

    def __len__(self) -> int:
        return int(self.label.max()) + 1 if len(self.label) else 0

    def __repr__(self) -> str:
        return f"Regions: {len(self):,} of {how_many(len(self.atlas), 'cell')}"

    @cached_property
    def cells(self) -> list[Ids]:
        """The cells of every region."""
        order = np.argsort(self.label, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.label))[:-1]) if len(order) else []

    @cached_property
    def first_cell(self) -> Ids:
        """A cell of every region: its map is the region's."""
        return np.array([cells[0] for cells in self.cells], dtype=np.int64)

    def maps(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """(A, c) of every region."""
        return self.atlas.maps(self.first_cell)


def regions(atlas: Atlas) -> Regions:
    """Merge cells that have the same affine map on the domain and touch in a facet. Equality is decided exactly.

    >>> import numpy as np, polyfold as pf
    >>> useless = [(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))]
    >>> atlas = pf.unfold(useless)
    >>> len(atlas), len(pf.regions(atlas))
    (4, 2)
    """
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    owner = atlas.facet_owner
    inner = np.flatnonzero(atlas.neighbour > owner)
    same = inner[_same_map(atlas, owner[inner], atlas.neighbour[inner].astype(np.int64))]
    links = coo_matrix((np.ones(len(same)), (owner[same], atlas.neighbour[same])), shape=(len(atlas), len(atlas)))
    _, label = connected_components(links, directed=False)
    _, first, renumbered = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return Regions(atlas, rank[renumbered])


def _same_map(atlas: Atlas, here: Ids, there: Ids) -> npt.NDArray[np.bool_]:
    """Whether neighbouring cells have exactly the same map over the domain's parameters."""
    same = np.zeros(len(here), dtype=bool)
    bounds = majorant(atlas.program)
    error = relative(roundings(atlas.program) + 2 * atlas.program.input_dim)
    origin, basis = np.abs(atlas.domain.origin), np.abs(atlas.domain.basis)

    def discard(part: slice) -> None:
        values, doubts = [], []
        for cells in (here[part], there[part]):
            A, c = atlas.maps(cells, over="parameters")
            size_A, size_c = output_forms(bounds, atlas.signs(cells))
            values.append(np.concatenate([A, c[..., None]], axis=2))
            doubts.append(np.concatenate([size_A @ basis, (size_c + size_A @ origin)[..., None]], axis=2) * error)
        same[part] = ~(np.abs(values[0] - values[1]) > doubts[0] + doubts[1] + TINY).any(axis=(1, 2))

    # Maps that floats can tell apart are different; only the others need a closer look.
    widest = max([atlas.program.input_dim, *(stage.width for stage in atlas.program.stages)])
    with np.errstate(over="ignore", invalid="ignore"):
        in_chunks(len(here), 12 * atlas.outputs * (widest + 1) + atlas.gates, discard)
    close = np.flatnonzero(same)
    unheard = np.zeros(len(close), dtype=bool)

    def listen(part: slice) -> None:
        unheard[part] = _flips_unheard(atlas, here[close[part]], there[close[part]])

    in_chunks(len(close), 4 * atlas.outputs * (widest + 1) + atlas.gates, listen)
    exact = _ExactMaps(atlas)
    for i in close[~unheard]:
        same[i] = exact[here[i]] == exact[there[i]]
    return same


def _flips_unheard(atlas: Atlas, here: Ids, there: Ids) -> npt.NDArray[np.bool_]:
    """Whether no output depends on any gate that flips: every way from it to an output has a factor zero."""
    flips = atlas.signs(here) != atlas.signs(there)
    heard = np.zeros(len(here), dtype=bool)

    def listen(stage: int, rows: npt.NDArray[np.float64]) -> None:
        first = atlas.program.first_gate[stage - 1]
        flipped = flips[:, first : first + rows.shape[2]]
        heard[:] |= ((rows != 0).any(axis=1) & flipped).any(axis=1)

    for cells in (here, there):
        output_forms(support(atlas.program), atlas.signs(cells), listen)
    return ~heard


class _ExactMaps:
    """Maps of cells in rationals, each computed once."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._program = RationalProgram(atlas.program)
        self._known: dict[int, tuple[fmpq, ...]] = {}

    def __getitem__(self, cell: int) -> tuple[fmpq, ...]:
        if cell not in self._known:
            witness = self._atlas.rational_witness(int(cell))
            numbers: list[fmpq] = []
            for value, *slopes in self._program.forward(jets_around(self._atlas.domain, witness)).outputs:
                constant = value - sum((a * w for a, w in zip(slopes, witness, strict=True)), fmpq(0))
                numbers += [*slopes, constant]
            self._known[cell] = tuple(numbers)
        return self._known[cell]
