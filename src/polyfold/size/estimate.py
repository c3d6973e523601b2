"""estimate: about how many cells a network has on a box, and what finding them would take, from a few seconds' work.

First the engine runs for a while. If it comes to its end, nothing is left to estimate. If not, it has told how many
cells per second it finds and how many bytes one takes, and the number of cells is estimated from parts of the box.

Cut the box into parts by planes across each axis. An open convex set of dimension k has Euler characteristic (-1)^k
with compact supports, and that is additive. So the number of cells is the sum over all parts of

    the sum over subsets T of its inner lower faces of (-1)^|T| (cells of the network on the face T),

where T fixes the coordinates in T at their lower ends, and a lower end on the box's own boundary is not inner. The mean
of this over parts drawn at random, times the number of parts, is an estimate without bias, and its spread says how much
it can be trusted. Without a limit of the time, as many parts are drawn as make it about a twentieth of the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from math import ceil, inf
from typing import Any

import numpy as np

from polyfold._base.clock import INTERRUPT, MAX_SECONDS, Clock, OutOfTimeError, Report, running, tick
from polyfold._base.options import thread_count
from polyfold._base.question import question
from polyfold._base.result import InFloats, answered
from polyfold._base.types import Array, Ids
from polyfold.atlas.evidence import evidence_of, nothing_known_of
from polyfold.domain.domain import Domain, DomainLike, box, resolve_domain, slice_of
from polyfold.engine.method import Counted, as_method_takes_it, count_cells
from polyfold.engine.run import Leave, watched
from polyfold.engine.source import SourceLike, as_program_on
from polyfold.engine.unfold import unfold
from polyfold.program.program import Program
from polyfold.size.bounds import bounds

# Of the time given, what the engine may use for itself; without a limit, so many seconds of it. Cells beyond so many
# would only have to be put together.
_OWN_SHARE = 0.3
_OWN_SECONDS = 2.0
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
# Without a limit: seconds that a part may take before parts are made smaller, the relative standard error that the
# estimate should have, and how many parts are looked at for that at most.
_PART_SECONDS = 0.5
_PRECISE_ENOUGH = 0.05
_MOST_PARTS = 1 << 14


@dataclass(frozen=True)
class Estimate(InFloats):
    """What a whole `pf.unfold` would find and take here, by what a short one took.

    Attributes
    ----------
    exact : bool
        Whether `cells` is the number itself: the short run came to its end.
    cells, error : float or None
        The estimate and its standard error; None where there is none, and `reason` says why.
    least, most : int
        So many cells were found, and no network of these layers has more.
    cells_a_second, bytes_a_cell : float or None
        Of the short run; bytes are those of the atlas's arrays, without what a run needs on the way. None where it was
        not tried.
    parts : int
        From how many parts of the box the number was estimated.
    reason : str or None
        Why there is no estimate.
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

    def facts(self) -> dict[str, Any]:
        names = ("exact", "cells", "error", "least", "seconds_needed", "memory", "cells_a_second", "bytes_a_cell")
        return {**{name: getattr(self, name) for name in names}, "parts": self.parts, "reason": self.reason}

    @property
    def seconds_needed(self) -> float | None:
        """How long all cells would take at the rate of the short run."""
        return None if self.cells is None or self.cells_a_second is None else self.cells / self.cells_a_second

    @property
    def memory(self) -> float | None:
        """How many bytes the atlas would have."""
        return None if self.cells is None or self.bytes_a_cell is None else self.cells * self.bytes_a_cell


@question("size.estimate")
def estimate(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    seed: int = 0,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Estimate:
    """About how many cells a network has on a domain, and what `pf.unfold` would take, from a few seconds' work.

    On boxes of up to 6 dimensions the number of cells is estimated where the time does not suffice to find all; else
    there are only bounds then. The estimate has no bias.

    Parameters
    ----------
    source : model, Network or Program
        What is asked about; of an atlas, its network.
    domain : Domain, optional
        Where. By default all of R^d.
    seed : int
        Of the parts of the box that are drawn.
    max_seconds : float, optional
        The limit: as many parts are looked at as it allows, and `stopped_by` says so. Without one, the engine runs for
        2 seconds, and then as many parts are drawn as make the standard error about a twentieth of the estimate.
    threads : int, optional
        How many to use (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Estimate
        The number of cells, or an estimate of it, and what finding them would take.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> found = pf.size.estimate([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
    >>> found.exact, found.cells
    (True, 4)
    """
    clock = running()
    program, where = as_program_on(source, domain)
    most = bounds(program, where).upper
    corners = _corners(where)
    if most > _FEW_CELLS and where.dim > (_TRIED_DIM if corners is None else _MOST_DIM):
        reason = (
            f"not tried: on boxes of more than {_MOST_DIM} dimensions, and elsewhere in more than {_TRIED_DIM}, even "
            "the first cells may take long"
        )
        return answered(Estimate(False, None, None, 1, most, None, None, 0, reason), nothing_known_of(program, where))
    own_seconds = _OWN_SECONDS if max_seconds is None else _OWN_SHARE * max_seconds
    pilot = unfold(program, where, max_seconds=min(own_seconds, clock.left), max_cells=_OWN_CELLS, threads=threads)
    if pilot.certificate.stopped_by == INTERRUPT:
        raise KeyboardInterrupt
    cells, known = len(pilot), evidence_of(pilot)
    arrays = (pilot.patterns, pilot.witnesses, pilot.bounded, pilot.facet_start, pilot.facet_wall, pilot.neighbour)
    each = sum(array.nbytes for array in arrays) / max(1, cells)
    speed = max(1, cells) / pilot.certificate.seconds
    if pilot.complete:
        return answered(Estimate(True, cells, 0.0, cells, cells, speed, each, 0), known)
    if corners is None or where.dim > _MOST_DIM:
        reason = f"only on bounded boxes of up to {_MOST_DIM} dimensions is the number of cells estimated"
        return answered(Estimate(False, None, None, cells, most, speed, each, 0, reason), known)
    parts = _Parts(program, *corners, np.random.default_rng(seed), threads)
    with clock.noting_interrupts():
        found = parts.sample()
    # With a limit, it is that which says how many parts are looked at, and how long one may take.
    stopped_by = None if parts.finished else clock.stopped_by or (None if max_seconds is None else MAX_SECONDS)
    if len(found) < _FEWEST_PARTS:
        time = "the time does" if max_seconds is None else f"{max_seconds:g} seconds do"
        reason = f"{time} not suffice to look at some parts of the box: give more"
        return answered(
            Estimate(False, None, None, cells, most, speed, each, len(found), reason), known, stopped_by=stopped_by
        )
    total, error = parts.estimate(found)
    return answered(
        Estimate(False, min(max(total, cells), most), error, cells, most, speed, each, len(found)),
        known,
        stopped_by=stopped_by,
    )


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
        self.finished = False  # whether enough parts were looked at, where no limit says how many

    @property
    def count(self) -> int:
        return int(self.cuts ** len(self.lo))

    def estimate(self, found: list[float]) -> tuple[float, float]:
        """What some parts say of all of them, and the standard error of that."""
        return (
            self.count * float(np.mean(found)),
            self.count * float(np.std(found, ddof=1)) / len(found) ** 0.5,
        )

    def sample(self) -> list[float]:
        """What some parts, drawn at random, contribute. Parts that take too long are cut finer, and all drawn anew."""
        clock = running()
        found: list[float] = []
        edges, share = self._edges(), self._share()
        wanted: int | None = None
        while not clock.over:
            clock.tell(len(found), wanted, "parts of the box")
            part = self.rng.integers(self.cuts, size=len(self.lo))
            value = self.contribution(edges, part, share)
            if value is not None:
                found.append(value)
                if len(found) == wanted:
                    self.finished = True
                    break
                if clock.left == inf and wanted is None and len(found) == _PARTS:
                    # To stop where an estimate looks precise would favour what was drawn by chance: some parts say how
                    # many are needed, and others are looked at for the estimate.
                    wanted, found = self._needed(found), []
            elif not clock.over and self.cuts < _FINEST:
                # To leave out what takes long would favour what does not.
                self.cuts *= 2
                found, edges, wanted = [], self._edges(), None
                share = self._share()
            else:
                break
        return found

    def _needed(self, found: list[float]) -> int:
        """How many parts make an estimate precise enough, by what some of them say."""
        mean, spread = abs(float(np.mean(found))), float(np.std(found, ddof=1))
        if mean == 0:
            return _MOST_PARTS
        return min(max(_PARTS, ceil((spread / (_PRECISE_ENOUGH * mean)) ** 2)), _MOST_PARTS)

    def _share(self) -> float:
        """Seconds that one part may take."""
        left = running().left
        return _PART_SECONDS if left == inf else left / _PARTS

    def contribution(self, edges: list[Array], part: Ids, seconds: float = inf) -> float | None:
        """The sum over the inner lower faces of a part; None if that takes too long."""
        lo = np.array([edge[k] for edge, k in zip(edges, part, strict=True)])
        hi = np.array([edge[k + 1] for edge, k in zip(edges, part, strict=True)])
        inner = np.flatnonzero(part > 0).tolist()
        total = 0
        try:
            with Clock(None if seconds == inf else seconds):
                for fixed in chain.from_iterable(combinations(inner, k) for k in range(len(inner) + 1)):
                    tick()
                    free = [axis for axis in range(len(lo)) if axis not in fixed]
                    total += (-1) ** len(fixed) * self._cells(lo, hi, free)
        except OutOfTimeError:
            return None
        return float(total)

    def _cells(self, lo: Array, hi: Array, free: list[int]) -> int:
        """The cells on the part, or on its face on which only some coordinates are free."""
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

        found = watched(search, domain)
        if not found.result.complete:
            raise OutOfTimeError(found.stopped_by or "max_seconds", "this part of the box takes too long")
        return found.result.cells

    def _edges(self) -> list[Array]:
        """Where each axis is cut: not quite evenly, or walls through round numbers would lie on the cuts."""
        places = np.arange(1, self.cuts) + self.rng.uniform(-0.4, 0.4, size=(len(self.lo), self.cuts - 1))
        return [
            np.concatenate([[lo], lo + (hi - lo) * row / self.cuts, [hi]])
            for lo, hi, row in zip(self.lo, self.hi, places, strict=True)
        ]
