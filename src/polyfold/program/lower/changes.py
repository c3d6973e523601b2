"""How far rows of affine functions may lie from those that they stand for: what lowering has rounded, bounded.

A change is kept in few numbers, not entry by entry: for every row and source the sum of what its coefficients on that
source have moved by. So the row's value moves by at most that sum times the largest entry of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.read_only import ReadOnly
from polyfold._base.types import Array
from polyfold.exact.rounding import LEAST, TINY, relative
from polyfold.program.forms import Form
from polyfold.program.operators import Operator
from polyfold.program.passes.fold import fold_form

Index = npt.NDArray[np.int64]
Sizes = Mapping[int, Array]


@dataclass(frozen=True, eq=False)
class Change(ReadOnly):
    """Row i moves by at most of_bias[i] and, for every source s, of_source[s][i] times the largest entry of s."""

    of_source: Sizes
    of_bias: Array

    @property
    def is_none(self) -> bool:
        """Whether nothing moves at all."""
        return not (self.of_bias.any() or any(moved.any() for moved in self.of_source.values()))

    def take(self, index: Index) -> Change:
        """Rows by index."""
        return Change({s: moved[index] for s, moved in self.of_source.items()}, self.of_bias[index])

    def scaled(self, factor: Array) -> Change:
        """Rows times factors."""
        return self.mapped(lambda moved: moved * np.abs(factor), 1)

    def through(self, operator: Operator) -> Change:
        """Combinations of rows."""
        absolute = operator.changed(np.abs)
        return self.mapped(lambda moved: absolute.apply(moved[None])[0], operator.terms)

    def mapped(self, combine: Callable[[Array], Array], terms: int) -> Change:
        """What combinations of so many rows, with coefficients of no sign, are moved by."""

        def bound(moved: Array) -> Array:
            return upwards(not_lost(combine(moved), combine(np.sign(moved))), terms)

        return Change({s: bound(moved) for s, moved in self.of_source.items()}, bound(self.of_bias))


def not_lost(sizes: Array, of_ones: Array) -> Array:
    """Products of changes that are too small for floats are still changes: 0 would say that nothing was rounded.

    `of_ones` are the same products of ones in place of the changes that are not 0.
    """
    return np.where((sizes == 0) & (of_ones != 0), LEAST, sizes)


def upwards(sizes: Array, roundings: int) -> Array:
    """A bound that holds although it was computed in floats; what is no number any more is infinite."""
    found = np.where(sizes > 0, sizes * (1 + relative(roundings + 2)) + TINY, sizes)
    return np.where(np.isnan(found), np.inf, found)


def added(changes: Sequence[Change | None]) -> Change | None:
    """The change of rows that were changed again and again; None is no change at all."""
    present = [change for change in changes if change is not None and not change.is_none]
    if len(present) < 2:
        return present[0] if present else None
    sources = dict.fromkeys(s for change in present for s in change.of_source)
    zero = np.zeros(len(present[0].of_bias))
    return Change(
        {s: upwards(sum((change.of_source.get(s, zero) for change in present), zero), len(present)) for s in sources},
        upwards(sum((change.of_bias for change in present), zero), len(present)),
    )


def stacked(parts: Sequence[tuple[Change | None, int]]) -> Change | None:
    """The change of rows below each other; each part with how many they are."""
    if all(change is None for change, _ in parts):
        return None
    filled = [Change({}, np.zeros(rows)) if change is None else change for change, rows in parts]
    sources = dict.fromkeys(s for change in filled for s in change.of_source)
    return Change(
        {
            s: np.concatenate([change.of_source.get(s, np.zeros(len(change.of_bias))) for change in filled])
            for s in sources
        },
        np.concatenate([change.of_bias for change in filled]),
    )


def relative_change(sizes: Sizes, bias: Array, part: float | Array, products: float = 0.0) -> Change:
    """Every coefficient moves by a part of itself, and by what so many products lose if they underflow."""
    lost = LEAST * products
    with np.errstate(invalid="ignore", over="ignore"):
        return Change(
            {s: upwards(part * size + lost, 2) for s, size in sizes.items()}, upwards(part * np.abs(bias) + lost, 2)
        )


def sizes_of(form: Form) -> Sizes:
    """For every source the sums of the sizes of a form's coefficients on it, row by row."""
    return {source: upwards(fold_form(form, _Ones(source), LARGEST), form.terms) for source in sorted(form.sources)}


class _Ones(Sequence[Array]):
    """Sources that are 0, but for one that is 1 in all its entries, as many as are asked for."""

    def __init__(self, source: int) -> None:
        self._source = source

    def __len__(self) -> int:
        return self._source + 1

    def __getitem__(self, source: int) -> Array:  # type: ignore[override]
        return np.array(float(source == self._source))


class Largest:
    """The sizes of values where sources are as large as given: arithmetic for `fold`."""

    def entries(self, value: Array, first: int, count: int) -> Array:
        return np.full(count, value) if value.ndim == 0 else value[first : first + count]

    def zeros(self, values: Sequence[Array], count: int) -> Array:
        return np.zeros(count)

    def through(self, operator: Operator, value: Array) -> Array:
        return np.asarray(operator.changed(np.abs).apply(value[None])[0])

    def scaled(self, factor: Array, value: Array) -> Array:
        return value * np.abs(factor)

    def taken(self, index: Index, value: Array) -> Array:
        return value[index]

    def summed(self, parts: Sequence[Array]) -> Array:
        return sum(parts[1:], parts[0])

    def stacked(self, parts: Sequence[Array]) -> Array:
        return np.concatenate(parts)

    def shifted(self, value: Array, bias: Array) -> Array:
        return value + np.abs(bias)


LARGEST = Largest()
