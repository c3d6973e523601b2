"""estimate: about how many cells a network has on a box, and what finding them would take, from a few seconds' work.

First the engine runs for a while. If it comes to its end, nothing is left to estimate. If not, it has told how many
cells a second it finds and how many bytes one takes, and the number of cells is estimated from parts of the box.

Cut the box into parts by planes across each axis. An open convex set of dimension k has Euler characteristic (-1)^k
with compact supports, and that is additive. So the number of cells is the sum over all parts of

    the sum over subsets T of its inner lower faces of (-1)^|T| (cells of the network on the face T),

where T fixes the coordinates in T at their lower ends, and a lower end on the box's own boundary is not inner. The mean
of this over parts drawn at random, times the number of parts, is an estimate without bias, and its spread says how much
it can be trusted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import chain, combinations
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import Clock
from polyfold._base.notebook import InNotebooks
from polyfold._base.options import thread_count
from polyfold.domain.domain import Domain, DomainLike, box, resolve_domain, slice_of
from polyfold.engine.method import Counted, as_method_takes_it, count_cells
from polyfold.engine.run import Leave, watched
from polyfold.engine.unfold import unfold
from polyfold.errors import LimitError
from polyfold.network.load import load
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.size.bounds import bounds

Array = npt.NDArray[np.float64]

# Of the time given, what the engine may use for itself. Cells beyond so many would only have to be put together.
_OWN_SHARE = 0.3
_OWN_CELLS = 500_000
# With more dimensions one cell can have more parts in the last layer than there is time for, and the engine looks at
# the clock between cells. So it is not tried, unless there cannot be many.
_TRIED_DIM = 5
_FEW_CELLS = 1_000_000
# A part has 2^d faces. Parts are made small enough for so many to fit into the time, and fewer say nothing.
_MOST_DIM = 6
_PARTS = 24
_FEWEST_PARTS = 8
_FINEST = 1 << 12


@dataclass(frozen=True)
class Estimate(InNotebooks):
    """What a whole `pf.unfold` would find and take here, by what a short one took.

    Attributes
    ----------
    exact: whether `cells` is the number itself: the short run came to its end.
    cells, error: the estimate and its standard error; None where there is none, and `reason` says why.
    least, most: proved: so many cells were found, and no network of these layers has more.
    cells_a_second, bytes_a_cell: of the short run; the atlas's arrays, without what a run needs on the way. None where
        it was not tried.
    parts: from how many parts of the box the number was estimated.
    """

    exact: bool
    cells: float | None
    error: float | None
    least: int
    most: int
    cells_a_second: float | None
    bytes_a_cell: float | None
    parts: int
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values, for printing."""
        names = ("exact", "cells", "error", "least", "seconds", "memory", "cells_a_second", "bytes_a_cell", "parts")
        return {**{name: getattr(self, name) for name in names}, "reason": self.reason}

    @property
    def seconds(self) -> float | None:
        """How long all cells would take at the rate of the short run."""
        return None if self.cells is None or self.cells_a_second is None else self.cells / self.cells_a_second

    @property
    def memory(self) -> float | None:
        """How many bytes the atlas would have."""
        return None if self.cells is None or self.bytes_a_cell is None else self.cells * self.bytes_a_cell


def estimate(
    network: Any, domain: DomainLike = None, *, seconds: float = 2.0, threads: int | None = None, seed: int = 0
) -> Estimate:
    """About how many cells a network has on a domain, and what `pf.unfold` would take, from a few seconds' work.

    On boxes of up to 6 dimensions the number of cells is estimated where the time does not suffice to find all; else
    there are only bounds then.

    Parameters
    ----------
    network: anything that `pf.load` takes.
    seconds: how long it may take, about.
    seed: of the parts of the box that are drawn.

    >>> import numpy as np, polyfold as pf
    >>> found = pf.size.estimate([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
    >>> found.exact, found.cells
    (True, 4)
    """
    if not (isinstance(seconds, Real) and float(seconds) > 0):
        raise LimitError(f"seconds={seconds!r} leaves no time: give a positive number")
    program = network if isinstance(network, Program) else lower(load(network))
    where = resolve_domain(domain, program.input_dim)
    most = bounds(program, where).upper
    corners = _corners(where)
    if most > _FEW_CELLS and where.dim > (_TRIED_DIM if corners is None else _MOST_DIM):
        reason = (
            f"not tried: on boxes of more than {_MOST_DIM} dimensions, and elsewhere in more than {_TRIED_DIM}, even "
            "the first cells may take long"
        )
        return Estimate(False, None, None, 1, most, None, None, 0, reason)
    started = time.perf_counter()
    pilot = unfold(program, where, max_seconds=_OWN_SHARE * seconds, max_cells=_OWN_CELLS, threads=threads)
    cells = len(pilot)
    arrays = (pilot.patterns, pilot.witnesses, pilot.bounded, pilot.facet_start, pilot.facet_wall, pilot.neighbour)
    each = sum(array.nbytes for array in arrays) / max(1, cells)
    speed = max(1, cells) / pilot.certificate.seconds
    if pilot.complete:
        return Estimate(True, cells, 0.0, cells, cells, speed, each, 0)
    if corners is None or where.dim > _MOST_DIM:
        reason = f"only on bounded boxes of up to {_MOST_DIM} dimensions is the number of cells estimated"
        return Estimate(False, None, None, cells, most, speed, each, 0, reason)
    parts = _Parts(program, *corners, np.random.default_rng(seed), threads)
    found = parts.sample(started + seconds)
    if len(found) < _FEWEST_PARTS:
        reason = f"{seconds:g} seconds do not suffice to look at some parts of the box: give more"
        return Estimate(False, None, None, cells, most, speed, each, len(found), reason)
    total = parts.count * float(np.mean(found))
    error = parts.count * float(np.std(found, ddof=1)) / len(found) ** 0.5
    return Estimate(False, min(max(total, cells), most), error, cells, most, speed, each, len(found))


def _corners(domain: Domain) -> tuple[Array, Array] | None:
    """The box that a domain is, if it is one."""
    rows, offsets = domain.input_rows, domain.input_offsets
    if domain.is_slice or len(domain.parameter_rows) or len(rows) != 2 * domain.dim:
        return None
    lo, hi = np.full(domain.dim, -np.inf), np.full(domain.dim, np.inf)
    for row, offset in zip(rows, offsets, strict=True):
        if np.count_nonzero(row) != 1:
            return None
        at = int(np.flatnonzero(row)[0])
        if row[at] > 0:
            hi[at] = min(hi[at], offset / row[at])
        else:
            lo[at] = max(lo[at], offset / row[at])
    return (lo, hi) if np.isfinite(lo).all() and np.isfinite(hi).all() else None


class _Parts:
    """A box cut into parts, as fine as it takes to count the cells of one in a moment."""

    def __init__(self, program: Program, lo: Array, hi: Array, rng: np.random.Generator, threads: int | None) -> None:
        self.program, self.lo, self.hi = program, lo, hi
        self.rng, self.threads = rng, threads
        self.cuts = 2

    @property
    def count(self) -> int:
        return int(self.cuts ** len(self.lo))

    def sample(self, deadline: float) -> list[float]:
        """What some parts, drawn at random, contribute. Parts that take too long are cut finer, and all drawn anew."""
        found: list[float] = []
        edges = self._edges()
        share = max(0.0, deadline - time.perf_counter()) / _PARTS
        while (left := deadline - time.perf_counter()) > 0:
            part = self.rng.integers(self.cuts, size=len(self.lo))
            value = self.contribution(edges, part, min(share, left))
            if value is not None:
                found.append(value)
            elif share < left and self.cuts < _FINEST:
                # To leave out what takes long would favour what does not.
                self.cuts *= 2
                found, edges = [], self._edges()
                share = left / _PARTS
            else:
                break
        return found

    def contribution(self, edges: list[Array], part: npt.NDArray[np.int64], seconds: float) -> float | None:
        """The sum over the inner lower faces of a part; None if that takes too long."""
        ends = time.perf_counter() + seconds
        lo = np.array([edge[k] for edge, k in zip(edges, part, strict=True)])
        hi = np.array([edge[k + 1] for edge, k in zip(edges, part, strict=True)])
        inner = np.flatnonzero(part > 0).tolist()
        total = 0
        for fixed in chain.from_iterable(combinations(inner, k) for k in range(len(inner) + 1)):
            free = [axis for axis in range(len(lo)) if axis not in fixed]
            left = ends - time.perf_counter()
            cells = self._cells(lo, hi, free, left) if left > 0 else None
            if cells is None:
                return None
            total += (-1) ** len(fixed) * cells
        return float(total)

    def _cells(self, lo: Array, hi: Array, free: list[int], seconds: float) -> int | None:
        """The cells on the part, or on its face on which only some coordinates are free; None: it takes longer."""
        if not free:
            return 1
        where: DomainLike = box(lo, hi)
        if len(free) < len(lo):
            corner = lo.copy()
            corner[free] = 0.0
            where = slice_of(corner, np.eye(len(lo))[:, free], bounds=box(lo[free], hi[free]))
        domain = resolve_domain(where, self.program.input_dim)
        program, workers = as_method_takes_it(self.program, domain), thread_count(self.threads)

        def search(leave: Leave) -> Counted:
            # An estimate is no proof: its parts are not counted twice.
            return count_cells(program, domain, workers, leave, looked_over=False)

        with Clock(seconds):
            found = watched(search, domain).result
        return found.cells if found.complete else None

    def _edges(self) -> list[Array]:
        """Where each axis is cut: not quite evenly, or walls through round numbers would lie on the cuts."""
        places = np.arange(1, self.cuts) + self.rng.uniform(-0.4, 0.4, size=(len(self.lo), self.cuts - 1))
        return [
            np.concatenate([[lo], lo + (hi - lo) * row / self.cuts, [hi]])
            for lo, hi, row in zip(self.lo, self.hi, places, strict=True)
        ]
