"""Where inputs lie: their cells, or regions, with the local models there; from an atlas or from the network alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyfold import _core as core
from polyfold._base.chunks import in_chunks
from polyfold._base.types import Array, Flags, Ids, Signs
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import core_problem, stays_structured
from polyfold.atlas.geometry.locate import vanishing
from polyfold.atlas.patterns import Packed, pack, unpack
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import resolve_domain
from polyfold.domain.points import bounded_lift, contains
from polyfold.engine.cells.local import MEMORY
from polyfold.engine.cells.signs_at import signs_at
from polyfold.engine.regions import regions
from polyfold.errors import DomainError, PolyfoldError
from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.bounded_rows import patterns_at, pre_activations, rounded
from polyfold.program.passes.floats import with_sizes
from polyfold.program.passes.pulled_back import output_forms
from polyfold.program.program import Program

NOWHERE = -1
# Floats that a pass with error bounds may hold at once: 16 MB.
_FLOATS = 1 << 21
# So many gates have few enough patterns for a table of all of them.
_FEW_GATES = 16


@dataclass(frozen=True, eq=False)
class Placed:
    """Points with a number each; points with the same number have the same local model, and -1 is outside all.

    And what the network puts out there (n, m), with the largest number (n,) that it meets on the way.
    """

    number: Ids
    on_wall: Flags
    outputs: Array
    scale: Array


class AtlasPlaces:
    """Cells of an atlas, or its regions. On a slice features are the domain's parameters."""

    def __init__(self, atlas: Atlas, by_region: bool) -> None:
        if by_region and not atlas.complete:
            raise PolyfoldError(
                f"parts of regions may be missing: {atlas.certificate.how_to_complete}; or use scope='cell'"
            )
        self.atlas = atlas
        self.program = atlas.program
        self.by_region = by_region

    @cached_property
    def regions(self) -> Regions:
        return regions(self.atlas)

    @property
    def dim(self) -> int:
        """How many features a point has."""
        return self.atlas.dim

    def lift(self, rows: Array) -> Array:
        """The network's inputs behind rows of features."""
        return self.atlas.domain.lift(rows)

    def bounded(self, rows: Array) -> BoundedValues:
        """The same with what rounding may have done."""
        return bounded_lift(self.atlas.domain, rows)

    def place(self, rows: Array) -> Placed:
        """The cell of every input; DomainError if one lies outside."""
        if not self.atlas.domain.is_slice:
            return self._place_inputs(rows)
        cells = self.atlas.locate(rows)
        inputs = self.bounded(rows)
        passed = bounded_forward(self.program, inputs)
        still = vanishing(self.program, inputs)
        near: Flags = np.any((~passed.certain | passed.zero) & ~still, axis=1)
        return Placed(cells, near, *with_sizes(self.program, self.lift(rows)))

    def _place_inputs(self, rows: Array) -> Placed:
        """Inputs by their proved patterns, which are looked up once each; walls and the rest go to `locate`."""
        met = _patterns(self.program, rows)
        first, inverse = _distinct(met.packed, self.program.gates)
        cells = self.atlas.index.find(met.packed[first])[inverse]
        left = np.flatnonzero(met.on_wall | (cells < 0) | ~contains(self.atlas.domain, rows))
        if len(left):
            self._check_inside(rows, left)
            cells[left] = self.atlas.locate(rows[left])
        return Placed(cells, met.on_wall, met.outputs, met.scale)

    def _check_inside(self, rows: Array, some: Ids) -> None:
        """The error of `locate`, with the input's own number."""
        outside = some[self.atlas.locate(rows[some], outside="ignore") < 0]
        if len(outside):
            i = int(outside[0])
            raise DomainError(
                f"input {i}, {rows[i].tolist()}, lies outside the atlas's domain, {self.atlas.domain.describe()}, or "
                "in a part that an incomplete atlas does not cover: unfold on a larger domain, or pass the network"
            )

    def groups(self, cells: Ids) -> Ids:
        """Numbers that tell local models apart: cells themselves, or their regions."""
        return self.regions.label[cells] if self.by_region else cells

    def background(self, rows: Array) -> Ids:
        """The group of every background point, or -1."""
        cells = self.atlas.locate(rows, outside="ignore")
        return np.where(cells >= 0, self.groups(np.maximum(cells, 0)), NOWHERE)

    def maps(self, cells: Ids) -> tuple[Array, Array]:
        """(A, c) over the features."""
        return self.atlas.maps(cells, over="parameters" if self.atlas.domain.is_slice else "inputs")

    def signs(self, cells: Ids) -> Signs:
        return self.atlas.signs(cells)

    def inside_domain(self, rows: Array) -> Flags:
        return contains(self.atlas.domain, rows)

    def centroids(self, cells: Ids) -> Array:
        """The centre of mass of every cell's group: NaN where that is unbounded."""
        if not self.by_region:
            return self.atlas.centroids(cells)
        label = self.regions.label
        wanted = np.unique(label[cells])
        members = np.flatnonzero(np.isin(label, wanted))
        volumes, centres = self.atlas.volumes(members), self.atlas.centroids(members)
        total = np.bincount(label[members], volumes, minlength=len(self.regions))
        with np.errstate(invalid="ignore"):
            shares = (volumes / total[label[members]])[:, None] * centres
        means = np.zeros((len(self.regions), self.atlas.dim))
        np.add.at(means, label[members], shares)
        found: Array = means[label[cells]]
        return found


class NetworkPlaces:
    """Cells by their patterns alone, for networks whose cells nobody can list.

    A point's cell is the set of inputs with its pattern, gates that are zero counted as off.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._numbers: dict[bytes, int] = {}
        self._signs: list[Signs] = []

    @property
    def dim(self) -> int:
        return self.program.input_dim

    def lift(self, rows: Array) -> Array:
        return rows

    def bounded(self, rows: Array) -> BoundedValues:
        return exact_values(rows)

    def place(self, rows: Array) -> Placed:
        """Numbers in the order in which cells are met."""
        met = _patterns(self.program, rows)
        first, inverse = _distinct(met.packed, self.program.gates)
        number = np.empty(len(first), dtype=np.int64)
        for k in np.argsort(first).tolist():
            key = met.packed[first[k]].tobytes()
            if key not in self._numbers:
                self._numbers[key] = len(self._signs)
                self._signs.append(unpack(met.packed[first[k]][None], self.program.gates)[0])
            number[k] = self._numbers[key]
        return Placed(np.take(number, inverse), met.on_wall, met.outputs, met.scale)

    def groups(self, cells: Ids) -> Ids:
        return cells

    def background(self, rows: Array) -> Ids:
        packed = _patterns(self.program, rows).packed
        first, inverse = _distinct(packed, self.program.gates)
        known = [self._numbers.get(row.tobytes(), NOWHERE) for row in packed[first]]
        found: Ids = np.array(known, dtype=np.int64)[inverse]
        return found

    def maps(self, cells: Ids) -> tuple[Array, Array]:
        program = self.program
        A, c = np.empty((len(cells), program.output_dim, program.input_dim)), np.empty((len(cells), program.output_dim))

        def fill(part: slice) -> None:
            A[part], c[part] = output_forms(program, self.signs(cells[part]))

        widest = max([program.input_dim, *program.steps.widths])
        in_chunks(len(cells), 4 * program.output_dim * widest + program.gates, fill)
        return A, c

    def signs(self, cells: Ids) -> Signs:
        empty = np.zeros((0, self.program.gates), dtype=bool)
        return np.stack([self._signs[cell] for cell in cells]) if len(cells) else empty

    def inside_domain(self, rows: Array) -> Flags:
        return np.ones(len(rows), dtype=bool)

    def centroids(self, cells: Ids) -> Array:
        raise DomainError(
            "background='uniform' needs cells that are known as sets: pass an atlas, as in "
            "pf.explain.shapley(pf.unfold(network, pf.box(-1, 1)), X, background='uniform')"
        )


Places = AtlasPlaces | NetworkPlaces


def _distinct(packed: Packed, gates: int) -> tuple[Ids, Ids]:
    """The first row of each distinct pattern, and for every row which of these it has."""
    if packed.shape[1] > 8:
        _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        return first, inverse.reshape(-1)
    # As numbers they are sorted much faster; small ones need not be sorted at all.
    words = np.zeros((len(packed), 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    numbers = words.view(np.uint64).ravel()
    if gates > _FEW_GATES:
        _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        return first, inverse
    first_of = np.full(1 << _FEW_GATES, -1)
    first_of[numbers[::-1]] = np.arange(len(numbers))[::-1]
    there = np.flatnonzero(first_of >= 0)
    place = np.empty(len(first_of), dtype=np.int64)
    place[there] = np.arange(len(there))
    return first_of[there], np.take(place, numbers)


@dataclass(frozen=True, eq=False)
class _Met:
    """What a pass through the network meets: proved patterns, rows on walls, outputs, largest numbers."""

    packed: Packed
    on_wall: Flags
    outputs: Array
    scale: Array


def _patterns(program: Program, X: Array) -> _Met:
    """Proved patterns, as `pf.local` has them; and whether a row lies on a wall, or too near to tell."""
    signs, on_wall = np.empty((len(X), program.gates), dtype=bool), np.zeros(len(X), dtype=bool)
    outputs, scale = with_sizes(program, X, signs)
    packed, open_ = _proved(program, X, signs)
    if len(open_):
        settled, special = signs_at(program, X[open_], MEMORY)
        packed[open_] = pack(settled)
        on_wall[open_] = [len(each.on_wall) + len(each.undecided) > 0 for each in special]
    return _Met(packed, on_wall, outputs, scale)


def _proved(program: Program, X: Array, signs: Signs) -> tuple[Packed, Ids]:
    """Patterns, and the rows whose signs floats with error bounds do not prove; `signs` are those of plain floats."""
    if not program.stages:
        return pack(signs), np.zeros(0, dtype=np.int64)
    if not stays_structured(program) and program.exact_matrices is not None:
        packed, problem = pack(signs), core_problem(program, resolve_domain(None, program.input_dim))
        # One thread: it is the smallest part of the work.
        return packed, np.flatnonzero(core.prove_witnesses(problem, packed, np.ascontiguousarray(X), 1) == 0)
    left = [np.zeros(0, dtype=np.int64)]

    def prove(part: slice) -> None:
        rows = np.ascontiguousarray(X[part])
        # As if rounded, not exact: a gate that is zero because inputs are is then looked at more closely.
        largest = np.abs(rows).max(axis=0)
        inputs = rounded(rows, np.where(largest > 0, largest, 1.0), 1)
        first = pre_activations(program.steps.steps[0].affine, {0: inputs}, len(rows))
        signs[part], undecided = patterns_at(program, inputs, first)
        left.append(part.start + np.unique(undecided.rows))

    in_chunks(len(X), _floats_a_row(program), prove, _FLOATS)
    return pack(signs), np.concatenate(left)


def _floats_a_row(program: Program) -> int:
    return 6 * max([program.input_dim, *program.steps.widths, program.output_dim]) + program.gates
