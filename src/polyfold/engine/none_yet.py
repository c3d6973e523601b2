"""What is said of a run that finds no cell for long: why, what to try, and that there is one at least."""

from __future__ import annotations

import logging

import numpy as np

from polyfold._base.clock import running
from polyfold._base.types import Array
from polyfold.atlas.certificate import ONE_AT_LEAST, Check
from polyfold.domain.domain import Domain
from polyfold.domain.points import contains
from polyfold.engine.bounds.bounded_domain import limits_of
from polyfold.engine.bounds.formulas import in_short, switching
from polyfold.engine.cells.validity import Walls
from polyfold.engine.run import Leave
from polyfold.errors import how_many
from polyfold.program.passes.bounded_layers import halves
from polyfold.program.program import Program

_log = logging.getLogger("polyfold")

# A question that has no cell after so many seconds says why.
_PATIENCE = 2.0
# Sums of binomials over more gates times dimensions would take longer than anybody reads.
_MOST_TERMS = 1 << 20
# Points near the middle of the domain at which gates may have proved signs where they have none in the middle.
_POINTS = 8


class NoneYet:
    """Watches a run through what it may ask, and remembers whether any cell was found."""

    def __init__(self, leave: Leave, program: Program, domain: Domain) -> None:
        self._leave, self._program, self._domain = leave, program, domain
        self._said, self.found = False, False
        self.leave = Leave(self._keep_going, leave.in_a_hurry)

    def _keep_going(self, cells: int) -> bool:
        self.found = self.found or cells > 0
        if not self.found and not self._said and running().seconds > _PATIENCE:
            self._said = True
            if _log.isEnabledFor(logging.WARNING):
                _log.warning(why_none(self._program, self._domain))
        return self._leave.keep_going(cells)


def why_none(program: Program, domain: Domain) -> str:
    """What to say of a network whose cells take long to find.

    >>> from polyfold.domain.domain import box, whole_space
    >>> from polyfold.testing import program_from_layers
    >>> layers = [(np.ones((3, 2)), [0.0, 0.0, 9.0]), (np.ones((1, 3)), [0.0])]
    >>> why_none(program_from_layers(layers), box(-1, 1).resolve(2))
    'no cell was found in 2 s: 2 of 3 gates may switch on R^2 cut by 4 rows, which makes up to 4 cells; pf.local looks \
at single inputs, pf.plane at a plane through some, pf.explore at the cells around one, and a smaller box has fewer'
    """
    low, high = _reach(domain)
    undecided = np.ones(program.gates, dtype=bool)
    if low is not None and high is not None:
        centre, half = halves(low, high)
        _, certain = Walls(program, domain).signs(centre[None], half[None])
        undecided = ~certain[0, : program.gates]
    counts = [int(undecided[program.gates_of(stage)].sum()) for stage in range(len(program.stages))]
    chain = all(set(stage.affine.sources) <= {number} for number, stage in enumerate(program.stages))
    few = sum(counts) * domain.dim <= _MOST_TERMS
    # A layer that reads others than the one before it sees at most the whole domain.
    widths = [stage.width if chain else domain.dim for stage in program.stages]
    bound = switching(counts, widths, domain.dim) if few else 1 << sum(counts)
    return (
        f"no cell was found in {_PATIENCE:g} s: {sum(counts):,} of {how_many(program.gates, 'gate')} may switch on "
        f"{domain.describe()}, which makes up to {how_many_short(bound)}; pf.local looks at single inputs, pf.plane "
        "at a plane through some, pf.explore at the cells around one, and a smaller box has fewer"
    )


def how_many_short(cells: int) -> str:
    """A number of cells as people read it."""
    return f"{in_short(cells)} cell{'' if cells == 1 else 's'}"


def one_at_least(program: Program, domain: Domain) -> tuple[Check, ...]:
    """The check that a domain has a cell: all gates have proved signs at a point inside. Nothing if none is found."""
    low, high = _reach(domain)
    if low is None or high is None:
        return ()
    rng = np.random.default_rng(0)
    shares = np.concatenate([np.full((1, domain.dim), 0.5), rng.uniform(0.25, 0.75, (_POINTS, domain.dim))])
    points = low + shares * (high - low)
    points = points[contains(domain, points, strictly=True)]
    _, certain = Walls(program, domain).signs(points, np.zeros_like(points))
    there = np.flatnonzero(certain[:, : program.gates].all(axis=1))
    if not len(there):
        return ()
    return (Check(ONE_AT_LEAST, True, "all gates have proved signs at a point inside the domain"),)


def _reach(domain: Domain) -> tuple[Array, Array] | tuple[None, None]:
    """A box to look in: the domain itself if it is a box, else one around the origin if it has no end; or none."""
    if not domain.rows:
        return np.full(domain.dim, -1.0), np.ones(domain.dim)
    limits = limits_of(domain)
    if limits is None or not (np.isfinite(limits[0]) & np.isfinite(limits[1])).all():
        return None, None
    return limits
