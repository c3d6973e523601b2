"""For each class a box of inputs in which no other one wins: a rule that people can read, proved.

A box starts around the data that get the class, as many of them as one box can hold without any other class winning in
it, the most central ones first. Then it grows: to the domain's ends where it can, and on its other sides as far as it
can. Whether another class wins in a box is asked of the engine, which decides it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import numpy as np

from polyfold._base.clock import Clock
from polyfold._base.types import Array
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.domain.domain import Box
from polyfold.engine.proof.certify import certify
from polyfold.engine.unfold import unfold_program
from polyfold.errors import DomainError
from polyfold.program.derive.argmax import with_classes
from polyfold.stats.classes import Classes

# Of the rows of a class, these parts are tried, until a box around them is pure.
_PARTS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
# How often the way to the domain's ends is halved.
_HALVINGS = 7
# A box around one point has at least this part of the domain's sides.
_LEAST = 0.01


@dataclass(frozen=True, eq=False)
class ClassRule:
    """Nowhere in lo <= x <= hi does another class win than `label`; on the box's edge one may tie with it.

    `proved` says that the cells of the box, cut by class, were certified. `points` is how many of the data lie in the
    box, `of_class` how many get the class at all.
    """

    label: int
    lo: Array
    hi: Array
    points: int
    of_class: int
    proved: bool


def class_rules(
    classes: Classes, lo: Array, hi: Array, X: Array, *, max_seconds: float | None = None
) -> tuple[ClassRule, ...]:
    """A rule for each class that rows of X get, on the domain lo <= x <= hi that the classes were found on.

    Numbers are rounded to a hundredth of the domain's sides or so, before they are looked at. After `max_seconds` boxes
    stop growing.

    >>> import polyfold as pf
    >>> two = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0], [0.0, 1.0]], [0.0, 0.0])]
    >>> found = pf.stats.classes(pf.unfold(two, pf.box(0, 4)))
    >>> rules = class_rules(found, np.zeros(1), np.full(1, 4.0), np.array([[0.5], [3.0]]))
    >>> [(rule.label, rule.lo.tolist(), rule.hi.tolist(), rule.proved) for rule in rules]
    [(0, [0.0], [1.5], True), (1, [1.51], [4.0], True)]
    """
    if classes.original.domain.is_slice or not np.isfinite([lo, hi]).all():
        raise DomainError("rules are boxes in a bounded box of inputs; this domain is none")
    part = classes.atlas.locate(X, outside="ignore")
    inside, label = X[part >= 0], classes.label[part[part >= 0]]
    search = _Search(classes, lo, hi, Clock(max_seconds))
    found = []
    for one in np.unique(label).tolist():
        box = search.rule(one, inside[label == one])
        if box is not None:
            held = int(((inside >= box[0]) & (inside <= box[1])).all(axis=1).sum())
            parts = search.parts(*box)
            proved = evidence_of(parts.with_certificate(certify(parts))).proved
            found.append(ClassRule(one, *box, held, int((label == one).sum()), proved))
    return tuple(found)


class _Search:
    def __init__(self, classes: Classes, lo: Array, hi: Array, clock: Clock) -> None:
        self.asked = with_classes(classes.original.program, classes.threshold)
        self.lo, self.hi, self.clock = lo, hi, clock
        self.decimals = [2 - floor(log10(side)) for side in (hi - lo).tolist()]

    def parts(self, lo: Array, hi: Array) -> Atlas:
        """The cells of a box, cut by class."""
        return unfold_program(self.asked.program, Box(lo, hi).resolve(len(lo)))

    def pure(self, lo: Array, hi: Array, label: int) -> bool:
        winners = self.asked.winners(self.parts(lo, hi).signs())
        return bool((winners == label).all())

    def rule(self, label: int, rows: Array) -> tuple[Array, Array] | None:
        """The box of a class; None if not even its most central row has one."""
        centre = np.median(rows, axis=0)
        order = np.argsort((np.abs(rows - centre) / (self.hi - self.lo)).max(axis=1), kind="stable")
        for part in _PARTS:
            some = rows[order[: max(1, round(part * len(rows)))]]
            room = np.maximum(_LEAST * (self.hi - self.lo) - (some.max(axis=0) - some.min(axis=0)), 0.0) / 2
            lo, hi = self._rounded(some.min(axis=0) - room, some.max(axis=0) + room)
            if self.pure(lo, hi, label):
                return self._grown(lo, hi, label)
        return None

    def _grown(self, lo: Array, hi: Array, label: int) -> tuple[Array, Array]:
        for side, limits in ((lo, self.lo), (hi, self.hi)):
            for k in range(len(side)):
                before = float(side[k])
                side[k] = limits[k]
                if self.clock.over or not self.pure(lo, hi, label):
                    side[k] = before
        step, share = 0.5, 0.0
        for _ in range(_HALVINGS):
            wider = self._rounded(lo + (share + step) * (self.lo - lo), hi + (share + step) * (self.hi - hi))
            if not self.clock.over and self.pure(*wider, label):
                share += step
            step /= 2
        return self._rounded(lo + share * (self.lo - lo), hi + share * (self.hi - hi)) if share else (lo, hi)

    def _rounded(self, lo: Array, hi: Array) -> tuple[Array, Array]:
        """The box with short numbers, within the domain, and never empty."""
        low, high = (
            np.array([round(x, digits) for x, digits in zip(side.tolist(), self.decimals, strict=True)])
            for side in (lo, hi)
        )
        low, high = np.where(low < high, low, lo), np.where(low < high, high, hi)
        return np.maximum(low, self.lo), np.minimum(high, self.hi)
