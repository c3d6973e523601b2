"""N(x) = alpha x + c written with neurons, where a network without a linear path is wanted.

On R^d a direction u costs two neurons: s u x = g(u x) - g(-u x) with s = on + off. It costs one if a neuron n = w x + b
is there already with w = u: its mirror image -n is added, and its own outgoing weight changed. And it costs one where
u x is bounded from one side on the domain, since a neuron that is always on is linear. alpha = sum_i u_i d_i needs as
many directions d_i as its rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold.errors import how_many
from polyfold.exact.rational_arrays import Rationals, filled, matrix, product, rationals, zeros
from polyfold.program.origins import GateOrigin
from polyfold.rewrite.two_layer.form import TwoLayer
from polyfold.rewrite.two_layer.on_domain import Reach
from polyfold.rewrite.two_layer.rules import Step


@dataclass(frozen=True, eq=False)
class Direction:
    """A row d of alpha = sum u_i d_i, and how g(d x) is had: from a neuron, from one that is always on, or from two."""

    row: Rationals
    neuron: int | None = None
    always_on: tuple[int, fmpq] | None = None
    """A sign and a bias for which sign d x + bias >= 0 on the domain."""

    @property
    def cost(self) -> int:
        return 2 if self.neuron is None and self.always_on is None else 1


def written_plainly(form: TwoLayer, reach: Reach) -> tuple[TwoLayer, Step]:
    """The same function on the domain without a linear path, and what was added."""
    on, off = _slopes(form)
    directions = _directions(form, reach)
    rows = np.stack([direction.row for direction in directions])
    factors = _factors(form.alpha, rows)
    neurons = _Neurons(form, on, off)
    for direction, u in zip(directions, factors.T, strict=True):
        neurons.add(direction, u)
    count = how_many(sum(direction.cost for direction in directions), "neuron")
    rank = len(directions)
    ways = {
        "a neuron that is on on the whole domain": sum(d.always_on is not None for d in directions),
        "a mirror image of a neuron": sum(d.neuron is not None for d in directions),
        "an opposite pair": sum(d.cost == 2 for d in directions),
    }
    words = ", ".join(f"{how_many(number, 'direction')} by {way}" for way, number in ways.items() if number)
    why = f"the slope of N(x) has rank {rank}: written with {count}, {words}"
    return neurons.form(), Step("linear part", (), why)


def cost(form: TwoLayer, reach: Reach) -> int:
    """How many neurons `written_plainly` adds."""
    return sum(direction.cost for direction in _directions(form, reach))


def _slopes(form: TwoLayer) -> tuple[fmpq, fmpq]:
    """Those that all gates have, if they can say linear functions; else those of a ReLU."""
    found = set(zip(form.on.tolist(), form.off.tolist(), strict=True))
    on, off = found.pop() if len(found) == 1 else (fmpq(1), fmpq(0))
    return (on, off) if on and on + off else (fmpq(1), fmpq(0))


def _directions(form: TwoLayer, reach: Reach) -> list[Direction]:
    """Independent rows that span those of alpha, the cheap ones first."""
    rank = int(matrix(form.alpha).rank()) if form.alpha.any() else 0
    candidates = [_bounded(row, reach) for row in form.alpha]
    candidates = [one for one in candidates if one.always_on is not None]
    if len(candidates) < len(form.alpha):
        walls = (Direction(row, neuron=k) for k, row in enumerate(form.W) if form.on[k] + form.off[k])
        candidates += [one for one in walls if _spanned(one.row, form.alpha, rank)]
    candidates += [Direction(row) for row in form.alpha]
    chosen: list[Direction] = []
    for one in candidates:
        tick()
        if len(chosen) == rank:
            break
        if int(matrix(np.stack([*(other.row for other in chosen), one.row])).rank()) > len(chosen):
            chosen.append(one)
    return chosen


def _bounded(row: Rationals, reach: Reach) -> Direction:
    for sign in (1, -1):
        least = reach.smallest(sign * row)
        if least is not None:
            return Direction(row, always_on=(sign, -least))
    return Direction(row)


def _spanned(row: Rationals, alpha: Rationals, rank: int) -> bool:
    return int(matrix(np.concatenate([alpha, row[None, :]])).rank()) == rank


def _factors(alpha: Rationals, rows: Rationals) -> Rationals:
    """u (m, r) with alpha = u rows, for independent rows."""
    reduced, rank = matrix(rows).rref()
    pivots = [next(j for j in range(rows.shape[1]) if reduced[i, j]) for i in range(rank)]
    inverse = matrix(rows[:, pivots]).inv()
    return product(alpha[:, pivots], filled(inverse.entries(), (rank, rank)))


class _Neurons:
    """A form whose linear part is being written with neurons of slopes (on, off)."""

    def __init__(self, form: TwoLayer, on: fmpq, off: fmpq) -> None:
        self._form, self._on, self._off = form, on, off
        self._V, self._c = form.V.copy(), form.c
        self._new: list[tuple[Rationals, fmpq, Rationals, fmpq, fmpq]] = []

    def add(self, direction: Direction, u: Rationals) -> None:
        """u (d x), by neurons."""
        on, off, row = self._on, self._off, direction.row
        if direction.always_on is not None:
            sign, bias = direction.always_on
            self._new.append((sign * row, bias, u * (sign / on), on, off))
            self._c = self._c - u * (sign * bias)
        elif direction.neuron is not None:
            k, form = direction.neuron, self._form
            share = u / (form.on[k] + form.off[k])
            self._V[:, k] = self._V[:, k] + share
            self._new.append((-row, -form.b[k], -share, form.on[k], form.off[k]))
            self._c = self._c - u * form.b[k]
        else:
            share = u / (on + off)
            self._new.append((row, fmpq(0), share, on, off))
            self._new.append((-row, fmpq(0), -share, on, off))

    def form(self) -> TwoLayer:
        form, rows = self._form, self._new
        node = form.origins[0].node if form.origins else "relu1"
        first = 1 + max((index for origin in form.origins for index in origin.index), default=-1)
        names = tuple(GateOrigin(node, (first + k,), "linear part") for k in range(len(rows)))
        return replace(
            form,
            W=np.concatenate([form.W, np.stack([row for row, *_ in rows])]),
            b=np.concatenate([form.b, rationals([bias for _, bias, *_ in rows])]),
            V=np.concatenate([self._V, np.stack([sent for _, _, sent, *_ in rows], axis=1)], axis=1),
            on=np.concatenate([form.on, rationals([slope for *_, slope, _ in rows])]),
            off=np.concatenate([form.off, rationals([slope for *_, slope in rows])]),
            origins=(*form.origins, *names),
            alpha=zeros(*form.alpha.shape),
            c=self._c,
        )
