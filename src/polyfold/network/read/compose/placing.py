"""Entries of several values and constants put together: assignment to slices, scattering, concatenation in any way.

Importers find out where entries go by letting the original operator move labels instead of numbers. A positive label
stands for an entry of a value, zero for the number zero, a negative one for a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.network.ops.linear import Shift
from polyfold.network.ops.movement import Concat
from polyfold.network.ops.op import Shape, constant, size
from polyfold.network.read.builder import MIXES_THE_BATCH, Constant, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose.combining import combine

Indices = npt.NDArray[np.int64]


@dataclass
class Labels:
    """The labels of the operands of one operator."""

    numbers: list[float] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)

    def total(self) -> int:
        """How many entries all values have for one sample."""
        return sum(size(value.shape) for value in self.values)

    def of_value(self, value: Value) -> Indices:
        """One label for every entry of a sample."""
        labels = 1 + self.total() + compose.positions(value.shape)
        self.values.append(value)
        return labels

    def of_constant(self, numbers: Any) -> Indices:
        """Labels of a constant's entries; equal numbers have equal ones."""
        given = np.asarray(numbers, dtype=np.float64)
        distinct, which = np.unique(given, return_inverse=True)
        first = len(self.numbers)
        self.numbers.extend(distinct.tolist())
        return np.asarray(-1 - first - which.reshape(given.shape), dtype=np.int64)

    def put(self, site: Site, labels: Indices, part: str = "") -> Value:
        """The value whose entries have these labels, at least one of them computed."""
        used = [
            value
            for value, first in zip(self.values, self._firsts(), strict=True)
            if ((labels >= first) & (labels < first + size(value.shape))).any()
        ]
        index, offset = np.full(labels.shape, -1, dtype=np.int64), 0
        for value, first in zip(self.values, self._firsts(), strict=True):
            if not any(value is other for other in used):
                continue
            inside = (labels >= first) & (labels < first + size(value.shape))
            index[inside] = labels[inside] - first + offset
            offset += size(value.shape)
        return gather(site, side_by_side(site, used, part), index, self.constants(labels), part)

    def constants(self, labels: Indices) -> Array:
        """The constants that labels stand for, zero where they stand for something else."""
        return np.array([0.0, *self.numbers])[np.where(labels < 0, -labels, 0)]

    def _firsts(self) -> list[int]:
        """The first label of every value."""
        sizes = [size(value.shape) for value in self.values]
        return [1 + sum(sizes[:k]) for k in range(len(sizes))]


def for_samples(labels: Indices, step: int, samples: int, axis: int) -> Indices:
    """The labels of so many samples along a batch axis, each sample's larger by `step` than the one's before."""
    shifts = step * np.arange(samples, dtype=np.int64).reshape(-1, *([1] * labels.ndim))
    return np.moveaxis(labels + shifts, 0, axis)


def one_sample(site: Site, moved: Indices, step: int, samples: int) -> tuple[Indices, int]:
    """The labels of one sample and the batch axis; refused unless every sample was treated alike and on its own."""
    for axis, length in enumerate(moved.shape):
        by_sample = np.moveaxis(moved, axis, 0)
        first = by_sample[0]
        shifts = step * np.arange(length).reshape(-1, *([1] * first.ndim))
        if length == samples and (first <= step).all() and (by_sample == first + shifts * (first > 0)).all():
            return np.array(first), axis
    return site.refuse(MIXES_THE_BATCH)


def rearranged(site: Site, x: Value, moved: Indices, samples: int, part: str = "") -> Value:
    """The value whose entries are those of x at the positions `moved`, those of all samples one after the other."""
    labels, axis = one_sample(site, moved + 1, size(x.shape), samples)
    return replace(compose.rearrange(site, x, labels - 1, part), batch_axis=axis)


def side_by_side(site: Site, values: Sequence[Value], part: str = "") -> Value:
    """All entries of several values as one vector, or a single value as it is."""
    inner = [replace(value, batch_axis=0) for value in values]
    if len(inner) == 1:
        return inner[0]
    name = f"{part}.flat" if part else "flat"
    flat = [compose.reshape(site, value, (size(value.shape),), part=name) for value in inner]
    return site.emit(Concat(0), *flat, part=f"{part}.all" if part else "all")


def gather(site: Site, x: Value, index: Indices, fill: float | Array = 0.0, part: str = "") -> Value:
    """Entries of the flattened x by index; a negative one stands for the number in `fill`."""
    from scipy import sparse

    absent = index < 0
    if not absent.any():
        return compose.rearrange(site, x, index, part)
    rows = np.flatnonzero(~absent.ravel())
    matrix = sparse.csr_array((np.ones(len(rows)), (rows, index.ravel()[rows])), shape=(index.size, size(x.shape)))
    numbers = np.where(absent, fill, 0.0)
    if not numbers.any():
        return combine(site, x, matrix, index.shape, part)
    placed = combine(site, x, matrix, index.shape, f"{part}.placed" if part else "placed")
    return site.emit(Shift(constant(numbers)), placed, part=part)


def add_at(site: Site, x: Value | Constant, source: Value, pairs: Indices, shape: Shape, factor: float = 1.0) -> Value:
    """x with entries of `source` added: each row of `pairs` is a place in x and the entry that is added there."""
    from scipy import sparse

    matrix = sparse.csr_array(
        (np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size(shape), size(source.shape))
    )
    matrix.sum_duplicates()
    alone = not isinstance(x, Value) and not x.any()
    added = combine(site, source, matrix, shape, part="" if alone and factor == 1 else "added")
    if factor != 1:
        # Multiplied at the end: several times a factor may be no float.
        added = compose.scale(site, added, np.array(float(factor)), part="" if alone else "scaled")
    return added if alone else compose.add(site, x, added)
