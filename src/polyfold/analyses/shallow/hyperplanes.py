"""The distinct hyperplanes that the facets of an atlas lie on, all seen from one centre.

Which facets share a hyperplane is decided exactly: the same gate behind the same pattern has the same form; of other
forms, floats with error bounds tell most apart, and integers compare the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.halfspaces import domain_rows
from polyfold.atlas.maps import gate_forms, in_chunks, majorant, roundings
from polyfold.atlas.patterns import pack
from polyfold.atlas.underflow import underflow
from polyfold.engine.exact_forms import ExactForms
from polyfold.exact.rational import as_float
from polyfold.exact.rounding import TINY, relative

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# A centre is a mixture of so many witnesses.
_MIXED = 8


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """Hyperplanes H u = c with rows of length one; the centre has H u < c, and so has no hyperplane through it.

    `of_facet` is every facet's hyperplane; `near` tells of every facet whether its cell lies on the centre's side.
    """

    H: Array
    c: Array
    of_facet: Ids
    near: Flags
    exact: ExactHyperplanes


class ExactHyperplanes:
    """The same in integers without a common factor, each row (h, c) with h . u < c at the centre; made when needed."""

    def __init__(self, forms: _Forms, number: Ids, sign: Ids) -> None:
        self._forms = forms
        self._number = number
        self._sign = sign

    def __getitem__(self, hyperplane: int) -> tuple[int, ...]:
        sign = int(self._sign[hyperplane])
        *slopes, constant = self._forms.exactly(int(self._number[hyperplane]))
        return (*(-sign * x for x in slopes), sign * constant)


def distinct_hyperplanes(atlas: Atlas) -> Hyperplanes:
    """All hyperplanes that facets lie on, each once."""
    pairs = _facet_pairs(atlas)
    forms, of_pair = _Forms.of(atlas, pairs[:, 0])
    sign = forms.signs_at_a_centre()
    gate = np.minimum(forms.wall, atlas.gates)
    # The domain's rows are forms that are positive inside.
    on = np.column_stack([atlas.signs(atlas.facet_owner[pairs[:, 0]]), np.ones(len(pairs), dtype=bool)])
    near_first = on[np.arange(len(pairs)), gate[of_pair]] == (sign[of_pair] > 0)
    same = forms.same_hyperplane(sign)
    _, first, number = np.unique(same, return_index=True, return_inverse=True)
    of_facet, near = np.empty(len(atlas.facet_wall), dtype=np.int64), np.empty(len(atlas.facet_wall), dtype=bool)
    for side, seen in ((0, near_first), (1, ~near_first)):
        listed = pairs[:, side] >= 0
        of_facet[pairs[listed, side]] = number[of_pair[listed]]
        near[pairs[listed, side]] = seen[listed]
    H, c, _ = forms.unit_rows(sign)
    return Hyperplanes(H[first], c[first], of_facet, near, ExactHyperplanes(forms, first, sign[first]))


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
    def of(cls, atlas: Atlas, facets: Ids) -> tuple[_Forms, Ids]:
        """One form for every gate and pattern before it, and which one each facet has."""
        cell, wall = atlas.facet_owner[facets], atlas.facet_wall[facets].astype(np.int64)
        number = _same_gate_behind_the_same_pattern(atlas, cell, wall)
        _, first, of_facet = np.unique(number, return_index=True, return_inverse=True)
        cell, wall = cell[first], wall[first]
        found = cls(atlas, cell, wall, *_float_forms(atlas, cell, wall))
        found._replace_unbounded()
        return found, of_facet

    def _replace_unbounded(self) -> None:
        """Forms of which floats know nothing become multiples of the exact ones."""
        known = np.isfinite(self.a).all(axis=1) & np.isfinite(self.a_error).all(axis=1)
        for i in np.flatnonzero(~(known & np.isfinite(self.b) & np.isfinite(self.b_error))).tolist():
            row = self.exactly(i)
            largest = max(abs(x) for x in row[:-1])
            *slopes, constant = (as_float(fmpq(x, largest)) for x in row)
            self.a[i], self.b[i] = slopes, constant
            self.a_error[i], self.b_error[i] = relative(2) + TINY, relative(2) * abs(constant) + TINY

    @cached_property
    def _exact(self) -> ExactForms:
        return ExactForms(self.atlas.program, self.atlas.domain)

    def exactly(self, number: int) -> list[int]:
        """A form (a, b) as integers without a common factor."""
        pattern = tuple(self.atlas.signs([self.cell[number]])[0].tolist())
        return self._exact.under(pattern).rows[int(self.wall[number])]

    def signs_at_a_centre(self) -> Ids:
        """On which side of each form a point lies that lies on no hyperplane at all, in the interior of the domain."""
        for centre in _centres(self.atlas):
            at = np.array([as_float(x) for x in centre])
            value = self.a @ at + self.b
            size = np.abs(self.a) @ np.abs(at) + np.abs(self.b)
            doubt = self.a_error @ np.abs(at) + self.b_error + relative(len(at) + 6) * size + TINY
            sign: Ids = np.sign(value).astype(np.int64)
            for i in np.flatnonzero(~(np.abs(value) > doubt)):
                *slopes, constant = self.exactly(int(i))
                exact = sum((x * fmpq(slope) for x, slope in zip(centre, slopes, strict=True)), fmpq(constant))
                sign[i] = (exact > 0) - (exact < 0)
            if (sign != 0).all():
                return sign
        raise AssertionError("every mixture of witnesses lies on a hyperplane")

    def unit_rows(self, sign: Ids) -> tuple[Array, Array, Array]:
        """(H, c) with H u < c at the centre and rows of length one; and how far off each of their entries may be."""
        # Squares of rows over their largest entries cannot overflow.
        largest = np.abs(self.a).max(axis=1, initial=0.0)
        a, b = self.a / largest[:, None], self.b / largest
        norm = np.linalg.norm(a, axis=1)
        H, c = -sign[:, None] * a / norm[:, None], sign * b / norm
        doubt = np.maximum(self.a_error.max(axis=1, initial=0.0) * self.a.shape[1], self.b_error)
        error = doubt / largest / norm
        return H, c, 2 * error * (1 + np.abs(c)) + relative(self.a.shape[1] + 8) * (1 + np.abs(c))

    def same_hyperplane(self, sign: Ids) -> Ids:
        """A number for every form, the same for forms with the same zeros."""
        H, c, error = self.unit_rows(sign)
        # Seen along a random direction different hyperplanes rarely look alike.
        weights = np.random.default_rng(0).uniform(0.5, 1.0, H.shape[1] + 1)
        view = np.column_stack([H, c]) @ weights
        order = np.argsort(view)
        reach = (H.shape[1] + 2) * error[order]
        apart = np.diff(view[order]) > np.maximum.accumulate(reach)[:-1] + reach[1:]
        cluster = np.concatenate([[0], np.cumsum(apart)]) if len(order) else order
        number = np.arange(len(order))
        sizes = np.bincount(cluster) if len(order) else cluster
        ends = np.cumsum(sizes)
        for k in np.flatnonzero(sizes > 1):
            alike: dict[tuple[int, ...], int] = {}
            for i in np.sort(order[ends[k] - sizes[k] : ends[k]]).tolist():
                number[i] = alike.setdefault(tuple(int(sign[i]) * x for x in self.exactly(i)), i)
        return number


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


def _centres(atlas: Atlas) -> Iterator[Sequence[fmpq]]:
    """Points in the interior of the domain: mixtures of witnesses."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        cells = rng.choice(len(atlas), size=min(_MIXED, len(atlas)), replace=False).tolist()
        weights = rng.integers(1, 1 << 20, size=len(cells)).tolist()
        points = [atlas.rational_witness(cell) for cell in cells]
        total = fmpq(sum(weights))
        yield tuple(
            sum((weight * x for weight, x in zip(weights, column, strict=True)), fmpq(0)) / total
            for column in zip(*points, strict=True)
        )
