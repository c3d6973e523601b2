"""Affine forms on a domain: how small and how large they get, exactly, and which neurons never switch there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold.domain.domain import Domain
from polyfold.engine.bounds.bounded_domain import BoundedDomain, place_of
from polyfold.errors import DomainError
from polyfold.exact.linear_program import maximise
from polyfold.exact.rational import rational
from polyfold.exact.rational_arrays import Rationals, product, rationals
from polyfold.rewrite.two_layer.form import TwoLayer
from polyfold.rewrite.two_layer.rules import Reduced, Step


@dataclass(frozen=True, eq=False)
class Reach:
    """A domain with an interior, as affine forms see it."""

    domain: Domain

    def __post_init__(self) -> None:
        if self.domain.is_slice:
            raise DomainError(
                f"the domain is {self.domain.describe()}, where walls that differ may coincide: irreducible forms are "
                "for R^d, boxes and polytopes. Put the slice into the network's first layer to look at it there"
            )

    def largest(self, weights: Rationals) -> fmpq | None:
        """The largest w x on the domain; None if there is none."""
        if not self.domain.rows:
            return None if weights.any() else fmpq(0)
        limits = self._place.limits
        if limits is None:
            A, b = self._rows
            found = maximise(weights.tolist(), A, b, start=self._place.inside.rational)
            return found.value if found.status == "optimal" else None
        total = fmpq(0)
        for weight, low, high in zip(weights.tolist(), *limits, strict=True):
            end = high if weight > 0 else low
            if weight and not np.isfinite(end):
                return None
            total += weight * rational(end) if weight else fmpq(0)
        return total

    def smallest(self, weights: Rationals) -> fmpq | None:
        """The smallest w x on the domain; None if there is none."""
        found = self.largest(-weights)
        return None if found is None else -found

    @cached_property
    def _place(self) -> BoundedDomain:
        return place_of(self.domain)

    @cached_property
    def _rows(self) -> tuple[list[list[fmpq]], list[fmpq]]:
        return rationals(self.domain.input_rows).tolist(), rationals(self.domain.input_offsets).tolist()


def without_idle_walls(reduction: Reduced, reach: Reach) -> Reduced:
    """Neurons whose wall does not cut the domain are linear there: into N(x)."""
    form, steps, kept = reduction.form, list(reduction.steps), []
    sent = form.V.copy()
    for k in range(form.neurons):
        tick()
        slope = _slope_on(form, k, reach)
        if slope is None:
            kept.append(k)
            continue
        sent[:, k] = form.V[:, k] * slope
        side = "on" if slope == form.on[k] else "off"
        becomes = "it is now part of N(x)" if sent[:, k].any() else "it adds nothing"
        steps.append(Step("domain", (form.origins[k],), f"it is {side} on the whole domain; {becomes}"))
    gone = [k for k in range(form.neurons) if k not in kept]
    alpha = form.alpha + product(sent[:, gone], form.W[gone])
    c = form.c + product(sent[:, gone], form.b[gone])
    return Reduced(replace(form.take(kept), alpha=alpha, c=c), tuple(steps))


def _slope_on(form: TwoLayer, k: int, reach: Reach) -> fmpq | None:
    """The slope that a neuron has on the whole domain, if it has one."""
    least = reach.smallest(form.W[k])
    if least is not None and least + form.b[k] >= 0:
        return form.on[k]
    most = reach.largest(form.W[k])
    if most is not None and most + form.b[k] <= 0:
        return form.off[k]
    return None
