"""Which neurons of two irreducible forms belong together: exactly, or up to a tolerance, and the transformation that
takes one form to the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.rational import rational
from polyfold.exact.rational_arrays import Rationals, nearest
from polyfold.rewrite.two_layer.form import TwoLayer, of_program
from polyfold.symmetry.transformations import Composition, Flip, Permutation, Rescaling, Transformation


@dataclass(frozen=True)
class Pairing:
    """Neuron order[i] of the first form times factors[i], which may be negative, is neuron i of the second."""

    order: tuple[int, ...]
    factors: tuple[fmpq, ...]

    @property
    def transformation(self) -> Composition:
        """Only those of a permutation, a rescaling and a flip that change something."""
        steps: list[Transformation] = []
        if self.order != tuple(range(len(self.order))):
            steps.append(Permutation(1, self.order))
        if any(abs(factor) != 1 for factor in self.factors):
            steps.append(Rescaling(1, [abs(factor) for factor in self.factors]))
        turned = tuple(i for i, factor in enumerate(self.factors) if factor < 0)
        return Composition((*steps, Flip(1, turned)) if turned else tuple(steps))


def with_equal_slopes(a: TwoLayer, b: TwoLayer, pairing: Pairing) -> bool:
    """Whether neurons that belong together have the same gates."""
    order = list(pairing.order)
    return bool((a.on[order] == b.on).all() and (a.off[order] == b.off).all())


def exact_pairing(a: TwoLayer, b: TwoLayer) -> Pairing:
    """The pairing of two irreducible forms of one function: they have the same walls."""
    place = {wall: (k, factor) for k, (wall, factor) in enumerate(a.walls)}
    partners = [place[wall] for wall, _ in b.walls]
    factors = tuple(factor / other for (_, factor), (_, other) in zip(b.walls, partners, strict=True))
    return Pairing(tuple(k for k, _ in partners), factors)


def near_pairing(a: TwoLayer, b: TwoLayer, tolerance: float) -> tuple[Pairing, float] | None:
    """A pairing in which no neuron deviates by more than the tolerance, with the largest deviation, if there is one.

    A deviation is the distance of unit vectors along (w, b), or that of outgoing weights divided by the second one's
    length, once the first neuron has been scaled to the length that (w, b) have in the second.
    """
    if a.neurons != b.neurons:
        return None
    if not a.neurons:
        return Pairing((), ()), 0.0
    with np.errstate(all="ignore"):
        return _assigned(a, b, tolerance)


def _assigned(a: TwoLayer, b: TwoLayer, tolerance: float) -> tuple[Pairing, float] | None:
    from scipy.optimize import linear_sum_assignment

    units_a, lengths_a = _units(a)
    units_b, lengths_b = _units(b)
    sent_a, sent_b = nearest(a.V).T * lengths_a[:, None], nearest(b.V).T * lengths_b[:, None]
    deviations, signs = np.empty((b.neurons, a.neurons)), np.empty((b.neurons, a.neurons))
    for i in range(b.neurons):
        tick()
        same, turned = (np.linalg.norm(units_a - sign * units_b[i], axis=1) for sign in (1, -1))
        sent = np.linalg.norm(sent_a - sent_b[i], axis=1) / np.linalg.norm(sent_b[i])
        deviations[i] = np.maximum(np.minimum(same, turned), sent)
        signs[i] = np.where(same <= turned, 1.0, -1.0)
    # One pair that deviates too much costs more than all others together.
    costs = np.where(deviations <= tolerance, deviations / tolerance, a.neurons + 1.0)
    rows, columns = linear_sum_assignment(costs)
    largest = float(deviations[rows, columns].max())
    if not largest <= tolerance:  # also where lengths have left the range of floats
        return None
    factors = signs[rows, columns] * lengths_b / lengths_a[columns]
    return Pairing(tuple(columns.tolist()), tuple(rational(factor) for factor in factors.tolist())), largest


def linear_deviation(moved: Transformation, a: TwoLayer, b: TwoLayer) -> float:
    """How far the linear parts are apart once the first form has been transformed, relative to what adds up to them."""
    there = of_program(moved(a.program))
    with np.errstate(all="ignore"):
        apart, own = (np.linalg.norm(nearest(_linear(*pair))) for pair in (_less(there, b), (b.alpha, b.c)))
        scale = own + np.linalg.norm(nearest(b.V).T * _units(b)[1][:, None], axis=1).sum()
        return float(apart / scale) if apart else 0.0


def _less(one: TwoLayer, other: TwoLayer) -> tuple[Rationals, Rationals]:
    return one.alpha - other.alpha, one.c - other.c


def _linear(alpha: Rationals, c: Rationals) -> Rationals:
    return np.concatenate([alpha, c[:, None]], axis=1)


def _units(form: TwoLayer) -> tuple[Array, Array]:
    """(w, b) of every neuron as a unit vector, and its length."""
    rows = nearest(np.concatenate([form.W, form.b[:, None]], axis=1))
    lengths = np.linalg.norm(rows, axis=1)
    return rows / lengths[:, None], lengths
