"""The difference of two networks of one hidden layer, wall by wall: zero, or a point where it is not.

Every such function is sum over walls of k relu(n) + D x + e, where n are a wall's smallest integers, in one way only
(lemma 2 of paper 004): walls with k = 0 left out, two functions are equal exactly if these are. So nothing has to be
searched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rational_arrays import Rationals, identity, product, rationals, zeros
from polyfold.rewrite.two_layer.form import TwoLayer, Wall, row_of


@dataclass(frozen=True, eq=False)
class Bends:
    """sum over walls of bends[wall] relu(n_wall(x)) + D x + e, with bends that are not zero."""

    bends: dict[Wall, Rationals]
    D: Rationals
    e: Rationals

    @property
    def is_zero(self) -> bool:
        return not (self.bends or self.D.any() or self.e.any())

    def minus(self, other: Bends) -> Bends:
        """The difference of two functions."""
        bends = dict(self.bends)
        for wall, bend in other.bends.items():
            bends[wall] = bends[wall] - bend if wall in bends else -bend
        return Bends({wall: bend for wall, bend in bends.items() if bend.any()}, self.D - other.D, self.e - other.e)

    def at(self, x: Rationals) -> Rationals:
        """The value at a point."""
        total: Rationals = product(self.D, x) + self.e
        for wall, bend in self.bends.items():
            tick()
            z = _value(wall, x)
            if z > 0:
                total = total + bend * z
        return total


def bends_of(form: TwoLayer) -> Bends:
    """A network's function, wall by wall. Walls may occur more than once; no neuron may read nothing but its bias."""
    turned = [k for k, (_, factor) in enumerate(form.walls) if factor < 0]
    relus = form.in_relus()
    bends: dict[Wall, Rationals] = {}
    for k, (wall, factor) in enumerate(form.walls):
        tick()
        bends[wall] = bends.get(wall, zeros(len(form.c))) + relus.V[:, k] * abs(factor)
    straight = relus.flipped(turned)
    return Bends({wall: bend for wall, bend in bends.items() if bend.any()}, straight.alpha, straight.c)


def point_of_difference(difference: Bends) -> Rationals:
    """A point where a function that is not zero is not zero; one of floats, if rounding the point keeps it so."""
    point = _nonzero_point(difference)
    rounded = [as_float(value) for value in point.tolist()]
    if all(np.isfinite(rounded)):
        floats = rationals([rational(value) for value in rounded])
        if difference.at(floats).any():
            return floats
    return point


def _nonzero_point(difference: Bends) -> Rationals:
    dim = difference.D.shape[1]
    if not difference.bends:
        # An affine function is zero at the origin and at all unit vectors only if it is zero.
        candidates = [zeros(dim), *identity(dim)]
    else:
        wall = min(difference.bends, key=lambda one: (max(map(abs, one)), one))
        middle, step = _across(wall, [other for other in difference.bends if other != wall])
        # Near the middle nothing bends but this wall, so the second difference across it is not zero.
        candidates = [middle, middle + step, middle - step]
    return next(point for point in candidates if difference.at(point).any())


def _across(wall: Wall, others: list[Wall]) -> tuple[Rationals, Rationals]:
    """A point of a wall on none of the others, and a step off the wall that crosses none of them either way."""
    w, bias = row_of(wall)
    length = w.dot(w)
    point = w * (-bias / length)
    on = [other for other in others if _value(other, point) == 0]
    while on:
        tick()
        normal, _ = row_of(on[0])
        # Not zero: a parallel wall through a point of this one would be this one.
        along = normal - w * (normal.dot(w) / length)
        point = point + along * _free_step([_along(other, point, along) for other in others])
        on = [other for other in on if _value(other, point) == 0]
    reach = [abs(value / slope) for value, slope in (_along(other, point, w) for other in others) if slope]
    return point, w * (min([fmpq(2), *reach]) / 2)


def _free_step(forms: list[tuple[fmpq, fmpq]]) -> fmpq:
    """A step t at which value + t slope is zero for none of the forms that are not zero everywhere along the way."""
    steps = (fmpq(1, k) for k in range(1, len(forms) + 2))
    return next(t for t in steps if all(value + t * slope for value, slope in forms if value or slope))


def _value(wall: Wall, x: Rationals) -> fmpq:
    return sum((entry * value for entry, value in zip(wall, x.tolist(), strict=False)), fmpq(wall[-1]))


def _along(wall: Wall, x: Rationals, direction: Rationals) -> tuple[fmpq, fmpq]:
    """A wall's form at a point, and its slope in a direction."""
    value = _value(wall, x)
    return value, _value(wall, x + direction) - value
