"""The minimal facets of one cell in any dimension, each proved, and what lies behind them.

Walls that coincide are one row (`shared_walls.py`). Floats propose and prove what is generic: rays from an inner point
find most facets, a linear program each of the other rows. What they leave open (walls that touch or vanish, very thin
cells) is decided in integers where that is affordable. What is left then is listed as undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq

from polyfold._base.clock import OutOfTimeError
from polyfold._base.types import Array, Ids, Signs
from polyfold.domain.domain import Domain
from polyfold.engine.cells.exact_cell import ExactCells, ExactFacet, Hints, affordable
from polyfold.engine.cells.facet_programs import CellPrograms
from polyfold.engine.cells.facet_proof import Crossing, FloatProofs
from polyfold.engine.cells.shared_walls import SharedWalls
from polyfold.engine.cells.validity import Validity, Walls, wall_name
from polyfold.errors import how_many
from polyfold.exact.rational import as_float, fraction, rational
from polyfold.exact.rounding import LARGEST
from polyfold.exact.tolerances import REAL_MULTIPLIER, RECESSION
from polyfold.program.program import Program

# Asked with how many rows are decided.
KeepGoing = Callable[[int], bool]

# Where on its way through a cell a point is looked for.
_SHARES_OF_WAY = (0.5, 0.1, 0.01)

# How many numbers may be worked with at a time: 64 MB, and some tenths of a second between questions whether to go on.
_MOST_NUMBERS = 1 << 23
# A wall that carries a facet is usually cleared of the others in a few steps; a linear program is there for the rest.
_PROJECTIONS = 50
# So many programs are solved before their answers are put to the proof.
_PROGRAMS = 64
# In cells of fewer numbers a linear program costs no more than such steps.
_LARGE = 1 << 13
# Up to so many numbers an exact program says in some milliseconds whether a cell is bounded.
_EXACT_BOUNDED = 4096


@dataclass(frozen=True, eq=False)
class Witness:
    """A point proved to lie strictly inside a cell. `exact` has it where no float point was proved."""

    point: Array
    exact: tuple[fmpq, ...] | None = None

    @property
    def rational(self) -> tuple[fmpq, ...]:
        return self.exact if self.exact is not None else tuple(rational(x) for x in self.point.tolist())

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        """The point that was proved, exactly."""
        return tuple(fraction(x) for x in self.rational)


@dataclass(frozen=True, eq=False)
class Facet:
    """A facet: every wall that it lies on, a point of its relative interior, and what is behind it.

    The first wall varies on the cell; some of the others may vary on the neighbour only.
    `across` is the pattern of the neighbour and `witness` a point in it; both are None where the domain ends.
    """

    walls: tuple[int, ...]
    point: Array
    across: Signs | None
    witness: Witness | None


@dataclass(frozen=True, eq=False, repr=False)
class CellFacets:
    """The facets of a cell, in the order of their walls; and walls that neither floats nor integers could decide.

    If something stopped the work, `stopped_by` says what; the walls left over by then are among the undecided.
    """

    validity: Validity
    witness: Witness
    facets: tuple[Facet, ...]
    undecided: tuple[int, ...]
    proved_by: str
    programs: int
    stopped_by: str | None = None

    def __len__(self) -> int:
        return len(self.facets)

    def __getitem__(self, facet: int) -> Facet:
        return self.facets[facet]

    def __repr__(self) -> str:
        undecided = f", {how_many(len(self.undecided), 'wall')} undecided" if self.undecided else ""
        stopped = f" (stopped by {self.stopped_by})" if self.stopped_by else ""
        rows = f"{how_many(len(self), 'facet')} of {how_many(len(self.validity), 'row')}"
        return f"CellFacets: {rows}, proved by {self.proved_by}{undecided}{stopped}"

    @property
    def rows(self) -> tuple[Array, Array]:
        """(A, b) with the closed cell being {u : A u <= b}, one row per facet, then one per undecided wall."""
        row_of = {wall: row for row, wall in enumerate(self.validity.wall.tolist())}
        at = [row_of[wall] for wall in (*(facet.walls[0] for facet in self.facets), *self.undecided)]
        return self.validity.A[at], self.validity.b[at]

    @property
    def names(self) -> list[str]:
        """The facets' walls in the user's terms."""
        program, domain = self.validity.program, self.validity.domain
        return [", ".join(wall_name(program, domain, wall) for wall in facet.walls) for facet in self.facets]


class Cells:
    """Cells of one program on one domain, one at a time: witnesses, facets, neighbours."""

    def __init__(self, program: Program, domain: Domain) -> None:
        self.program = program
        self.domain = domain
        self.walls = Walls(program, domain)

    @cached_property
    def exact(self) -> ExactCells | None:
        """The cells in integers, where that is affordable."""
        return ExactCells(self.program, self.domain) if affordable(self.program, self.domain) else None

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def witness(
        self,
        validity: Validity,
        near: Array,
        known: Witness | None = None,
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> Witness | None:
        """A point well inside the cell, found from a point of the closed cell. None: none was found.

        `known` is one that has been proved already, perhaps close to a wall. If `may_go_on` says no, any point inside
        will do.
        """
        if self.exact is not None and not validity.within_reach:
            inside = self.exact.interior_point(tuple(validity.signs.tolist()))
            return None if inside is None else self._rounded(validity.signs, inside)
        proofs = FloatProofs(self.walls, validity)
        varying = proofs.norms > 0
        if not varying.any():
            return known or (Witness(near) if proofs.is_inside(near) else None)
        for start in _starts(proofs, near):
            centre = CellPrograms(validity.A[varying], validity.b[varying], start, may_go_on).centre()
            for point in (centre, start):
                if point is not None and proofs.is_inside(point):
                    return Witness(point)
        if known is not None:
            return known
        if self.exact is None:
            return None
        inside = self.exact.interior_point(tuple(validity.signs.tolist()))
        return None if inside is None else self._rounded(validity.signs, inside)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def on_way(self, validity: Validity, start: Array, end: Array) -> Witness | None:
        """A point inside the cell on the straight way through two points, if floats find and prove one."""
        here, there = (validity.b - validity.A @ point for point in (start, end))
        falls, crossings = here - there, here / (here - there)
        first, last = crossings[falls < 0].max(initial=0.0), crossings[falls > 0].min(initial=2.0)
        proofs = FloatProofs(self.walls, validity)
        for share in _SHARES_OF_WAY:
            point = start + (first + share * (last - first)) * (end - start)
            if proofs.is_inside(point):
                return Witness(point)
        return None

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def facets(self, validity: Validity, witness: Witness, keep_going: KeepGoing = lambda rows: True) -> CellFacets:
        """All facets of a cell, given a witness of it.

        Every now and then `keep_going` is told how many rows are decided; if it says no, what is left stays undecided.
        """
        pattern = tuple(validity.signs.tolist())
        if self.exact is not None and not validity.within_reach:
            try:
                exact, unsaid = self.exact.facets(pattern, witness.rational, Hints(), lambda: keep_going(0))
            except OutOfTimeError:
                exact, unsaid = [], validity.wall.tolist()
            return self._in_integers(validity, witness, exact, unsaid)
        search = _Search(self.walls, validity, witness.point, keep_going)
        if witness.exact is None:
            search.run()
        left = search.open_walls()
        by_search = CellFacets(validity, witness, search.found(), left, search.proved_by, search.programs)
        if not left or self.exact is None or not search.may_go_on():
            return by_search
        hints, ask = search.hints(), search.may_go_on
        try:
            # On an unbounded domain floats prove facets, but no row implied: a rest of rounding errors has no bound.
            if witness.exact is None and self.exact.implied(pattern, search.open_rows(), hints, ask):
                return replace(by_search, undecided=(), proved_by="floats and integers")
            exact, unsaid = self.exact.facets(pattern, witness.rational, hints, ask)
        except OutOfTimeError:
            return by_search
        return self._in_integers(validity, witness, exact, unsaid, search.programs) if ask() else by_search

    def _in_integers(
        self, validity: Validity, witness: Witness, exact: list[ExactFacet], unsaid: list[int], programs: int = 0
    ) -> CellFacets:
        facets = sorted((self._facet(facet) for facet in exact), key=lambda facet: sorted(facet.walls))
        return CellFacets(validity, witness, tuple(facets), tuple(sorted(unsaid)), "integers", programs)

    def is_bounded(self, validity: Validity) -> bool:
        """Whether a cell is bounded; beyond the reach of integers as far as floats can tell."""
        if self.walls.bounding_box is not None:
            return True
        if len(validity) <= self.domain.dim:
            return False
        if self.exact is not None and len(validity) * self.domain.dim <= _EXACT_BOUNDED:
            return self.exact.bounded(tuple(validity.signs.tolist()))
        return _recedes(validity) <= RECESSION

    def _facet(self, facet: ExactFacet) -> Facet:
        point = as_floats(facet.point)
        if facet.across is None or facet.witness is None:
            return Facet(facet.walls, point, None, None)
        across = np.array(facet.across, dtype=bool)
        return Facet(facet.walls, point, across, self._rounded(across, facet.witness))

    def _rounded(self, signs: Signs, point: tuple[fmpq, ...]) -> Witness:
        """A witness in floats if the rounded point still is one."""
        assert self.exact is not None
        rounded = as_floats(point)
        exact = [rational(x) for x in rounded.tolist()]
        return Witness(rounded, None if self.exact.inside(tuple(signs.tolist()), exact) else point)


def as_floats(point: tuple[fmpq, ...]) -> Array:
    """A rational point, rounded; what lies beyond float64 is its largest number."""
    rounded: Array = np.clip(np.array([as_float(x) for x in point]), -LARGEST, LARGEST)
    return rounded


def _starts(proofs: FloatProofs, near: Array) -> list[Array]:
    """Points to start from: half-way from the nearest wall to what lies opposite, then the point itself."""
    distance = proofs.distances(near[None, :])[0]
    nearest = int(distance.argmin())
    rates = proofs.normals @ -proofs.normals[nearest]
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = np.where(rates > 0, distance / rates, np.inf).min()
    if not ahead > 0:
        return [near]
    length = ahead / 2 if np.isfinite(ahead) else 1.0 + float(np.abs(distance[nearest]))
    return [near - length * proofs.normals[nearest], near]


def _recedes(validity: Validity) -> float:
    """How much all rows together fall along the best direction of length one that no row forbids."""
    from scipy.optimize import linprog

    rows = validity.A[validity.A.any(axis=1)]
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    if np.linalg.matrix_rank(rows) < rows.shape[1]:
        return np.inf
    found = linprog(rows.sum(axis=0), A_ub=rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs")
    return -float(found.fun) if found.status == 0 else np.inf


def _parts(count: int, numbers_each: int) -> Iterator[slice]:
    """Slices of range(count) that need a bounded memory each."""
    step = max(1, _MOST_NUMBERS // max(1, numbers_each))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


class _Search:
    """The facets that floats can find and prove, and the rows that they leave open."""

    def __init__(self, walls: Walls, whole: Validity, inside: Array, keep_going: KeepGoing) -> None:
        self._inside = inside
        self._keep_going = keep_going
        self._validity, self.left = whole, set(range(len(whole)))
        self._shared = SharedWalls(whole, self.may_go_on)
        self._validity = validity = self._shared.validity
        self._proofs = FloatProofs(walls, validity)
        # A row without slopes is no wall: it holds on the whole cell.
        self.left = set(np.flatnonzero(validity.A.any(axis=1) | validity.A_error.any(axis=1)).tolist())
        self._facets: dict[int, tuple[Array, Crossing]] = {}
        self._beyond: dict[int, Array] = {}
        self._support: dict[int, Ids] = {}
        self.programs = 0
        self.exactly = False

    def run(self) -> None:
        self._by_rays()
        self._by_boxes()
        if self._validity.A.size > _LARGE:
            self._by_projections()
        if self.left and self.may_go_on():
            self._by_programs()

    def may_go_on(self) -> bool:
        return self._keep_going(len(self._validity) - len(self.left))

    @property
    def proved_by(self) -> str:
        exactly = self.exactly or any(crossing.exactly for _, crossing in self._facets.values())
        return "floats and integers" if exactly else "floats"

    def open_rows(self) -> list[int]:
        """A wall of every row that is left."""
        return sorted(self._validity.wall[list(self.left)].tolist())

    def open_walls(self) -> tuple[int, ...]:
        """All walls of the rows that are left."""
        return tuple(sorted(wall for row in self.left for wall in self._shared.groups[row]))

    def found(self) -> tuple[Facet, ...]:
        """The facets proved."""
        facets = [
            Facet(made.walls, point, made.across, None if made.across is None else Witness(made.behind))
            for point, made in self._facets.values()
        ]
        return tuple(sorted(facets, key=lambda facet: sorted(facet.walls)))

    def hints(self) -> Hints:
        """What was guessed or proved, for those who decide the rest."""
        wall = self._validity.wall
        beyond = {**self._beyond, **{row: made.behind for row, (_, made) in self._facets.items()}}
        return Hints(
            {int(wall[row]): point for row, point in beyond.items()},
            {int(wall[row]): wall[support].tolist() for row, support in self._support.items()},
        )

    def _settle(self, rows: Ids, points: Array) -> None:
        """Prove facets from points on them."""
        # An interval pass keeps some numbers per gate, and every point sees every wall.
        for part in _parts(len(rows), 16 * (len(self._validity.signs) + len(self._validity))):
            if part.start and not self.may_go_on():
                return
            crossings = self._proofs.crossings(rows[part], points[part], self._shared)
            for row, point, crossing in zip(rows[part].tolist(), points[part], crossings, strict=True):
                if crossing is not None:
                    self._facets[row] = point, crossing
                    self.left.discard(row)

    def _by_rays(self) -> None:
        """Straight to every wall: the first one met is a facet, if it is met alone."""
        normals, distance = self._proofs.normals, self._proofs.distances(self._inside[None, :])[0]
        for part in _parts(len(normals), 2 * len(normals)):
            if not self.may_go_on():
                return
            ways = normals[part]
            rates = ways @ normals.T
            with np.errstate(divide="ignore", invalid="ignore"):
                lengths = np.where(rates > 0, distance / rates, np.inf)
            first = lengths.argmin(axis=1)
            length = lengths[np.arange(len(ways)), first]
            new = np.flatnonzero(np.isfinite(length) & ~np.isin(first, list(self._facets)))
            # One ray per wall; its own one, where that meets it.
            order = new[np.argsort(first[new] != new + part.start, kind="stable")]
            rows, at = np.unique(first[order], return_index=True)
            rays = order[at]
            self._settle(rows.astype(np.int64), self._inside + length[rays, None] * ways[rays])

    def _by_projections(self) -> None:
        """From the foot of a wall along it, away from whatever wall is in the way most, until none is."""
        left = np.array(sorted(row for row in self.left if self._proofs.norms[row] > 0), dtype=np.int64)
        for part in _parts(len(left), 2 * len(self._validity)):
            if not self.may_go_on():
                return
            self._project(left[part])

    def _project(self, rows: Ids) -> None:
        normals, distance = self._proofs.normals, self._proofs.distances(self._inside[None, :])[0]
        points = self._inside + distance[rows, None] * normals[rows]
        own = np.arange(len(rows))
        cleared: dict[int, Array] = {}
        for _ in range(_PROJECTIONS):
            room = self._proofs.distances(points)
            room[own, rows[own]] = np.inf
            worst = room.argmin(axis=1)
            lack = -room[own, worst]
            free = lack < 0
            cleared.update(zip(rows[free].tolist(), points[free], strict=True))
            rows, points, worst, lack = rows[~free], points[~free], worst[~free], lack[~free]
            own = np.arange(len(rows))
            if not len(rows):
                break
            # A little farther than needed: a share of the room that the inner point has there.
            along = np.einsum("ij,ij->i", normals[worst], normals[rows])
            way = normals[worst] - along[:, None] * normals[rows]
            with np.errstate(divide="ignore", invalid="ignore"):
                points = points - ((lack + 0.1 * distance[worst]) / (1 - along**2))[:, None] * way
            usable = np.isfinite(points).all(axis=1)
            rows, points, own = rows[usable], points[usable], np.arange(int(usable.sum()))
        if cleared:
            self._settle(np.array(list(cleared)), np.array(list(cleared.values())))

    def _by_boxes(self) -> None:
        """Walls that do not even reach the domain's box."""
        rows = np.array(sorted(self.left), dtype=np.int64)
        if len(rows):
            margins = self._proofs.margins(rows, np.zeros((len(rows), len(self._validity))))
            self.left -= set(rows[margins > 0].tolist())

    def _by_programs(self) -> None:
        """How far do the others let one go beyond each row that is left?"""
        validity, norms = self._validity, self._proofs.norms
        rows = np.array(sorted(row for row in self.left | set(self._facets) if norms[row] > 0), dtype=np.int64)
        if not len(rows):
            return
        programs = CellPrograms(validity.A[rows], validity.b[rows], self._inside, self.may_go_on)
        distance = self._proofs.distances(self._inside[None, :])[0]
        asked = [row for row in rows.tolist() if row in self.left]
        decided = len(validity) - len(self.left)
        for first in range(0, len(asked), _PROGRAMS):
            middles: dict[int, Array] = {}
            multipliers: dict[int, Array] = {}
            for k, row in enumerate(asked[first : first + _PROGRAMS], start=first):
                if not self._keep_going(decided + k):
                    break
                proposal = programs.beyond(int(np.searchsorted(rows, row)))
                self.programs += 1
                if proposal is None:
                    continue
                multipliers[row] = np.zeros(len(validity))
                multipliers[row][rows] = proposal.multipliers
                excess = (validity.A[row] @ proposal.point - validity.b[row]) / norms[row]
                if excess > 0 and distance[row] > 0:
                    way = distance[row] / (distance[row] + excess)
                    middles[row] = self._inside + way * (proposal.point - self._inside)
                    self._beyond[row] = (middles[row] + proposal.point) / 2
            if middles:
                self._settle(np.array(list(middles)), np.array(list(middles.values())))
            for row in sorted(multipliers.keys() & self.left):
                if not self.may_go_on():
                    return
                if self._proofs.implied(row, multipliers[row]) or self._touched(row, multipliers[row]):
                    self.left.discard(row)
                else:
                    self._support[row] = np.flatnonzero(multipliers[row])
            if not self.may_go_on():
                return

    def _touched(self, row: int, multipliers: Array) -> bool:
        """Whether a row is implied by others that meet where it is zero."""
        shares = multipliers * self._proofs.norms
        taking_part = np.flatnonzero(shares > REAL_MULTIPLIER * shares.max(initial=0.0)).tolist()
        if not self._shared.carries_no_facet(row, taking_part):
            return False
        self.exactly = True
        return True
