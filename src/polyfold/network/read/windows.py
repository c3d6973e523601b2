"""Convolutions, pools and padding, as torch's and ONNX's importers share them.

Values are (channels, *space). A convolution stays its kernel; a pool becomes a table of the entries that each window
holds, an average the sparse matrix of that table. Padded places of a pool are absent from these tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.errors import ShapeError
from polyfold.exact.error_free import quotients_are_exact
from polyfold.network.ops import unrounded
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.op import Shape, size
from polyfold.network.ops.spatial import divided_rows
from polyfold.network.ops.switches import Largest
from polyfold.network.read.builder import Constant, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import placing
from polyfold.network.read.compose.combining import combine, repeated

if TYPE_CHECKING:
    from scipy import sparse

Indices = npt.NDArray[np.int64]
ABSENT = -1


def convolution(site: Site, x: Value, kernel: Constant, bias: Constant | None, window: Window) -> Value:
    """A convolution of the spatial axes."""
    offset = np.zeros(len(kernel)) if bias is None else bias
    return site.emit(unrounded.convolution(kernel, offset, window), x)


def transposed_convolution(
    site: Site, x: Value, kernel: Constant, bias: Constant | None, window: Window, more: Sequence[int]
) -> Value:
    """A transposed convolution; `more` is how far the output goes beyond the last window on each axis."""
    offset = np.zeros(kernel.shape[1] * window.groups) if bias is None else bias
    # Going further takes back what padding cuts off, and only then reaches places that no window fills.
    padding = tuple((before, max(0, after - m)) for (before, after), m in zip(window.padding, more, strict=True))
    beyond = [max(0, m - after) for (_, after), m in zip(window.padding, more, strict=True)]
    window = replace(window, padding=padding)
    reached = [
        s * (n - 1) + d * (k - 1) + 1 - before - after
        for n, k, s, (before, after), d in zip(
            x.shape[1:], kernel.shape[2:], window.stride, padding, window.dilation, strict=True
        )
    ]
    if min(reached) <= 0:
        site.refuse(f"its windows reach only {tuple(reached)} places of its output")
    if all(extra < s for extra, s in zip(beyond, window.stride, strict=True)):
        space = tuple(n + extra for n, extra in zip(reached, beyond, strict=True))
        return site.emit(unrounded.transposed_convolution(kernel, offset, window, space), x)
    # An output that is larger by a whole stride would have more windows: the rest, just bias, is put around it.
    nothing = np.zeros(len(offset))
    inner = site.emit(unrounded.transposed_convolution(kernel, nothing, window, tuple(reached)), x, part="windows")
    wide = pad(site, inner, [(0, 0), *((0, extra) for extra in beyond)], "constant", 0.0, part="wide")
    return site.emit(unrounded.shift(offset.reshape(-1, *([1] * len(reached)))), wide)


@dataclass(frozen=True)
class Pool:
    """How a pool's windows lie on the spatial axes; one entry an axis, `padding` as (before, after)."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    ceil: bool = False

    def entries(self, space: Shape) -> list[Indices]:
        """For every axis the coordinates in each window, (places, window); they may lie outside of the value."""
        if len(space) != len(self.kernel):
            raise ShapeError(f"a pool of {self.kernel} was given a value with the spatial axes {space}")
        return [self._axis(axis, n) for axis, n in enumerate(space)]

    def _axis(self, axis: int, n: int) -> Indices:
        (before, after), step = self.padding[axis], self.stride[axis]
        reach = self.dilation[axis] * (self.kernel[axis] - 1)
        room = n + before + after - reach - 1
        places = (-(-room // step) if self.ceil else room // step) + 1
        # The last window must begin in the value or in front of it, not behind it.
        if self.ceil and (places - 1) * step >= n + before:
            places -= 1
        if places <= 0:
            raise ShapeError(f"a pool of {self.kernel} does not fit {n} places with padding {self.padding[axis]}")
        starts = step * np.arange(places, dtype=np.int64) - before
        return starts[:, None] + self.dilation[axis] * np.arange(self.kernel[axis], dtype=np.int64)


def adaptive_entries(space: Shape, places: Sequence[int]) -> list[Indices]:
    """The coordinates that each place of an adaptive pool covers; shorter windows end with absent ones."""
    tables = []
    for n, count in zip(space, places, strict=True):
        where = np.arange(count, dtype=np.int64)
        starts, stops = where * n // count, -(-(where + 1) * n // count)
        table = starts[:, None] + np.arange(int((stops - starts).max()), dtype=np.int64)
        tables.append(np.where(table < stops[:, None], table, ABSENT))
    return tables


def present(entries: Sequence[Indices], space: Shape) -> list[Indices]:
    """Coordinates with those outside of the value marked as absent."""
    return [np.where((t >= 0) & (t < n), t, ABSENT) for t, n in zip(entries, space, strict=True)]


def column_places(channels: int, space: Shape, pool: Pool) -> Indices:
    """Which entry of a value each entry of its columns comes from, (channels * window, places); padding is absent."""
    tables = present(pool.entries(space), space)
    axes = len(tables)
    where: Indices = np.arange(channels, dtype=np.int64).reshape(-1, *([1] * (2 * axes)))
    absent: npt.NDArray[np.bool_] = np.zeros((1,) * (2 * axes + 1), dtype=np.bool_)
    for axis, (table, n) in enumerate(zip(tables, space, strict=True)):
        shape = [1] * (2 * axes + 1)
        shape[1 + axis], shape[1 + axes + axis] = table.T.shape
        where = where * n + table.T.reshape(shape)
        absent = absent | (table.T == ABSENT).reshape(shape)
    return np.where(absent, ABSENT, where).reshape(channels * size(pool.kernel), -1)


def fold_columns(site: Site, x: Value, space: Shape, pool: Pool) -> Value:
    """Columns (channels * window, places) added up where they come from: (channels, *space)."""
    channels = x.shape[0] // size(pool.kernel)
    places = column_places(channels, space, pool)
    if places.shape != x.shape:
        site.refuse(f"its windows make columns of shape {places.shape}, but its input is {x.shape}")
    entries = np.flatnonzero(places.ravel() != ABSENT)
    pairs = np.stack([places.ravel()[entries], entries], axis=1)
    return placing.add_at(site, np.zeros(()), x, pairs, (channels, *space))


def largest_in_windows(site: Site, x: Value, entries: Sequence[Indices]) -> Value:
    """The largest present entry of every window, channel by channel."""
    return largest(site, x, members_of_windows(x.shape, entries))


def members_of_windows(shape: Shape, entries: Sequence[Indices]) -> Indices:
    """Which entries of a value each window holds, channel by channel: (channels, *places, window)."""
    channels, *space = shape
    one = _members(present(entries, tuple(space)), tuple(space))
    first = size(tuple(space)) * np.arange(channels, dtype=np.int64).reshape(-1, *([1] * one.ndim))
    return np.where(one == ABSENT, ABSENT, one + first)


def largest(site: Site, x: Value, members: Indices) -> Value:
    """The largest of the entries in each row of a table."""
    members.setflags(write=False)
    return site.emit(Largest(members), x)


def _members(tables: Sequence[Indices], space: Shape) -> Indices:
    """Per-axis coordinates as one table of flat positions, (*places, window), absent ones last."""
    axes = len(tables)
    where: Indices = np.zeros((1,) * (2 * axes), dtype=np.int64)
    absent: npt.NDArray[np.bool_] = np.zeros((1,) * (2 * axes), dtype=np.bool_)
    for axis, (table, n) in enumerate(zip(tables, space, strict=True)):
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = table.shape
        where = where * n + table.reshape(shape)
        absent = absent | (table == ABSENT).reshape(shape)
    # Absent ones are larger than all others while sorting, so that the present ones keep their order in front.
    marked = np.where(absent, size(space), where).reshape(*(len(table) for table in tables), -1)
    if absent.any():
        marked = np.sort(marked, axis=-1)
        most = int((marked < size(space)).sum(axis=-1).max())
        marked = marked[..., : max(1, most)]
    return np.where(marked == size(space), ABSENT, marked)


def average_pool(site: Site, x: Value, pool: Pool, *, counts_padding: bool, divisor: float | None = None) -> Value:
    """The average of every window of a pool, by the number of its entries, those in the padding maybe counted too."""
    space = x.shape[1:]
    counted = counted_with_padding(pool, space) if counts_padding else None
    return average_of_windows(site, x, pool.entries(space), counted=counted, divisor=divisor)


def average_of_windows(
    site: Site,
    x: Value,
    entries: Sequence[Indices],
    *,
    counted: Sequence[Indices] | None = None,
    divisor: float | None = None,
) -> Value:
    """The average of every window. It is divided by how many entries were `counted` on each axis, or by a number."""
    space = x.shape[1:]
    inside = present(entries, space)
    sums = [_selection(table, n) for table, n in zip(inside, space, strict=True)]
    if divisor is not None:
        return per_axis(site, x, sums, np.array(float(divisor)))
    counts = [(table != ABSENT).sum(axis=1) for table in (counted or inside)]
    if any((count == 0).any() for count in counts):
        site.refuse("one of its windows holds nothing but padding")
    return per_axis(site, x, sums, reduce(np.multiply.outer, counts).ravel().astype(np.float64))


def counted_with_padding(pool: Pool, space: Shape) -> list[Indices]:
    """The coordinates of each window that lie in the value or its padding, the others marked as absent."""
    tables = []
    for table, n, (before, after) in zip(pool.entries(space), space, pool.padding, strict=True):
        # Shifted by the padding, because coordinates in front of the value would look absent.
        tables.append(np.where(table < n + after, table + before, ABSENT))
    return tables


def _selection(table: Indices, n: int) -> sparse.csr_array:
    """The matrix (places, n) that adds up the entries of each window."""
    from scipy import sparse

    place, slot = np.nonzero(table != ABSENT)
    return sparse.csr_array((np.ones(len(place)), (place, table[place, slot])), shape=(len(table), n))


def per_axis(
    site: Site, x: Value, matrices: Sequence[sparse.csr_array], divisors: Array | None = None, part: str = ""
) -> Value:
    """A matrix (new, old) applied to every spatial axis; then each place is divided by its divisor."""
    from scipy import sparse

    one = sparse.csr_array(reduce(sparse.kron, matrices))
    one.sort_indices()
    shape = (x.shape[0], *(matrix.shape[0] for matrix in matrices))
    each = None
    if divisors is not None:
        rows = np.array(np.broadcast_to(divisors, one.shape[0]))
        if quotients_are_exact(one.data, np.repeat(rows, np.diff(one.indptr))):
            # Halves and quarters are floats: then the quotients are the network's numbers.
            one = divided_rows(one, rows)
        else:
            each = np.tile(rows, x.shape[0])
    return combine(site, x, repeated(one, x.shape[0]), shape, part, each)


def pad(
    site: Site, x: Value, amounts: Sequence[tuple[int, int]], mode: str, fill: float = 0.0, part: str = ""
) -> Value:
    """Entries added around (or, where negative, taken from) every axis of x.

    `mode` is NumPy's: "constant", "reflect", "edge" or "wrap".
    """
    kept = tuple(
        slice(max(0, -before), n - max(0, -after)) for n, (before, after) in zip(x.shape, amounts, strict=True)
    )
    inner = compose.positions(x.shape)[kept]
    if 0 in inner.shape:
        site.refuse(f"it leaves nothing of a value of shape {x.shape}")
    widths = [(max(0, before), max(0, after)) for before, after in amounts]
    options = {"constant_values": ABSENT} if mode == "constant" else {}
    index: Indices = np.pad(inner, widths, mode, **options)  # type: ignore[call-overload]
    return placing.gather(site, x, index, fill, part)
