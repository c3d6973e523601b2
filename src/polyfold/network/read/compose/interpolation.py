"""Interpolation of a value's spatial axes, all at once or one after the other, without rounding a weight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpq

from polyfold._base.types import Array
from polyfold.exact.given import over_divisors
from polyfold.exact.near import Near
from polyfold.exact.reals import reals
from polyfold.network.read import windows
from polyfold.network.read.builder import Site, Value
from polyfold.network.read.compose import ops as compose

if TYPE_CHECKING:
    from scipy import sparse

# Whole numbers of so many bits are floats.
_BITS = 53

Row = Mapping[int, Fraction | Near]


@dataclass(frozen=True, eq=False)
class Axis:
    """What becomes of one axis: which of so many old places each new one reads, and with which weights."""

    before: int
    rows: Sequence[Row]

    def matrix(self, entries: Iterable[float]) -> sparse.csr_array:
        """The matrix (new, old) with these entries in place of the weights, row by row."""
        from scipy import sparse

        starts = np.cumsum([0, *(len(row) for row in self.rows)])
        columns = np.array([place for row in self.rows for place in row], dtype=np.int64)
        data = np.array(list(entries), dtype=np.float64)
        return sparse.csr_array((data, columns, starts), shape=(len(self.rows), self.before))

    def quotients(self) -> tuple[sparse.csr_array, Array] | None:
        """The matrix as floats over a whole number a row; None if floats cannot hold it that way."""
        longest = max(len(row) for row in self.rows)
        padded = [[*row.values(), *[Fraction(0)] * (longest - len(row))] for row in self.rows]
        if any(isinstance(weight, Near) for row in padded for weight in row):
            return None
        try:
            numerators, divisors = over_divisors(np.array(padded, dtype=object))
        except ValueError:
            return None
        tops = (top[: len(row)].tolist() for top, row in zip(numerators, self.rows, strict=True))
        return self.matrix(chain.from_iterable(tops)), divisors


def interpolate(site: Site, x: Value, axes: Sequence[Axis]) -> Value:
    """Every spatial axis of a value (channels, *space) with its weights."""
    from scipy import sparse

    quotients = [axis.quotients() for axis in axes]
    known = [each for each in quotients if each is not None]
    if len(known) == len(axes) and _products_are_floats(known):
        return _combined(site, x, [matrix for matrix, _ in known], [divisors for _, divisors in known], "")
    for number, (axis, each) in enumerate(zip(axes, quotients, strict=True)):
        part = "" if number == len(axes) - 1 else f"axis{number}"
        if each is None:
            x = _exactly(site, x, axis, number, part)
            continue
        matrices = [sparse.csr_array(sparse.eye_array(n, format="csr")) for n in x.shape[1:]]
        matrices[number], divisors = each
        ones = [np.ones(matrix.shape[0]) for matrix in matrices]
        x = _combined(site, x, matrices, [*ones[:number], divisors, *ones[number + 1 :]], part)
    return x


def _products_are_floats(axes: Sequence[tuple[sparse.csr_array, Array]]) -> bool:
    """Whether products of entries of all axes, and of their divisors, surely are floats."""
    tops, bottoms = ([axis[0].data for axis in axes], [axis[1] for axis in axes])
    return max(sum(map(_longest, tops)), sum(map(_longest, bottoms))) <= _BITS


def _longest(numbers: Array) -> int:
    """The bits that the longest of some numbers has between its first and its last one."""
    whole = [abs(value.as_integer_ratio()[0]) for value in np.unique(numbers).tolist()]
    return max((n // (n & -n)).bit_length() if n else 0 for n in whole)


def _combined(
    site: Site, x: Value, matrices: Sequence[sparse.csr_array], divisors: Sequence[Array], part: str
) -> Value:
    each = reduce(np.multiply.outer, divisors).ravel()
    return windows.per_axis(site, x, matrices, None if (each == 1).all() else each, part)


def _exactly(site: Site, x: Value, axis: Axis, number: int, part: str) -> Value:
    """One spatial axis whose weights floats cannot hold: a layer on what lies along it."""
    weight = reals(np.zeros((len(axis.rows), axis.before)))
    for new, row in enumerate(axis.rows):
        for place, value in row.items():
            weight[new, place] = value if isinstance(value, Near) else fmpq(value.numerator, value.denominator)
    places = compose.positions(x.shape)
    turned = compose.rearrange(site, x, np.moveaxis(places, number + 1, -1), part=f"turned{number}")
    sums = compose.linear(site, turned, weight, part=f"weighted{number}")
    return compose.rearrange(site, sums, np.moveaxis(compose.positions(sums.shape), -1, number + 1), part)
