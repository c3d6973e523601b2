"""The cells that touch an input: the maps that a network has next to it, all of them where that can be told."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import Clock, OutOfTimeError, running
from polyfold._base.evidence import Evidence
from polyfold._base.result import Result, answered
from polyfold._base.types import Array, Signs
from polyfold.atlas.evidence import proof_of
from polyfold.atlas.patterns import order_by_gate, pack, unpack
from polyfold.domain.domain import Domain
from polyfold.engine.cells.facets import Cells
from polyfold.engine.cells.signs_at import SpecialGates, look_from, varying
from polyfold.engine.cells.touching import Direction, Touching
from polyfold.errors import how_many
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rounding import TINY, relative
from polyfold.program.passes.pulled_back import gate_forms, output_forms
from polyfold.program.passes.settled_digits import Settled
from polyfold.program.program import Program

# So many directions are tried where cells cannot be listed one by one; each takes a pass in exact numbers.
_DIRECTIONS = 64
_FLOATS = 1 << 24
# Seconds that the linear program in floats may take that looks for a way into the input's own cell.
_LONGEST_PROGRAM = 20.0
_PROOF = "every cell by a direction that leads into it, in exact numbers"


@dataclass(frozen=True, eq=False, repr=False)
class TouchingCells(Result):
    """The cells whose closures hold an input, with their maps: f(y) = A[k] y + c[k] on cell k.

    They come in the order of gates, off before on. `directions[k]` leads from the input into cell k, rounded. Every one
    of them is proved to be a cell. If they are not `complete`, `stopped_by` says why: "max_cells", "max_seconds",
    "interrupt", "size" (the network, or what ties there, is too large to tell) or "undecided" (signs are not known).
    """

    program: Program
    domain: Domain
    point: Array
    A: Array
    c: Array
    patterns: npt.NDArray[np.uint8]
    directions: Array

    def __len__(self) -> int:
        return len(self.A)

    def __repr__(self) -> str:
        missing = f"; incomplete, stopped by {self.stopped_by}" if self.stopped_by else ""
        return f"TouchingCells: {how_many(len(self), 'cell')}, {how_many(self.different_maps, 'map')}{missing}"

    @property
    def evidence(self) -> Evidence:
        """Proved: each of them is a cell, and if they are complete there is no other."""
        return proof_of(self, self.program, self.domain, _PROOF, self.stopped_by)

    def facts(self) -> dict[str, Any]:
        return {
            "point": self.point,
            "A": self.A,
            "c": self.c,
            "patterns": ["".join("01"[on] for on in row) for row in self.signs.tolist()],
            "directions": self.directions,
        }

    @property
    def signs(self) -> Signs:
        """The patterns as a boolean matrix (cells, gates)."""
        return unpack(self.patterns, self.program.gates)

    @property
    def different_maps(self) -> int:
        """How many different Jacobians there are, as floats have them."""
        return len(np.unique(self.A.reshape(len(self), -1), axis=0)) if len(self) else 0


@dataclass(frozen=True, eq=False)
class Tied:
    """An input and its gates: its pattern, those that are zero being off, and the ones that are special there."""

    point: Array
    signs: Signs
    special: SpecialGates

    @property
    def on_walls(self) -> bool:
        return bool(len(self.special.on_wall) or len(self.special.undecided))


@dataclass
class _Limits:
    """How many cells may be found, and until when; and which limit it was."""

    found: Sized
    max_cells: int | None
    clock: Clock
    stopped_by: str | None = None

    def may_go_on(self) -> bool:
        if self.max_cells is not None and len(self.found) >= self.max_cells:
            self.stopped_by = "max_cells"
        else:
            self.stopped_by = self.clock.stopped_by
        return self.stopped_by is None


class TouchingSearch:
    """The cells that touch inputs of one program, within a domain."""

    def __init__(self, cells: Cells, memory: int, settle: bool | None) -> None:
        self._cells = cells
        self._program, self._domain = cells.program, cells.domain
        self._memory = memory
        self._settle = settle

    def is_thin(self, at: Tied) -> bool | None:
        """Whether an input's own pattern is no cell's: proved; None if that is too much work."""
        if not at.on_walls:
            return False
        if self._cells.exact is None:
            known = not len(at.special.undecided) and self._own_direction(at) is not None
            return False if known else None
        search = self._exactly(at)
        if search.pattern != tuple(at.signs.tolist()):
            return None  # what floats say of signs that nobody settled is not so
        first = next(search.cells(), None)
        return None if first is None else first.pattern != search.pattern

    def all(self, at: Tied, max_cells: int | None) -> TouchingCells:
        """As many of the cells that touch an input as the limits allow."""
        found: dict[bytes, Array] = {}
        clock = running()
        before, limits = clock.seconds, _Limits(found, max_cells, clock)
        with clock.noting_interrupts():
            try:
                reason = self._search(at, found, limits)
            except OutOfTimeError as error:
                reason = error.stopped_by
        packed = np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), (self._program.gates + 7) // 8)
        packed = packed[order := order_by_gate(packed)]
        A, c = _maps(self._program, unpack(packed, self._program.gates))
        directions = np.array(list(found.values())).reshape(len(found), len(at.point))[order]
        stopped_by = limits.stopped_by or reason
        cells = TouchingCells(self._program, self._domain, at.point, A, c, packed, directions)
        return answered(cells, stopped_by=stopped_by, seconds=clock.seconds - before)

    def _search(self, at: Tied, found: dict[bytes, Array], limits: _Limits) -> str | None:
        """Patterns with directions into their cells, one after the other; the result says why some may be missing."""
        if not at.on_walls:
            found[_key(at.signs)] = np.zeros(len(at.point))
            return None
        if self._cells.exact is None:
            if len(at.special.undecided):
                return "undecided"
            for signs, direction in self._some(at, limits):
                found.setdefault(_key(signs), direction)
            return "size"
        search = self._exactly(at)
        for cell in search.cells(limits.may_go_on):
            found[_key(np.array(cell.pattern, dtype=bool))] = _in_floats(cell.direction)
        return None if search.complete else "size"

    def _exactly(self, at: Tied) -> Touching:
        assert self._cells.exact is not None
        point = [rational(x) for x in at.point.tolist()]
        return Touching(self._program, self._domain, self._cells.exact.forms, point)

    def _some(self, at: Tied, limits: _Limits) -> Iterator[tuple[Signs, Array]]:
        """Cells that some directions lead into, each proved by an exact pass along the way; then the input's own."""
        look, edges = look_from(self._program, at.point, self._memory, self._settle), _edges(self._domain, at.point)
        rng = np.random.default_rng(0)
        for _ in range(_DIRECTIONS):
            if look is None or not limits.may_go_on():
                return
            way = _turned_inwards(rng.normal(size=len(at.point)), edges)
            if way is None:
                continue
            along = look(way)
            if _leads_inside(self._program, along):
                yield _next_to(along), way
        own = self._own_direction(at) if limits.may_go_on() else None
        if own is not None:
            yield at.signs, own

    def _own_direction(self, at: Tied) -> Array | None:
        """A direction that is proved to lead into the cell of the input's own pattern, if floats find one."""
        look, edges = look_from(self._program, at.point, self._memory, self._settle), _edges(self._domain, at.point)
        if look is None:
            return None
        gates = at.special.on_wall
        rows, _ = gate_forms(self._program, np.broadcast_to(at.signs, (len(gates), len(at.signs))), gates)
        way = _deepest(np.concatenate([rows, edges]), min(running().left, _LONGEST_PROGRAM))
        if way is None or not (_slopes(edges, way) < 0).all():
            return None
        along = look(way)
        stays_off = not _next_to(along)[gates].any()
        return way if stays_off and _leads_inside(self._program, along) else None


def _maps(program: Program, signs: Signs) -> tuple[Array, Array]:
    """(A, c) of patterns. Not in the clock's chunks: what was found when time was over needs its maps."""
    A, c = np.empty((len(signs), program.output_dim, program.input_dim)), np.empty((len(signs), program.output_dim))
    step = max(1, _FLOATS // (4 * program.output_dim * max([program.input_dim, *program.steps.widths])))
    for first in range(0, len(signs), step):
        part = slice(first, first + step)
        A[part], c[part] = output_forms(program, signs[part])
    return A, c


def _next_to(along: Settled) -> Signs:
    """The pattern a short step away: a gate that is zero is on if it leaves zero upwards."""
    return along.on & (~along.zero | along.leaves)


def _leads_inside(program: Program, along: Settled) -> bool:
    """Whether a direction leads into a cell: every gate that is zero leaves zero, or is zero all over that cell."""
    still = along.zero & ~along.leaves
    decided = replace(along, zero=still)
    return bool(along.proved.all()) and not (still & varying(program, decided)).any()


def _edges(domain: Domain, point: Array) -> Array:
    """The rows a . x <= b of a domain that a point lies on, as far as floats can tell."""
    slack = domain.input_offsets - domain.input_rows @ point
    size = np.abs(domain.input_offsets) + np.abs(domain.input_rows) @ np.abs(point)
    edges: Array = domain.input_rows[slack <= relative(len(point) + 4) * size + TINY]
    return edges


def _turned_inwards(way: Array, edges: Array) -> Array | None:
    """The direction, mirrored at the sides of a box where it would leave it; None if it leaves otherwise."""
    for row in edges[np.count_nonzero(edges, axis=1) == 1]:
        if row @ way > 0:
            way = np.where(row != 0, -way, way)
    return way if (_slopes(edges, way) < 0).all() else None


def _slopes(edges: Array, way: Array) -> Array:
    """How fast a direction leaves through rows, at most: positive where floats cannot tell."""
    doubt = relative(len(way) + 2) * (np.abs(edges) @ np.abs(way)) + TINY
    return np.asarray(edges @ way + doubt)


def _deepest(rows: Array, max_seconds: float) -> Array | None:
    """A direction along which all rows fall, as fast as can be; None if there is none, or if that takes longer."""
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.optimize import linprog

    norms = np.linalg.norm(rows, axis=1)
    rows = rows[norms > 0] / norms[norms > 0, None]
    dim = rows.shape[1]
    found = linprog(
        [0.0] * dim + [-1.0],
        A_ub=np.column_stack([rows, np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1.0, 1.0)] * dim + [(None, 1.0)],
        options={"time_limit": max_seconds},
    )
    return np.asarray(found.x[:-1]) if found.x is not None and found.x[-1] > 0 else None


def _key(signs: Signs) -> bytes:
    return pack(signs[None, :]).tobytes()


def _in_floats(direction: Direction) -> Array:
    """The direction with its largest entry one."""
    largest = max(map(abs, direction))
    return np.array([as_float(x / largest) if largest else 0.0 for x in direction])
