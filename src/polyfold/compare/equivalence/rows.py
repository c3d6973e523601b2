"""What of two networks' outputs is compared: rows, each a few outputs of the one minus a few of the other.

Without a head, row k is output k of the first network minus output k of the second. Under a head it may take more: a
softmax does not tell scores apart that differ by a common shift, so differences of scores are compared there. Rows are
summed up in whatever arithmetic the outputs are in, so that nothing is rounded where these are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.types import Array
from polyfold.compare.equivalence.atoms import Combination
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.digits import Digits, added
from polyfold.exact.rounding import TINY, relative

# Outputs of one network, each with a sign.
Terms = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Rows:
    """Row k is the sum of the terms first[k], of the first network, minus that of second[k], of the second.

    `outputs` says how many outputs each network has.
    """

    first: tuple[Terms, ...]
    second: tuple[Terms, ...]
    outputs: tuple[int, int]

    @classmethod
    def plain(cls, outputs: int) -> Rows:
        """Each output by itself."""
        terms = tuple(((k, 1),) for k in range(outputs))
        return cls(terms, terms, (outputs, outputs))

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def _joint(self) -> tuple[npt.NDArray[np.int64], Array]:
        """The numbers and signs (rows, terms) of each row's outputs, those of both networks side by side."""
        both = [
            [*one, *((self.outputs[0] + number, -sign) for number, sign in other)]
            for one, other in zip(self.first, self.second, strict=True)
        ]
        most = max((len(terms) for terms in both), default=0)
        padded = np.array([terms + [(0, 0)] * (most - len(terms)) for terms in both], dtype=np.int64)
        padded = padded.reshape(len(both), most, 2)
        return padded[..., 0], padded[..., 1].astype(np.float64)

    def of_floats(self, outputs: Array) -> Array:
        """The rows' values (n, rows, ...) for both networks' outputs (n, outputs, ...) side by side, as floats add."""
        return np.asarray(self._terms(outputs).sum(axis=2))

    def of_bounded(self, outputs: BoundedValues) -> BoundedValues:
        """The same with bounds on the error, along the second axis."""
        terms = self._terms(outputs.values)
        values, count = terms.sum(axis=2), terms.shape[2]
        # Two terms are rounded once, when the result is; more are rounded on the way.
        size = np.abs(values) if count <= 2 else np.abs(terms).sum(axis=2)
        errors = np.abs(self._terms(outputs.errors)).sum(axis=2) + relative(2 * count) * size
        return BoundedValues(values, errors * (1 + relative(4 * count)) + TINY)

    def _terms(self, outputs: Array) -> Array:
        index, sign = self._joint
        sign = sign.reshape(1, *sign.shape, *([1] * (outputs.ndim - 2)))
        # An infinite output is none of the rows' that do not read it.
        return np.where(sign == 0, 0.0, sign * outputs[:, index])

    def of_fractions(self, first: Sequence[Fraction], second: Sequence[Fraction]) -> list[Fraction]:
        """The rows' values, exactly."""
        return [
            sum((sign * first[k] for k, sign in one), Fraction(0)) - sum(sign * second[k] for k, sign in other)
            for one, other in zip(self.first, self.second, strict=True)
        ]

    def of_digits(self, outputs: Digits) -> Digits:
        """The rows' values for both networks' outputs side by side, exactly."""
        index, sign = self._joint
        return added([outputs.entries(index[:, t]).scaled(sign[:, t]) for t in range(index.shape[1])])

    def of_rationals(self, numbers: Sequence[fmpq], row: int, width: int) -> list[fmpq]:
        """A row of maps: `numbers` has so many for each of both networks' outputs side by side."""
        index, sign = self._joint
        total = [fmpq(0)] * width
        for number, factor in zip(index[row].tolist(), sign[row].astype(int).tolist(), strict=True):
            some = numbers[number * width : (number + 1) * width]
            total = [x + factor * y for x, y in zip(total, some, strict=True)]
        return total

    def of_combinations(
        self, first: Sequence[Combination], second: Sequence[Combination]
    ) -> tuple[list[Combination], list[Combination]]:
        """Both networks' sides of all rows."""
        return _summed(self.first, first), _summed(self.second, second)


def _summed(rows: Sequence[Terms], outputs: Sequence[Combination]) -> list[Combination]:
    found: list[Combination] = []
    for terms in rows:
        total: Combination = {}
        for number, sign in terms:
            for index, value in outputs[number].items():
                total[index] = total.get(index, fmpq(0)) + sign * value
        found.append({index: value for index, value in total.items() if value})
    return found
