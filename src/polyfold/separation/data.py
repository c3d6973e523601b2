"""Labelled points, checked once: rows of numbers, a label for each, at least two classes.

Questions about them are asked in a unit of their own, a power of two near the largest feature: products of features
neither overflow nor vanish then, whatever the user measures in. Answers come back in the user's unit.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from flint import fmpq

from polyfold._base.as_found import first_hand
from polyfold._base.clock import tick
from polyfold._base.evidence import Evidence
from polyfold._base.inputs import classes_of, rows_of
from polyfold._base.types import Array, Ids
from polyfold.errors import DataError, ShapeError, how_many
from polyfold.exact.rational_arrays import Rationals, by_rows, nearest, product, rationals, zeros
from polyfold.exact.rounding import TINY, relative


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points as rationals and as the floats nearest to them."""

    exact: Rationals
    floats: Array

    def __len__(self) -> int:
        return len(self.floats)

    @property
    def dim(self) -> int:
        """How many coordinates a point has."""
        return int(self.floats.shape[1])

    def along(self, normal: Rationals) -> tuple[fmpq, fmpq]:
        """The least and the largest value of normal . x, exactly. Floats choose the points to look at."""
        with np.errstate(all="ignore"):
            slopes = nearest(normal)
            values, sizes = self.floats @ slopes, np.abs(self.floats) @ np.abs(slopes)
            # Features and slopes below all floats were rounded to the nearest one, or to zero.
            lost = TINY * (np.abs(self.floats).sum(axis=1) + np.abs(slopes).sum() + self.dim + 2)
            doubt = relative(self.dim + 4) * sizes + lost
            low = ~(values - doubt > np.min(values + doubt))
            high = ~(values + doubt < np.max(values - doubt))
        if not np.isfinite(doubt).all():
            low = high = np.ones(len(self), dtype=bool)
        return min(product(self.exact[low], normal)), max(product(self.exact[high], normal))


def point_set(exact: Rationals) -> PointSet:
    """Rationals with their floats."""
    return PointSet(exact, nearest(exact))


def joined(*parts: PointSet) -> PointSet:
    """All points of several sets, in order."""
    return PointSet(np.concatenate([part.exact for part in parts]), np.concatenate([part.floats for part in parts]))


@dataclass(frozen=True, eq=False)
class LabelledData:
    """Points and their classes. Class k has the label labels[k] and the rows members[k] of X.

    All points but X itself are multiples of the unit 2^exponent.
    """

    X: Array
    labels: tuple[Hashable, ...]
    members: tuple[Ids, ...]

    @cached_property
    def exponent(self) -> int:
        """The power of two that is next above all features in size."""
        return int(np.frexp(np.abs(self.X).max())[1])

    @property
    def digest(self) -> str:
        """SHA-256 of the points and their classes."""
        return sha256(self.X.tobytes() + self.number.tobytes() + repr(self.labels).encode()).hexdigest()

    def measured(self, points: Array) -> PointSet:
        """Points that the user gave, in the unit."""
        unit = fmpq(2) ** self.exponent
        exact = by_rows(lambda rows: rows / unit, rationals(points))
        return PointSet(exact, np.ldexp(points, -self.exponent))

    def given(self, lengths: Array) -> Array:
        """Lengths or points in the user's own unit; beyond all floats they are infinite."""
        with np.errstate(over="ignore"):
            return np.ldexp(lengths, self.exponent)

    @property
    def dim(self) -> int:
        """d0: how many features there are."""
        return int(self.X.shape[1])

    @cached_property
    def points(self) -> PointSet:
        """All rows of X."""
        return self.measured(self.X)

    @cached_property
    def number(self) -> Ids:
        """The class of every row, by number."""
        found = np.empty(len(self.X), dtype=np.int64)
        for k, rows in enumerate(self.members):
            found[rows] = k
        return found

    def of(self, k: int) -> PointSet:
        """The points of one class."""
        return PointSet(self.points.exact[self.members[k]], self.points.floats[self.members[k]])

    @cached_property
    def same_point(self) -> tuple[int, int] | None:
        """Two rows of X that are the same point with different labels, if there are any: nothing tells them apart."""
        _, first, place = np.unique(self.X, axis=0, return_index=True, return_inverse=True)
        twin = first[place.ravel()]
        wrong = np.flatnonzero(self.number != self.number[twin])
        return (int(twin[wrong[0]]), int(wrong[0])) if len(wrong) else None

    def in_words(self, pair: tuple[int, int]) -> str:
        """Two rows that are the same point, with their labels."""
        one, other = (self.labels[self.number[row]] for row in pair)
        return (
            f"rows {pair[0]} and {pair[1]} of X are the same point, {self.X[pair[0]].tolist()}, with the labels "
            f"{one!r} and {other!r}"
        )

    @cached_property
    def means(self) -> PointSet:
        """The mean of every class, exactly."""
        rows = [_mean(self.points.exact[rows]) for rows in self.members]
        return point_set(np.array(rows, dtype=object))

    @cached_property
    def centre(self) -> PointSet:
        """The mean of the classes' means, as a set of one point."""
        return point_set(_mean(self.means.exact)[None])

    def row_of(self, label: Any) -> int:
        """The number of a label, or an error that lists them."""
        for k, known in enumerate(self.labels):
            if known == label:
                return k
        raise DataError(f"no point has the label {label!r}; the labels are {_listed(self.labels)}")


def labelled(X: Any, y: Any) -> LabelledData:
    """X (n, d) and y (n,) as checked data to be told apart; labels may be anything that can be sorted.

    >>> labelled([[0, 1], [2, 3], [4, 5]], ["b", "a", "b"]).labels
    ('a', 'b')
    """
    data = grouped(X, y)
    if len(data.labels) < 2:
        raise DataError(
            f"all {how_many(len(data.X), 'point')} have the label {data.labels[0]!r}: two classes are needed"
        )
    return data


def told_apart(X: Any, y: Any) -> LabelledData:
    """The same for those who need a classifier: no point may have two labels."""
    data = labelled(X, y)
    if data.same_point is not None:
        raise DataError(f"{data.in_words(data.same_point)}: no classifier has both")
    return data


def grouped(X: Any, y: Any) -> LabelledData:
    """Points and labels of matching shapes, with any number of classes."""
    points = rows_of(X, None)
    if not len(points):
        raise ShapeError("X has no rows: give at least one point")
    labels, numbers = classes_of(y, len(points))
    return LabelledData(points, labels, tuple(np.flatnonzero(numbers == k) for k in range(len(labels))))


def two_classes(X: Any, y: Any, question: str) -> LabelledData:
    """Checked data of exactly two classes."""
    return only_two(labelled(X, y), question)


def only_two(data: LabelledData, question: str) -> LabelledData:
    """The data, if they have two classes."""
    if len(data.labels) != 2:
        raise DataError(
            f"{question} is a question about two classes; these data have {len(data.labels)}: {_listed(data.labels)}"
        )
    return data


def proved_of(data: LabelledData, proof: str) -> Evidence:
    """What an answer about data rests on: its own proof, and no network."""
    return first_hand(Evidence(data.digest, "", "", None, True, None, proof=proof))


def _mean(rows: Rationals) -> Rationals:
    total = zeros(rows.shape[1])
    for row in rows:
        tick()
        total = total + row
    found: Rationals = total / fmpq(len(rows))
    return found


def _listed(labels: tuple[Hashable, ...]) -> str:
    shown = ", ".join(repr(label) for label in labels[:8])
    return shown if len(labels) <= 8 else f"{shown}, ... ({len(labels)} in all)"
