"""explore: the cells around a point, one after the other, in any dimension."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import OutOfTimeError, Report, running
from polyfold._base.options import byte_count, cell_limit
from polyfold._base.question import question
from polyfold._base.types import Array, ArrayLike, Signs
from polyfold._base.when_read import replaced
from polyfold._core import GivenUp
from polyfold.atlas.atlas import DOMAIN_BOUNDARY, UNEXPLORED, Atlas, atlas_found, vouched
from polyfold.atlas.certificate import Check, certificate_of
from polyfold.atlas.patterns import pack
from polyfold.domain.domain import Domain, DomainLike, slice_of
from polyfold.domain.domain import box as box_of
from polyfold.engine.cells.at_point import CellAt
from polyfold.engine.cells.by_pattern import ByPattern, PlainCell
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.frontier import Ahead, Best, Breadth, Depth, Found, Frontier, Wander, at_witness
from polyfold.engine.cells.validity import ROWS_MEMORY, check_rows_fit
from polyfold.engine.method import as_method_takes_it
from polyfold.engine.proof.check import quick_checks
from polyfold.engine.run import Leave, watched
from polyfold.engine.source import SourceLike, program_anywhere
from polyfold.engine.unfold import unfold_program
from polyfold.errors import PolyfoldError, ShapeError
from polyfold.program.derive.few_coordinates import FewCoordinates, few_coordinates
from polyfold.program.program import Program

# Bytes that a small object takes beside its data.
_OBJECT = 300
_HOW = {
    "breadth": "breadth first",
    "depth": "depth first",
    "random": "at random",
    "best": "best first",
    "path": "along a path",
}
METHOD = "local search, {how}; facets by vertices, rays and linear programs, proved"


@question("explore")
def explore(
    source: SourceLike,
    start: ArrayLike,
    domain: DomainLike = None,
    *,
    order: str = "breadth",
    radius: float | None = None,
    target: ArrayLike | None = None,
    path: ArrayLike | None = None,
    seed: int | None = None,
    max_cells: int | None = None,
    max_memory: int = ROWS_MEMORY,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Atlas:
    """The cells around a point, from neighbour to neighbour: for networks with more cells than can ever be listed.

    The atlas has the cells that were looked at, with all their facets; behind a facet that was not passed lies -2. It
    is complete if nothing was left to look at, for the cells of a domain are connected through facets.

    Parameters
    ----------
    source : SourceLike
        A model, or what is made of one. Of an atlas the network is taken, and its domain unless another one is given.
    start : ArrayLike, shape (d,)
        A point of the domain's parameters, which are the inputs unless the domain is a slice.
    domain : DomainLike, optional
        None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`.
    order : str
        "breadth" or "depth" first; "random", a walk that does not come back; "best", nearest to `target` first; "path",
        the cells on the way along `path`.
    radius : float, optional
        Enter a cell only if the facet on the way, or the point found behind it, is at most so far from `start`.
    target : ArrayLike, shape (d,), optional
        The search ends when the cell of this point has been looked at.
    path : ArrayLike, shape (k, d), optional
        The way leads from `start` straight to each of these points in turn.
    seed : int, optional
        Of the random walk; None is 0.
    max_cells : int, optional
        Stop at so many cells.
    max_memory : int
        Bytes that the cells found may take; the search stops there. A network one cell of which takes more is refused.
    max_seconds : float, optional
        Stop after so long, with the cells looked at so far; so does an interrupt (Ctrl-C).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Atlas
        The cells that were looked at. `atlas.stopped_by` is also "target", "path", "radius" or "max_memory".

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> len(pf.explore(corner, [1.0, 1.0])), len(pf.explore(corner, [1.0, 1.0], max_cells=2))
    (4, 2)
    """
    program, where = program_anywhere(source, domain)
    _check_options(order, target, path, radius, seed)
    limit, memory = cell_limit(max_cells), byte_count("max_memory", max_memory)
    check_rows_fit(program, where, memory)
    locate = CellAt(Cells(program, where))
    origin = locate.point("start", start)
    goal = None if target is None else locate.point("target", target)
    stops = [locate.point(f"path[{k}]", point) for k, point in enumerate([] if path is None else np.asarray(path))]
    search = _Search(program, where, origin, None if radius is None else float(radius), limit, memory)

    def run(leave: Leave) -> None:
        def may_go_on() -> bool:
            return leave.keep_going(0)

        try:
            if order == "path":
                search.along(locate, [origin, *stops], leave)
            else:
                last = None if goal is None else locate("target", goal, may_go_on)
                first = locate("start", origin, may_go_on)
                search.run(search.frontier(order, goal, seed or 0), first, last, leave)
        except (OutOfTimeError, GivenUp):  # amid a cell, which is left out
            leave.keep_going(len(search.looked_at))

    watch = watched(run, where)
    return search.atlas(order, watch.seconds, watch.stopped_by)


def _check_options(order: Any, target: Any, path: Any, radius: Any, seed: Any) -> None:
    if order not in _HOW:
        raise PolyfoldError(f"order must be one of {', '.join(map(repr, _HOW))}, got {order!r}")
    if order == "best" and target is None:
        raise PolyfoldError("order='best' goes towards a target: give one, target=[...]")
    if order == "path" and path is None:
        raise PolyfoldError("order='path' follows a path: give one, path=[[...], ...]")
    if order != "path" and path is not None:
        raise PolyfoldError(f"a path is followed with order='path', not with order={order!r}")
    if order == "path" and (target is not None or radius is not None):
        given = "target" if target is not None else f"radius={radius!r}"
        raise PolyfoldError(f"{given} means nothing with order='path': the path says where to look")
    if radius is not None and not (isinstance(radius, Real) and float(radius) > 0):
        raise PolyfoldError(f"radius={radius!r} must be a positive number or None")
    if seed is not None and (not isinstance(seed, Integral) or seed < 0):
        raise PolyfoldError(f"seed={seed!r} must be a whole number, 0 or larger")
    if seed is not None and order != "random":
        raise PolyfoldError(f"seed={seed!r} means nothing with order={order!r}: only order='random' draws lots")
    if order == "path" and (np.ndim(path) != 2 or not len(path)):
        raise ShapeError(f"a path is a list of points (k, d); this one has shape {np.shape(path)}")


@dataclass(frozen=True, eq=False)
class _LookedAt:
    """What an atlas needs of a cell: its witness, its facets' walls and the patterns behind them."""

    witness: Witness
    bounded: bool
    walls: npt.NDArray[np.int32]
    """The first wall of every facet."""
    shared: tuple[tuple[int, int], ...]
    """(facet, further wall) of those that lie on several."""
    behind: tuple[bytes | None, ...]
    undecided: bool

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        patterns = sum(_OBJECT + len(pattern) for pattern in self.behind if pattern is not None)
        return self.witness.point.nbytes + self.walls.nbytes + 8 * len(self.behind) + patterns + _OBJECT


@dataclass(eq=False)
class _Search:
    """The cells looked at so far, by their patterns: with as few parameters as their walls depend on."""

    program: Program
    domain: Domain
    start: Array
    radius: float | None
    limit: int | None
    memory: int
    looked_at: dict[bytes, _LookedAt] = field(default_factory=dict)
    stopped_by: str | None = None
    undecided: int = 0
    used: int = 0
    _core: ByPattern | None = None

    @cached_property
    def few(self) -> FewCoordinates:
        """What the search sees of program and domain."""
        return few_coordinates(self.program, self.domain)

    @cached_property
    def cells(self) -> Cells:
        """Its cells, wall by wall."""
        return Cells(self.few.program, self.few.domain)

    def frontier(self, order: str, target: Array | None, seed: int) -> Frontier:
        """An order of cells."""
        if target is not None and order == "best":
            return Best(lambda point: self.few.distance(point, target))
        if order == "random":
            return Wander(seed)
        return Depth() if order == "depth" else Breadth()

    def run(self, frontier: Frontier, first: Found, last: Found | None, leave: Leave) -> None:
        """Look at cells in the frontier's order until there are none, or something says stop."""
        start = self._entered(first)
        seen = {_key(start)}
        goal = None if last is None else _bytes(last.signs)
        frontier.add(start)
        each = _OBJECT + self.program.gates + 16 * self.few.domain.dim
        while len(frontier):
            if not self._may_go_on(leave, len(frontier) * each + len(seen) * (_OBJECT + len(_key(start)))):
                return
            cell = frontier.take()
            for ahead in self._look_at(cell, leave):
                if _key(ahead) not in seen:
                    seen.add(_key(ahead))
                    frontier.add(ahead)
            if self.limit is not None:
                # One more than will be looked at says that there was more.
                frontier.keep(self.limit - len(self.looked_at) + 1)
            if _key(cell) == goal and goal in self.looked_at:
                self.stopped_by = "target"
                return

    def along(self, locate: CellAt, stops: list[Array], leave: Leave) -> None:
        """Look at the cells on the straight ways from stop to stop."""
        self.stopped_by = "path"
        program, domain = self.program, self.domain
        for here, there in pairwise(stops):
            if np.array_equal(here, there):
                continue
            # Cells of the network on the line are the cells that the line passes; their witnesses lie in between.
            x0, x1 = domain.lift(np.stack([here, there]))
            way = slice_of(x0, x1 - x0, bounds=box_of(0, 1)).resolve(program.input_dim)
            line = unfold_program(as_method_takes_it(program, way), way, threads=1)
            if not line.complete:  # an interrupt or the end of the time
                running().check()
            for t in np.sort(line.witnesses[:, 0]):
                if not self._may_go_on(leave):
                    return
                point = here + t * (there - here)
                cell = locate("a point of the path", point, lambda: leave.keep_going(len(self.looked_at)))
                if _bytes(cell.signs) not in self.looked_at:
                    self._look_at(self._entered(cell), leave)

    def _entered(self, found: Found) -> Ahead:
        """A cell of the domain as one of the search's."""
        if self.few.all:
            return at_witness(found)
        point = self.few.nearly_seen(found.witness.point)
        return Ahead(found.signs, point, point)

    def _may_go_on(self, leave: Leave, waiting: int = 0) -> bool:
        if self.limit is not None and len(self.looked_at) >= self.limit:
            self.stopped_by = "max_cells"
            return False
        if self.used + waiting > self.memory:
            self.stopped_by = "max_memory"
            return False
        return leave.keep_going(len(self.looked_at))

    def _look_at(self, cell: Ahead, leave: Leave) -> list[Ahead]:
        """Find the facets of a cell; what lies behind those that are near enough. A cell half done is left out."""
        stopped = False

        def may_go_on() -> bool:
            nonlocal stopped
            stopped = stopped or not leave.keep_going(len(self.looked_at))
            return not stopped

        plain = self._in_core(may_go_on)(cell, may_go_on)
        found = self._wall_by_wall(cell, may_go_on) if plain is None else self._of_plain(cell, plain)
        if stopped or found is None:
            return []
        looked_at, ahead = found
        self.looked_at[_key(cell)] = looked_at
        self.used += looked_at.bytes
        return ahead

    def _in_core(self, may_go_on: Callable[[], bool]) -> ByPattern:
        if self._core is None:
            self._core = ByPattern(self.few.program, self.few.domain, may_go_on)
        return self._core

    def _of_plain(self, cell: Ahead, plain: PlainCell) -> tuple[_LookedAt, list[Ahead]]:
        gates = plain.walls[plain.walls < self.program.gates]
        across = np.repeat(cell.signs[None, :], len(gates), axis=0)
        across[np.arange(len(gates)), gates] ^= True
        behind = iter([pattern.tobytes() for pattern in pack(across)])
        patterns = tuple(next(behind) if wall < self.program.gates else None for wall in plain.walls.tolist())
        looked_at = _LookedAt(plain.witness, plain.bounded and self.few.all, plain.walls, (), patterns, False)
        return looked_at, [
            Ahead(signs, on, beyond)
            for signs, on, beyond in zip(across, plain.on, plain.beyond, strict=True)
            if self._near(on, beyond)
        ]

    def _wall_by_wall(self, cell: Ahead, may_go_on: Callable[[], bool]) -> tuple[_LookedAt, list[Ahead]] | None:
        validity = self.cells.walls.under(cell.signs)
        known = cell.witness or self.cells.on_way(validity, cell.on, cell.beyond)
        near = cell.beyond if known is None else known.point
        witness = self.cells.witness(validity, near, known, may_go_on) or known
        if witness is None:
            self.undecided += 1
            return None
        facets = self.cells.facets(validity, witness, lambda rows: may_go_on())
        walls = [facet.walls for facet in facets.facets]
        looked_at = _LookedAt(
            witness,
            self.few.all and self.cells.is_bounded(validity),
            np.array([first for first, *_ in walls], dtype=np.int32),
            tuple((number, wall) for number, (_, *more) in enumerate(walls) for wall in more),
            tuple(None if facet.across is None else _bytes(facet.across) for facet in facets.facets),
            bool(facets.undecided),
        )
        return looked_at, [
            Ahead(facet.across, facet.point, facet.witness.point, facet.witness)
            for facet in facets.facets
            if facet.across is not None and facet.witness is not None and self._near(facet.point, facet.witness.point)
        ]

    def _near(self, *points: Array) -> bool:
        return self.radius is None or any(self.few.distance(point, self.start) <= self.radius for point in points)

    def atlas(self, order: str, seconds: float, interrupted_by: str | None) -> Atlas:
        """What was looked at, as an atlas."""
        cells = list(self.looked_at.values())
        neighbour = self._neighbours(cells)
        undecided = self.undecided + sum(cell.undecided for cell in cells)
        complete = bool(cells) and not undecided and not (neighbour == UNEXPLORED).any()
        reason = interrupted_by or self.stopped_by or ("undecided" if undecided else "radius")
        start = np.cumsum([0, *(len(cell.walls) for cell in cells)])
        shared = [(start[k] + facet, wall) for k, cell in enumerate(cells) for facet, wall in cell.shared]
        program, domain = self.program, self.domain
        witnesses = np.array([cell.witness.point for cell in cells]).reshape(len(cells), self.few.domain.dim)
        patterns = np.frombuffer(b"".join(self.looked_at), dtype=np.uint8)
        fields = {
            "patterns": patterns.reshape(len(cells), (program.gates + 7) // 8).copy(),
            "witnesses": self.few.lifted(witnesses),
            "bounded": np.array([cell.bounded for cell in cells], dtype=bool),
            "facet_start": start,
            "facet_wall": np.concatenate([np.zeros(0, dtype=np.int32), *(cell.walls for cell in cells)]),
            "neighbour": neighbour,
            "shared_facet": np.array([facet for facet, _ in shared], dtype=np.int64),
            "shared_wall": np.array([wall for _, wall in shared], dtype=np.int32),
            "exact_witnesses": {
                k: self._lifted_exactly(cell.witness) for k, cell in enumerate(cells) if cell.witness.exact is not None
            },
        }
        certificate = certificate_of(
            program,
            domain,
            level="counted",
            complete=complete,
            method=METHOD.format(how=_HOW[order]),
            seconds=seconds,
            threads=1,
            stopped_by=None if complete else reason,
        )
        atlas = quick_checks(atlas_found(program, domain, certificate, fields))
        decided = Check("every facet was decided", not undecided, f"{undecided:,} cells have walls left undecided")
        return vouched(atlas, replaced(atlas.certificate, checks=(*atlas.certificate.checks, decided)))

    def _lifted_exactly(self, witness: Witness) -> tuple[Fraction, ...]:
        point = [Fraction(0)] * self.domain.dim
        for axis, number in zip(self.few.axes.tolist(), witness.fractions, strict=True):
            point[axis] = number
        return tuple(point)

    def _neighbours(self, cells: list[_LookedAt]) -> npt.NDArray[np.int32]:
        """Cell numbers behind all facets. A cell with undecided walls may lack the facet that leads back."""
        number = {key: k for k, key in enumerate(self.looked_at)}
        behind = [
            [DOMAIN_BOUNDARY if pattern is None else number.get(pattern, UNEXPLORED) for pattern in cell.behind]
            for cell in cells
        ]
        inner = [{there for there in row if there >= 0} for row in behind]
        return np.array(
            [there if there < 0 or k in inner[there] else UNEXPLORED for k, row in enumerate(behind) for there in row],
            dtype=np.int32,
        )


def _key(cell: Ahead) -> bytes:
    return _bytes(cell.signs)


def _bytes(signs: Signs) -> bytes:
    return pack(signs[None, :]).tobytes()
