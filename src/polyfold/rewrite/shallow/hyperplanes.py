"""The distinct hyperplanes that the facets of an atlas lie on, each seen from the side that it belongs to.

A facet belongs to the first of its two cells in the order of gates, off before on: of two cells that part at a gate, to
the one where it is off. Rows of the domain belong to the domain.

Which facets share a hyperplane is decided exactly: the same gate behind the same pattern has the same form; of other
forms, floats with error bounds tell most apart, and integers compare the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import fmpq

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import tick
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.halfspaces import domain_rows
from polyfold.atlas.patterns import order_by_gate, pack
from polyfold.exact.rational import as_float
from polyfold.exact.rounding import TINY, relative
from polyfold.exact.tolerances import WELL_KNOWN
from polyfold.program.passes.integer_forms import ExactForms
from polyfold.program.passes.pulled_back import gate_forms, majorant, roundings
from polyfold.program.passes.underflow import underflow
from polyfold.rewrite.shallow.corners import corner_conditions


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """Hyperplanes H u = c with rows of length one, which belong to the side H u <= c.

    `of_facet` is every facet's hyperplane; `near` tells of every facet whether it belongs to its cell. Cells
    `corner_cell` touch hyperplanes `of_corner` in corners only, from the side that these do not belong to.
    """

    H: Array
    c: Array
    of_facet: Ids
    near: Flags
    corner_cell: Ids
    of_corner: Ids
    exact: ExactHyperplanes


class ExactHyperplanes:
    """The same in integers without a common factor, each row (h, c) belonging to h . u <= c; made when needed."""

    def __init__(self, forms: _Forms, number: Ids, sign: Ids) -> None:
        self._forms = forms
        self._number = number
        self._sign = sign

    def __getitem__(self, hyperplane: int) -> tuple[int, ...]:
        sign = int(self._sign[hyperplane])
        *slopes, constant = self._forms.exactly(int(self._number[hyperplane]))
        return (*(-sign * x for x in slopes), sign * constant)


def distinct_hyperplanes(atlas: Atlas) -> Hyperplanes:
    """All hyperplanes that facets lie on, each once; twice, if it belongs here to one side and there to the other."""
    pairs = _facet_pairs(atlas)
    corner_cell, corner_gate = corner_conditions(atlas)
    near_first = _belongs_to_the_first(atlas, pairs)
    cell = np.concatenate([atlas.facet_owner[pairs[:, 0]], corner_cell])
    wall = np.concatenate([atlas.facet_wall[pairs[:, 0]].astype(np.int64), corner_gate])
    # A form's sign on the side that its zeros belong to.
    side = np.concatenate([_is_positive(atlas, pairs[:, 0]) == near_first, np.zeros(len(corner_cell), dtype=bool)])
    forms, sign, of_wall = _Forms.of(atlas, cell, wall).seen_from(np.where(side, 1, -1))
    same = forms.same_hyperplane(sign)
    _, first, number = np.unique(same, return_index=True, return_inverse=True)
    of_pair, of_corner = np.split(number[of_wall], [len(pairs)])
    of_facet, near = np.empty(len(atlas.facet_wall), dtype=np.int64), np.empty(len(atlas.facet_wall), dtype=bool)
    for column, belongs in ((0, near_first), (1, ~near_first)):
        listed = pairs[:, column] >= 0
        of_facet[pairs[listed, column]] = of_pair[listed]
        near[pairs[listed, column]] = belongs[listed]
    H, c, _ = forms.unit_rows(sign)
    assert np.isfinite(H).all() and not np.isnan(c).any()
    exact = ExactHyperplanes(forms, first, sign[first])
    return Hyperplanes(H[first], c[first], of_facet, near, corner_cell, of_corner, exact)


def _belongs_to_the_first(atlas: Atlas, pairs: Ids) -> Flags:
    """Whether a facet belongs to the first one of its cells: it comes before the other, or there is no other."""
    rank = np.empty(len(atlas), dtype=np.int64)
    rank[order_by_gate(atlas.patterns)] = np.arange(len(atlas))
    here, there = (rank[atlas.facet_owner[pairs[:, side]]] for side in (0, 1))
    belongs: Flags = (pairs[:, 1] < 0) | (here < there)
    return belongs


def _is_positive(atlas: Atlas, facets: Ids) -> Flags:
    """Whether the form of a facet's wall is positive on the cell that lists it; rows of the domain always are."""
    wall, owner = atlas.facet_wall[facets].astype(np.int64), atlas.facet_owner[facets]
    positive = np.ones(len(facets), dtype=bool)
    at = np.flatnonzero(wall < atlas.gates)
    positive[at] = atlas.patterns[owner[at], wall[at] // 8] >> (wall[at] % 8) & 1
    return positive


def _facet_pairs(atlas: Atlas) -> Ids:
    """Every facet once: the number under which its first cell lists it, and the one of its second cell (-1: none)."""
    owner, neighbour = atlas.facet_owner, atlas.neighbour.astype(np.int64)
    ends = np.flatnonzero(neighbour < 0)
    inner = np.flatnonzero(neighbour >= 0)
    low, high = np.minimum(owner, neighbour)[inner], np.maximum(owner, neighbour)[inner]
    # Two cells meet in one facet at most, so both its entries come next to each other; the lower cell's first.
    both = inner[np.lexsort((owner[inner], high, low))].reshape(-1, 2)
    pairs = np.concatenate([both, np.column_stack([ends, np.full(len(ends), -1)])])
    return pairs[np.argsort(pairs[:, 0], kind="stable")]


@dataclass(frozen=True, eq=False)
class _Forms:
    """Forms a . u + b of walls under the patterns of example cells, with bounds on their errors."""

    atlas: Atlas
    cell: Ids
    wall: Ids
    a: Array
    b: Array
    a_error: Array
    b_error: Array

    @classmethod
    def of(cls, atlas: Atlas, cell: Ids, wall: Ids) -> _ManyForms:
        """The forms of walls under the patterns of cells: one for every gate and pattern before it."""
        number = _same_gate_behind_the_same_pattern(atlas, cell, wall)
        _, first, of_wall = np.unique(number, return_index=True, return_inverse=True)
        cell, wall = cell[first], wall[first]
        return _ManyForms(cls(atlas, cell, wall, *_float_forms(atlas, cell, wall))._well_known(), of_wall)

    def take(self, which: Ids) -> _Forms:
        """Forms by number."""
        return replace(
            self,
            cell=self.cell[which],
            wall=self.wall[which],
            a=self.a[which],
            b=self.b[which],
            a_error=self.a_error[which],
            b_error=self.b_error[which],
        )

    @cached_property
    def _exact(self) -> ExactForms:
        return ExactForms(self.atlas.program, self.atlas.domain)

    def exactly(self, number: int) -> list[int]:
        """A form (a, b) as integers without a common factor."""
        pattern = tuple(self.atlas.signs([self.cell[number]])[0].tolist())
        return self._exact.under(pattern).rows[int(self.wall[number])]

    @np.errstate(all="ignore")
    def _well_known(self) -> _Forms:
        """The same, with forms that floats hardly know rounded from exact ones: terms cancel, or leave the range."""
        slopes = np.abs(self.a).max(axis=1)
        size = np.maximum(slopes, np.abs(self.b))
        fine = (self.a_error.max(axis=1) <= WELL_KNOWN * slopes) & (self.b_error <= WELL_KNOWN * size)
        fine &= (slopes > TINY) & np.isfinite(size)
        # A slice's rows are differences of what may be much larger.
        fine &= (self.wall < self.atlas.gates) | (not self.atlas.domain.is_slice)
        a, b, a_error, b_error = (array.copy() for array in (self.a, self.b, self.a_error, self.b_error))
        for i in np.flatnonzero(~fine).tolist():
            tick()
            *exact, constant = self.exactly(i)
            largest = max(map(abs, exact))
            a[i], b[i] = [as_float(fmpq(x, largest)) for x in exact], as_float(fmpq(constant, largest))
            a_error[i], b_error[i] = relative(2), relative(2) * np.abs(b[i]) + TINY
        return replace(self, a=a, b=b, a_error=a_error, b_error=b_error)

    def unit_rows(self, sign: Ids) -> tuple[Array, Array, Array]:
        """(H, c) with H u < c where forms have these signs, rows of length one; and how far off entries may be."""
        largest = np.abs(self.a).max(axis=1)
        a, b = self.a / largest[:, None], self.b / largest
        norm = np.linalg.norm(a, axis=1)
        H, c = -sign[:, None] * a / norm[:, None], sign * b / norm
        error = np.maximum(self.a_error.max(axis=1) * self.a.shape[1], self.b_error) / largest
        return H, c, 2 * error * (1 + np.abs(c)) + relative(self.a.shape[1] + 8) * (1 + np.abs(c))

    def same_hyperplane(self, sign: Ids) -> Ids:
        """A number for every form, the same for forms with the same zeros seen from the same side."""
        H, c, error = self.unit_rows(sign)
        number = np.arange(len(c))
        for cluster in _overlapping(*_seen_from_aside(H, c, error)):
            alike: dict[tuple[int, ...], int] = {}
            for i in cluster.tolist():
                tick()
                number[i] = alike.setdefault(tuple(int(sign[i]) * x for x in self.exactly(i)), i)
        return number


@dataclass(frozen=True, eq=False)
class _ManyForms:
    """Distinct forms, and which one each of many walls has."""

    forms: _Forms
    of_wall: Ids

    def seen_from(self, sign: Ids) -> tuple[_Forms, Ids, Ids]:
        """Forms with one sign each, these signs, and every wall's form: twice where walls see it from both sides."""
        distinct, of_wall = np.unique(np.column_stack([self.of_wall, sign]), axis=0, return_inverse=True)
        return self.forms.take(distinct[:, 0]), distinct[:, 1], of_wall.ravel()


@np.errstate(invalid="ignore")
def _seen_from_aside(H: Array, c: Array, error: Array) -> tuple[Array, Array]:
    """Between which numbers a hyperplane may look to lie along a random direction: different ones rarely overlap."""
    weights = np.random.default_rng(0).uniform(0.5, 1.0, H.shape[1] + 1)
    view, reach = np.column_stack([H, c]) @ weights, (H.shape[1] + 2) * error
    low, high = view - reach, view + reach
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _overlapping(low: Array, high: Array) -> list[Ids]:
    """Intervals that overlap, directly or through others: two or more together, in their order."""
    order = np.argsort(low)
    apart = low[order][1:] > np.maximum.accumulate(high[order])[:-1]
    together = np.split(order, np.flatnonzero(apart) + 1)
    return [np.sort(some) for some in together if len(some) > 1]


def _same_gate_behind_the_same_pattern(atlas: Atlas, cell: Ids, wall: Ids) -> Ids:
    """A number for every pair of cell and wall, the same where wall and form are."""
    first_gate = np.asarray(atlas.program.first_gate)
    stage = np.searchsorted(first_gate, wall, side="right") - 1
    number = np.empty(len(cell), dtype=np.int64)
    offset = 0
    for s in np.unique(stage):
        at = np.flatnonzero(stage == s)
        is_gate = s < len(first_gate) - 1
        before = pack(atlas.signs(cell[at])[:, : first_gate[s]]) if is_gate else np.zeros((len(at), 0), dtype=np.uint8)
        key = np.column_stack([before, wall[at].astype(np.int32)[:, None].view(np.uint8)])
        distinct, which = np.unique(key, axis=0, return_inverse=True)
        number[at] = offset + which.ravel()
        offset += len(distinct)
    return number


def _float_forms(atlas: Atlas, cell: Ids, wall: Ids) -> tuple[Array, Array, Array, Array]:
    """a, b and bounds on their errors, over the domain's parameters."""
    program, domain = atlas.program, atlas.domain
    a, b = np.zeros((len(cell), atlas.dim)), np.zeros(len(cell))
    a_size, b_size = np.zeros_like(a), np.zeros_like(b)
    sizes = majorant(program)
    gates = np.flatnonzero(wall < program.gates)

    def fill(part: slice) -> None:
        at = gates[part]
        signs = atlas.signs(cell[at])
        linear, constant = gate_forms(program, signs, wall[at])
        a[at], b[at] = linear @ domain.basis, constant + linear @ domain.origin
        linear, constant = gate_forms(sizes, signs, wall[at])
        a_size[at], b_size[at] = linear @ np.abs(domain.basis), constant + linear @ np.abs(domain.origin)

    in_chunks(len(gates), 2 * (program.gates + program.input_dim), fill)
    rows = np.flatnonzero(wall >= program.gates)
    A, offset = domain_rows(domain)
    at = wall[rows] - program.gates
    a[rows], b[rows] = -A[at], offset[at]
    outer = len(domain.input_rows)
    size = np.concatenate([np.abs(domain.input_rows) @ np.abs(domain.basis), np.abs(domain.parameter_rows)])
    a_size[rows], b_size[rows] = size[at], np.abs(offset[at])
    from_inputs = rows[at < outer]
    b_size[from_inputs] += np.abs(domain.input_rows[wall[from_inputs] - program.gates]) @ np.abs(domain.origin)
    error = relative(roundings(program) + 2 * program.input_dim)
    lost = underflow(program, domain)
    return a, b, error * a_size + lost, error * b_size + lost
