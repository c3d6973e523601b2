"""Two networks in their common form, with the atoms of the second written as multiples of the first one's, and a rest.

An atom of the second network that is nearly a multiple of one of the first, relu(z') with z' = s z + eta and s >= 0, is
s relu(z) + delta with delta between 0 and eta. So what the networks differ by passes through the layers as a
difference, which is small where the networks are alike, however large the values themselves are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids
from polyfold.compare.equivalence.atoms import Atoms, Combination
from polyfold.domain.domain import Domain
from polyfold.exact.rational import rational
from polyfold.exact.rounding import TINY, relative
from polyfold.program.passes.affine_forms import (
    Forms,
    added,
    between_zero_and,
    combined,
    rectified,
    scaled,
    stacked,
)

# Rows that point less alike than this (the cosine of their angle) are no pair.
_ALIKE = 0.9


@dataclass(frozen=True, eq=False)
class _Second:
    """The second network's own atoms, in order: eta = rest . (1, x, atoms of the first) + own . (deltas before)."""

    level: Ids
    partner: Ids
    factor: Array
    rest: Array
    own: Array


class Paired:
    """Bounds on the difference of two networks over boxes of a domain's parameters."""

    def __init__(
        self, atoms: Atoms, in_first: int, first: list[Combination], second: list[Combination], domain: Domain
    ) -> None:
        """`atoms` are those of both networks, the first `in_first` of them the first one's; then come the outputs."""
        self._domain = domain
        self._inputs = atoms.first
        rows = atoms.rows
        needed = _reachable(atoms, [*first, *second])
        self._base = [k for k in sorted(needed) if k < in_first]
        self._own = [k for k in sorted(needed) if k >= in_first]
        self._column = {**{i: i for i in range(self._inputs)}}
        self._column |= {self._inputs + k: self._inputs + n for n, k in enumerate(self._base)}
        self._own_column = {self._inputs + k: n for n, k in enumerate(self._own)}
        self._width = self._inputs + len(self._base)
        self._rows = rows
        self._R = self._dense([rows[k] for k in self._base])
        self._level = _levels([rows[k] for k in self._base], {self._inputs + k: n for n, k in enumerate(self._base)})
        self._first, self._second_outputs = first, second
        self._second: _Second | None = None
        self._out, self._own_out = np.zeros((0, 0)), np.zeros((0, 0))

    @np.errstate(over="ignore", invalid="ignore")
    def pair(self, centre: Array, half: Array) -> None:
        """Find pairs of atoms that are alike over a box, in the time that the running clock leaves."""
        base, _ = self._first_forms(centre, half)
        size = np.abs(base.c) + base.spread
        weighted, tops = _by_largest(self._R * size)
        lengths = np.linalg.norm(weighted, axis=1)
        levels = _levels([self._rows[k] for k in self._own], self._own_column)
        partner = np.full(len(self._own), -1)
        factors = [fmpq(0)] * len(self._own)
        rests: list[Combination] = [{} for _ in self._own]
        for level in range(1, int(levels.max(initial=0)) + 1):
            index = np.flatnonzero(levels == level)
            rows = [self._substituted(self._rows[self._own[n]], partner, factors) for n in index]
            probes, heights = _by_largest(self._dense(rows) * size)
            with np.errstate(divide="ignore", invalid="ignore"):
                products = probes @ weighted.T
                alike = np.nan_to_num(products / (np.linalg.norm(probes, axis=1)[:, None] * lengths))
                # Row by row the multiple of a row of the first network that comes nearest.
                nearest = products / lengths**2 * (heights[:, None] / tops)
                alike[~(np.isfinite(nearest) & (nearest > 0))] = 0.0
            for i, n in enumerate(index.tolist()):
                tick()
                best = int(alike[i].argmax()) if len(lengths) else -1
                if best >= 0 and alike[i, best] > _ALIKE:
                    partner[n] = best
                    factors[n] = rational(float(nearest[i, best]))
                    _add(rows[i], -factors[n], self._rows[self._base[best]])
                rests[n] = rows[i]
        self._second = _Second(
            levels,
            partner,
            np.array([_float(f) for f in factors]),
            self._dense(rests),
            self._dense_own([self._rows[k] for k in self._own]),
        )
        outputs = []
        for one, two in zip(self._first, self._second_outputs, strict=True):
            row = self._substituted(two, partner, factors)
            _add(row, fmpq(-1), one)
            outputs.append(row)
        self._out, self._own_out = self._dense(outputs), self._dense_own(self._second_outputs)

    @np.errstate(over="ignore", invalid="ignore")
    def difference(self, centre: Array, half: Array) -> Forms:
        """The second network's outputs minus the first one's, over the parameters |u - centre| <= half."""
        assert self._second is not None
        base, z = self._first_forms(centre, half)
        return added(combined(self._out, base), combined(self._own_out, self._deltas(base, z)))

    def _first_forms(self, centre: Array, half: Array) -> tuple[Forms, Forms]:
        """The first network's (1, x, atoms), and what its atoms are ReLUs of."""
        known = _inputs_over(self._domain, centre, half)
        count = len(self._base)
        values: list[Forms] = [known]
        places: list[Ids] = []
        befores: list[Forms] = []
        for level in range(1, int(self._level.max(initial=0)) + 1):
            index = np.flatnonzero(self._level == level)
            everything = _in_order(values, places, self._inputs, count)
            z = combined(self._R[index], everything)
            befores.append(z)
            h = rectified(z)
            # New columns come behind all that are there.
            values = [part.widened(h.G.shape[1]) for part in values]
            values.append(h)
            places.append(index)
        everything = _in_order(values, places, self._inputs, count)
        z_all = _in_order([_nothing(0, 1), *befores], places, 0, count)
        return everything, z_all.widened(max(everything.G.shape[1], z_all.G.shape[1]))

    def _deltas(self, base: Forms, z: Forms) -> Forms:
        second = self._second
        assert second is not None
        count = len(self._own)
        deltas: list[Forms] = [_nothing(0, base.G.shape[1])]
        places: list[Ids] = []
        for level in range(1, int(second.level.max(initial=0)) + 1):
            index = np.flatnonzero(second.level == level)
            so_far = _in_order(deltas, places, 0, count)
            eta = combined(second.rest[index], base)
            if second.own[index].any():
                eta = added(eta, combined(second.own[index], so_far))
            delta = _delta(eta, second.partner[index], second.factor[index], z)
            deltas = [part.widened(delta.G.shape[1]) for part in deltas]
            base, z = base.widened(delta.G.shape[1]), z.widened(delta.G.shape[1])
            deltas.append(delta)
            places.append(index)
        return _in_order(deltas, places, 0, count)

    def _substituted(self, row: Combination, partner: Ids, factors: list[fmpq]) -> Combination:
        """A combination with the second network's atoms replaced by the multiples that stand for them."""
        found: Combination = {}
        for index, value in row.items():
            if index not in self._own_column:
                _add(found, value, {index: fmpq(1)})
                continue
            n = self._own_column[index]
            if partner[n] >= 0:
                _add(found, value * factors[n], {self._inputs + self._base[partner[n]]: fmpq(1)})
        return found

    def _dense(self, rows: list[Combination]) -> Array:
        found = np.zeros((len(rows), self._width))
        for n, row in enumerate(rows):
            for index, value in row.items():
                found[n, self._column[index]] = _float(value)
        return found

    def _dense_own(self, rows: list[Combination]) -> Array:
        found = np.zeros((len(rows), len(self._own)))
        for n, row in enumerate(rows):
            for index, value in row.items():
                if index in self._own_column:
                    found[n, self._own_column[index]] = _float(value)
        return found


def _delta(eta: Forms, partner: Ids, factor: Array, z: Forms) -> Forms:
    """relu(s z + eta) - s relu(z)."""
    alone = partner < 0
    if alone.all():
        return rectified(eta)
    theirs = z.take(np.where(alone, 0, partner))
    ours = added(scaled(factor, theirs), eta)
    (low, high), (low_of_theirs, high_of_theirs) = ours.bounds, theirs.bounds
    straight = (low >= 0) & (low_of_theirs >= 0)
    nothing = (high <= 0) & (high_of_theirs <= 0)
    paired = between_zero_and(eta, straight, nothing)
    if not alone.any():
        return paired
    single = rectified(eta.take(np.flatnonzero(alone)))
    return _in_order(
        [_nothing(0, 1), *_apart(paired.take(np.flatnonzero(~alone)), single, eta.G.shape[1])],
        [np.flatnonzero(~alone), np.flatnonzero(alone)],
        0,
        len(partner),
    )


def _apart(one: Forms, other: Forms, common: int) -> tuple[Forms, Forms]:
    """Two lots of forms with the columns in common in front, and then first the one's own and then the other's."""
    own = one.G.shape[1] - common
    spread = np.concatenate([other.G[:, :common], np.zeros((len(other.c), own)), other.G[:, common:]], axis=1)
    return one.widened(spread.shape[1]), Forms(other.c, spread, other.r)


def _in_order(parts: list[Forms], places: list[Ids], first: int, count: int) -> Forms:
    """Forms in their places behind the first part; places that nothing has come to yet are 0."""
    columns = max(part.G.shape[1] for part in parts)
    c, G, r = np.zeros(first + count), np.zeros((first + count, columns)), np.zeros(first + count)
    head, *others = parts
    for part, index in ((head, np.arange(first)), *((p, first + i) for p, i in zip(others, places, strict=True))):
        c[index], G[index, : part.G.shape[1]], r[index] = part.c, part.G, part.r
    return Forms(c, G, r)


def _inputs_over(domain: Domain, centre: Array, half: Array) -> Forms:
    """1 and the inputs over a box of parameters."""
    one = Forms(np.ones(1), np.zeros((1, domain.dim)), np.zeros(1))
    if not domain.is_slice:
        return stacked([one, Forms(centre, np.diag(half), np.zeros(domain.dim))])
    G = domain.basis * half
    size = np.abs(domain.origin) + np.abs(domain.basis) @ (np.abs(centre) + half)
    x = Forms(domain.origin + domain.basis @ centre, G, relative(domain.dim + 8) * size + TINY)
    return stacked([one, x])


def _nothing(rows: int, columns: int) -> Forms:
    return Forms(np.zeros(rows), np.zeros((rows, columns)), np.zeros(rows))


def _by_largest(rows: Array) -> tuple[Array, Array]:
    """Rows over their largest entries, whose squares neither underflow nor overflow; and these entries."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return rows / largest[:, None], largest


def _reachable(atoms: Atoms, outputs: Iterable[Combination]) -> set[int]:
    """The atoms that outputs are made of."""
    todo, found = list(outputs), set[int]()
    while todo:
        for index in todo.pop():
            if index >= atoms.first and index - atoms.first not in found:
                found.add(index - atoms.first)
                todo.append(atoms.rows[index - atoms.first])
    return found


def _levels(rows: list[Combination], number: dict[int, int]) -> Ids:
    """1 for atoms that need no other of these, 2 for those that need such, and so on."""
    levels = np.zeros(len(rows), dtype=np.int64)
    for n, row in enumerate(rows):
        levels[n] = 1 + max((levels[number[index]] for index in row if index in number), default=0)
    return levels


def _add(total: Combination, factor: fmpq, other: Combination) -> None:
    for index, value in other.items():
        total[index] = total.get(index, fmpq(0)) + factor * value


def _float(value: fmpq) -> float:
    """The nearest float; NaN, of which nothing follows, where there is none that is right up to one rounding."""
    try:
        found = int(value.p) / int(value.q)
    except OverflowError:
        return float("nan")
    return found if abs(found) > TINY or not value else float("nan")
