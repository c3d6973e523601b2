"""Local maps: the affine map of a network around given inputs, and the polytope on which it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import Clock, OutOfTimeError, Report, check_seconds, running
from polyfold._base.evidence import Evidence
from polyfold._base.inputs import rows_of
from polyfold._base.options import MOST_CELLS, byte_count, whole_number
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Ids, Signs
from polyfold.atlas.evidence import proof_of
from polyfold.atlas.patterns import pack, unpack
from polyfold.domain.domain import Domain, DomainLike
from polyfold.engine.cells.exact_cell import coefficients
from polyfold.engine.cells.facet_programs import CellPrograms
from polyfold.engine.cells.facets import CellFacets, Cells, Witness
from polyfold.engine.cells.local_memory import parts
from polyfold.engine.cells.signs_at import SpecialGates, signs_at_first
from polyfold.engine.cells.touching_cells import Tied, TouchingCells, TouchingSearch
from polyfold.engine.cells.validity import ROWS_MEMORY, Validity, check_rows_fit, wall_name
from polyfold.engine.cells.wall_distances import NearestWall, WallDistances, distances_to_walls, nearest_wall
from polyfold.engine.run import watched
from polyfold.engine.source import SourceLike, program_anywhere
from polyfold.errors import DomainError, PolyfoldError, ShapeError, how_many
from polyfold.program.affine import operators
from polyfold.program.passes.pulled_back import output_forms
from polyfold.program.program import Program

MEMORY = 1 << 30
# Cells that touch one input, unless another number is asked for.
MOST_TOUCHING = 1024
# Products that inputs take together which go through the network at once: some hundredths of a second.
_PRODUCTS_AT_ONCE = 1 << 22
_PROOF = "every sign at every input, in floats with error bounds or in exact numbers"
# Up to so many products of rationals it is told unasked whether a pattern is thin: some hundredths of a second.
_QUICK = 200_000


@dataclass(frozen=True, eq=False)
class Neighbour:
    """The cell behind a facet: its pattern, a point inside that proves it, and the gates that switch on the way."""

    signs: Signs
    witness: Witness
    switched: Ids


@dataclass(frozen=True, eq=False)
class LargestBall:
    """A ball in a polytope that no larger one fits into; unpacks as `centre, radius`.

    A polytope that holds balls of any size has radius infinity and a centre of NaN. Both are NaN if something stopped
    the work, which `stopped_by` then names.
    """

    centre: Array
    radius: float
    stopped_by: str | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.centre, self.radius))


@dataclass(frozen=True, eq=False, repr=False)
class LocalMaps(Rows):
    """Affine maps of a network around inputs X, one per row: f(x) = A[i] x + c[i] on the closed cell of X[i].

    A is (n, outputs, inputs) and c is (n, outputs), inputs and outputs flattened. `patterns` are packed as in an atlas.
    Signs are proved, but for those of `undecided[i]`, which are as floats have them. `on_wall[i]` are the gates whose
    wall X[i] lies on: proved to be zero there, and not to be so all around; they are off in the pattern, so that A is
    what automatic differentiation gives. `vanishing[i]` are gates that are proved to be zero all around X[i]: they have
    no wall there. `thin[i]` is True if no cell has that pattern, so that A[i] is the map of none, False if one has, and
    None where that was too much work to find out unasked: `is_thin(i)` then tries. With ties="all" `touching` has all
    cells that touch each input. If a time limit or an interrupt stopped the work, the maps are those of the first
    inputs only, and `stopped_by` says so.

    The answer is proved if no sign is undecided. What its methods find (facets, distances, balls) has a `stopped_by` of
    its own, for these are asked later.
    """

    program: Program
    domain: Domain
    X: Array
    A: Array
    c: Array
    patterns: npt.NDArray[np.uint8]
    on_wall: tuple[Ids, ...]
    vanishing: tuple[Ids, ...]
    undecided: tuple[Ids, ...]
    max_memory: int = MEMORY
    settle: bool | None = None
    thin: tuple[bool | None, ...] = ()
    touching: tuple[TouchingCells, ...] | None = None
    _facets_of: dict[int, CellFacets] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, m, d = len(self.X), self.program.output_dim, self.program.input_dim
        expected = {"X": (n, d), "A": (n, m, d), "c": (n, m), "patterns": (n, (self.program.gates + 7) // 8)}
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ShapeError(f"local maps' {name} must have shape {shape}, not {getattr(self, name).shape}")
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        stopped = f"; stopped by {self.stopped_by}" if self.stopped_by else ""
        open_ = sum(map(len, self.undecided))
        undecided = f"; {how_many(open_, 'sign')} undecided" if open_ else ""
        gates = how_many(self.program.gates, "gate")
        thin = f"; {self.thin.count(True)} thin (the map of no cell)" if True in self.thin else ""
        cells = "" if self.touching is None else f"; {how_many(sum(map(len, self.touching)), 'touching cell')}"
        missing = "" if self.complete or stopped else " (not all)"
        what = f"{how_many(len(self), 'input')} of a network with {gates}"
        neighbour = "" if self.program.rounding is None else f"; true {self.program.rounding.words()}"
        return f"LocalMaps: {what}{undecided}{thin}{cells}{missing}{stopped}{neighbour}"

    @property
    def complete(self) -> bool:
        """Whether every input has been looked at and, with ties="all", every cell that touches one was found."""
        return self.stopped_by is None and all(cells.complete for cells in self.touching or ())

    @property
    def evidence(self) -> Evidence:
        """Proved, if no sign was left undecided."""
        proof = None if any(map(len, self.undecided)) else _PROOF
        return proof_of(self, self.program, self.domain, proof, self.stopped_by)

    def facts(self) -> dict[str, Any]:
        return {
            "X": self.X,
            "A": self.A,
            "c": self.c,
            "patterns": self._bits(),
            "on_wall": self.on_wall,
            "vanishing": self.vanishing,
            "undecided": self.undecided,
            "thin": self.thin,
            "touching": self.touching,
        }

    def rows(self) -> dict[str, Any]:
        """One row per input: its pattern, and how many gates are special there."""
        return {
            "input": np.arange(len(self)),
            "pattern": self._bits(),
            "on_wall": [len(gates) for gates in self.on_wall],
            "vanishing": [len(gates) for gates in self.vanishing],
            "undecided": [len(gates) for gates in self.undecided],
            "thin": list(self.thin) or [None] * len(self),
        }

    def _bits(self) -> list[str]:
        return ["".join("01"[on] for on in row) for row in self.signs.tolist()]

    @property
    def signs(self) -> Signs:
        """The patterns as a boolean matrix (n, gates)."""
        return unpack(self.patterns, self.program.gates)

    def is_thin(self, i: int) -> bool | None:
        """Whether no cell has the pattern of input i, however long that takes to find out; None if it is too large."""
        return self._search.is_thin(self._tied(self._item(i)))

    def touching_cells(
        self, i: int, *, max_cells: int | None = MOST_TOUCHING, max_seconds: float | None = None
    ) -> TouchingCells:
        """The cells that touch input i, with their maps: one, unless it lies on walls.

        Their Jacobians are the corners of the generalised Jacobian there.
        """
        item, limit = self._item(i), _cells_at_most("max_cells", max_cells)
        with Clock(max_seconds):
            return self._search.all(self._tied(item), limit)

    def polytope(self, i: int) -> Validity:
        """Where map i holds: {x : A x <= b}, one row per gate and one per domain row.

        Refused where that is more than 4 GiB, or than the `max_memory` given.
        """
        check_rows_fit(self.program, self.domain, max(self.max_memory, ROWS_MEMORY))
        return self._cells.walls.under(self._signs(self._item(i)))

    def facets(self, i: int, *, max_seconds: float | None = None, progress: bool | Report | None = None) -> CellFacets:
        """The minimal rows of the polytope around input i, each proved to be a facet, and what lies behind them.

        `undecided` lists walls of which neither floats nor exact arithmetic could tell: usually none. A time limit, or
        an interrupt (Ctrl-C), leaves there what is not decided by then, and `stopped_by` says so; the next call starts
        again. Progress counts rows.
        """
        item = self._item(i)
        check_seconds(max_seconds)
        known = self._facets_of.get(item)
        if known is not None and known.stopped_by is None:
            return known
        with Clock(max_seconds, progress):
            watch = watched(lambda leave: self._facets(item, leave.keep_going), self.domain, "rows")
        stopped_by = watch.stopped_by if watch.result.undecided else None
        self._facets_of[item] = replace(watch.result, stopped_by=stopped_by)
        return self._facets_of[item]

    def _facets(self, item: int, keep_going: Callable[[int], bool]) -> CellFacets:
        validity = self.polytope(item)
        return self._cells.facets(validity, self._witness(item, validity, keep_going), keep_going)

    def _witness(self, item: int, validity: Validity, keep_going: Callable[[int], bool]) -> Witness:
        witness = self._cells.witness(validity, self.X[item], may_go_on=lambda: keep_going(0))
        if witness is None:
            special = [*self.on_wall[item].tolist(), *self.undecided[item].tolist()]
            near = ", ".join(wall_name(self.program, self.domain, gate) for gate in special[:4])
            raise PolyfoldError(
                f"no point inside the polytope of input {item} was found, so it has no facets: its pattern holds on a "
                f"flat set at most, or is too thin to tell (the input lies on {near or 'no wall'}); "
                f"touching_cells({item}) lists the cells around it"
            )
        return witness

    def chebyshev(self, i: int, *, max_seconds: float | None = None) -> LargestBall:
        """The largest ball in the polytope of input i, in floats; facets need not be known for that.

        A time limit, or an interrupt (Ctrl-C), leaves NaN for a centre and a radius, and `stopped_by` says so.
        """
        item = self._item(i)
        with Clock(max_seconds):
            watch = watched(lambda leave: self._ball(item, leave.keep_going), self.domain)
        if watch.result is None:
            unknown = np.full(self.program.input_dim, np.nan)
            return LargestBall(unknown, float("nan"), watch.stopped_by or "the solver")
        return LargestBall(*watch.result)

    def _ball(self, item: int, keep_going: Callable[[int], bool]) -> tuple[Array, float] | None:
        validity = self.polytope(item)
        known = self._facets_of.get(item)
        witness = known.witness if known is not None else self._witness(item, validity, keep_going)
        A, b = known.rows if known is not None else (validity.A, validity.b)
        varying = A.any(axis=1)
        if not varying.any():
            return np.full(A.shape[1], np.nan), float("inf")
        if not keep_going(0):
            return None
        return CellPrograms(A[varying], b[varying], witness.point, lambda: keep_going(0)).largest_ball()

    def neighbour(self, i: int, facet: int) -> Neighbour:
        """The cell behind facet number `facet` of what `facets(i)` gave last; DomainError where the domain ends."""
        item = self._item(i)
        found = self._facets_of[item] if item in self._facets_of else self.facets(item)
        if not 0 <= facet < len(found):
            raise IndexError(f"there is no facet {facet}: the cell of input {i} has {len(found)}")
        across, witness = found[facet].across, found[facet].witness
        if across is None or witness is None:
            raise DomainError(f"behind facet {facet} of input {i} ({found.names[facet]}) the domain ends")
        return Neighbour(across, witness, np.flatnonzero(across != found.validity.signs))

    def nearest_wall(self, i: int) -> NearestWall:
        """The gate that switches first on the way out of the cell of input i, how far that is, and where."""
        item = self._item(i)
        found = distances_to_walls(
            self.program, self.X[[item]], self._signs(item)[None, :], [self._special(item)], self.max_memory
        )
        return nearest_wall(self.program, self.X[item], self._signs(item), float(found.distance[0]), int(found.gate[0]))

    def wall_distances(
        self, *, max_seconds: float | None = None, progress: bool | Report | None = None
    ) -> WallDistances:
        """Every input's distance to the nearest wall, and whose it is: within it nothing switches.

        Rows of the gates are never held together. NaN and -1 mark inputs that a time limit or an interrupt left out.
        """
        special = [self._special(i) for i in range(len(self))]
        with Clock(max_seconds, progress):
            return distances_to_walls(self.program, self.X, self.signs, special, self.max_memory)

    def _signs(self, item: int) -> Signs:
        signs: Signs = unpack(self.patterns[[item]], self.program.gates)[0]
        return signs

    def _special(self, item: int) -> SpecialGates:
        return SpecialGates(self.on_wall[item], self.vanishing[item], self.undecided[item])

    def _thin_if_quick(self, item: int) -> bool | None:
        """Whether the pattern of an input is no cell's, as far as that is known, or found out quickly."""
        tied = self._tied(item)
        if self.touching is not None and self.touching[item].complete and not len(self.undecided[item]):
            return not (self.touching[item].patterns == self.patterns[item]).all(axis=1).any()
        quick = (self.program.input_dim + 1) * coefficients(self.program) <= _QUICK
        return self._search.is_thin(tied) if not tied.on_walls or (quick and not running().over) else None

    def _tied(self, item: int) -> Tied:
        return Tied(self.X[item], self._signs(item), self._special(item))

    @cached_property
    def _search(self) -> TouchingSearch:
        return TouchingSearch(self._cells, self.max_memory, self.settle)

    @cached_property
    def _cells(self) -> Cells:
        return Cells(self.program, self.domain)

    def _item(self, i: int) -> int:
        if not isinstance(i, Integral) or not -len(self) <= i < len(self):
            raise IndexError(f"there is no input {i!r}: there are {len(self)}")
        return int(i) % len(self)


@question("local")
def local(
    source: SourceLike,
    X: ArrayLike,
    domain: DomainLike = None,
    *,
    ties: Literal["one", "all"] = "one",
    max_touching: int | None = MOST_TOUCHING,
    settle: bool | None = None,
    max_memory: int = MEMORY,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> LocalMaps:
    """The affine map of a network around every input, with the polytope on which it holds at hand.

    Where an input lies on walls, A is the branch that torch's automatic differentiation takes: docs/local.md has the
    table, op by op.

    Parameters
    ----------
    source : SourceLike
        A model, or what is made of one. Of an atlas the network is taken, and its domain unless another one is given.
    X : ArrayLike, shape (n, d) or (n, *the network's input shape)
        Inputs; one vector is one row.
    domain : DomainLike, optional
        A box or polytope over the inputs, whose rows bound the polytopes too.
    ties : "one" or "all"
        "all" lists all cells that touch an input, with their maps, in `touching`.
    max_touching : int, optional
        So many of them for each input at most (None: no limit); the result says where there are more.
    settle : bool, optional
        Whether signs that floats cannot prove are proved in longer numbers. None: if that takes seconds per input;
        True: however long it takes, and whatever memory; False: they are left `undecided`.
    max_memory : int
        Bytes to work with, besides the network and the result.
    max_seconds : float, optional
        Stop after so long, or at an interrupt (Ctrl-C); the result then has the first inputs only and says so.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    LocalMaps
        Maps, patterns and what is special at each input; polytopes, facets and distances on demand.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> maps = pf.local(corner, [3.0, -1.0])
    >>> maps.A[0], maps.c[0]
    (array([[1., 0.]]), array([0.]))
    >>> maps.nearest_wall(0).distance, len(maps.facets(0))
    (1.0, 2)
    >>> pf.local(corner, [[0.0, 0.0]], ties="all").touching[0].A[:, 0].tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    program, where = program_anywhere(source, domain)
    if where.is_slice:
        raise DomainError(f"local maps live among the inputs, but {where.describe()} is a slice: use a box or polytope")
    rows = rows_of(X, program.input_dim)
    if settle not in (None, True, False):
        raise PolyfoldError(f"settle must be True, False or None, got {settle!r}")
    if ties not in ("one", "all"):
        raise PolyfoldError(f"ties must be 'one' or 'all', got {ties!r}")
    limit = _cells_at_most("max_touching", max_touching)
    maps, stopped_by = _maps_at(program, where, rows, byte_count("max_memory", max_memory), settle)
    if ties == "all":
        maps = replace(maps, touching=tuple(maps._search.all(maps._tied(i), limit) for i in range(len(maps))))
    maps = replace(maps, thin=tuple(maps._thin_if_quick(i) for i in range(len(maps))))
    return answered(maps, stopped_by=stopped_by)


def _maps_at(
    program: Program, where: Domain, X: Array, memory: int, settle: bool | None
) -> tuple[LocalMaps, str | None]:
    """The maps of as many inputs as there is time for, and what has stopped the work."""
    clock, stopped_by, done = running(), None, 0
    at_once = parts(program, memory)
    products = sum(operator.products for affine in program.affines for operator in operators(affine))
    most = min(at_once.inputs, max(1, _PRODUCTS_AT_ONCE // max(1, products)))
    A, c = np.empty((len(X), program.output_dim, program.input_dim)), np.empty((len(X), program.output_dim))
    patterns = np.empty((len(X), (program.gates + 7) // 8), dtype=np.uint8)
    special: list[SpecialGates] = []
    try:
        with clock.noting_interrupts():
            while done < len(X):
                part = slice(done, min(done + most, len(X)))
                signs, found = signs_at_first(program, X[part], memory, settle)
                part = slice(done, done + len(found))
                for first in range(0, program.output_dim, at_once.outputs):
                    some = slice(first, first + at_once.outputs)
                    # Not f(x) - A x: that would lose digits where both are large.
                    A[part, some], c[part, some] = output_forms(program, signs, some=some)
                patterns[part] = pack(signs)
                special += found
                done = part.stop
                clock.tell(done, len(X), "inputs")
                if done < len(X):
                    clock.check()
    except OutOfTimeError as error:
        stopped_by = error.stopped_by
    maps = LocalMaps(
        program,
        where,
        X[:done],
        A[:done],
        c[:done],
        patterns[:done],
        tuple(gates.on_wall for gates in special),
        tuple(gates.vanishing for gates in special),
        tuple(gates.undecided for gates in special),
        memory,
        settle,
    )
    return maps, stopped_by


def _cells_at_most(name: str, limit: Any) -> int | None:
    return None if limit is None else whole_number(name, limit, MOST_CELLS)
