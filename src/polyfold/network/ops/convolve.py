"""Convolutions of batches in NumPy, in any number of spatial axes, and their transposes.

A value is (batch, channels, *space), a kernel (outputs, channels / groups, *window). All windows of the input are laid
out as the columns of a matrix, so the work is done by one matrix product; the batch is cut into parts so that this
matrix stays small.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.errors import ShapeError

Number = TypeVar("Number", bound=np.generic)

# Most floats in the matrix of windows of one part of a batch; and what of it stays in the processor's cache.
WINDOWS = 1 << 23
_CACHED_WINDOWS = 1 << 19

# Reading weights takes long if there are more than so many, and if fewer places of an image share each of them.
_MANY_WEIGHTS = 1 << 16
_FEW_PLACES = 256


@dataclass(frozen=True)
class Window:
    """How a kernel is moved over the spatial axes; one entry an axis, `padding` as (before, after)."""

    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int = 1

    def output_space(self, space: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[int, ...]:
        """How many places the kernel has on each axis."""
        places = []
        for n, k, s, (before, after), d in zip(space, kernel, self.stride, self.padding, self.dilation, strict=True):
            room = n + before + after - d * (k - 1) - 1
            if room < 0:
                raise ShapeError(
                    f"a window of {kernel} (dilation {self.dilation}) does not fit into {space} "
                    f"with padding {self.padding}"
                )
            places.append(room // s + 1)
        return tuple(places)


def convolve(x: Array, kernel: Array, window: Window) -> Array:
    """Every window of x, weighted with every kernel: (batch, outputs, *places)."""
    batch, channels, *space = x.shape
    outputs, inputs, *size = kernel.shape
    places = window.output_space(tuple(space), tuple(size))
    weights = kernel.reshape(window.groups, outputs // window.groups, -1)
    result = np.empty((batch, window.groups, outputs // window.groups, int(np.prod(places))))
    terms, count = inputs * int(np.prod(size)), int(np.prod(places))
    side_by_side = weights.size > _MANY_WEIGHTS and count < _FEW_PLACES
    for part in _parts(batch, channels, size, places, WINDOWS if side_by_side else _CACHED_WINDOWS):
        views = _windows(_padded(x[part], window), size, places, window)
        if side_by_side:  # the images share the weights, too
            together = np.moveaxis(views, 0, 1 + len(size)).reshape(window.groups, terms, len(views) * count)
            product = np.matmul(weights, together).reshape(window.groups, -1, len(views), count)
            result[part] = np.moveaxis(product, 2, 0)
            continue
        # (batch, channels, *size, *places) as one matrix a group.
        columns = views.reshape(len(views), window.groups, terms, count)
        np.matmul(weights, columns, out=result[part])
    return result.reshape(batch, outputs, *places)


def convolve_back(y: Array, kernel: Array, window: Window, space: tuple[int, ...]) -> Array:
    """The transpose: what each entry of an input of this space adds to y, summed up with the weights y."""
    batch, outputs, *places = y.shape
    _, inputs, *size = kernel.shape
    channels = inputs * window.groups
    weights = kernel.reshape(window.groups, outputs // window.groups, -1).transpose(0, 2, 1)
    rows = y.reshape(batch, window.groups, outputs // window.groups, int(np.prod(places)))
    padded_space = [n + before + after for n, (before, after) in zip(space, window.padding, strict=True)]
    result = np.zeros((batch, channels, *padded_space))
    for part in _parts(batch, channels, size, places, WINDOWS):
        columns = np.matmul(weights, rows[part]).reshape(-1, channels, *size, *places)
        for offset in product(*(range(k) for k in size)):
            target = tuple(
                slice(d * o, d * o + s * (n - 1) + 1, s)
                for o, d, s, n in zip(offset, window.dilation, window.stride, places, strict=True)
            )
            result[part][:, :, *target] += columns[:, :, *offset]
    inner = tuple(slice(before, before + n) for n, (before, _) in zip(space, window.padding, strict=True))
    return np.ascontiguousarray(result[:, :, *inner])


def entries_read(inputs: tuple[int, ...], size: tuple[int, ...], window: Window) -> npt.NDArray[np.int64]:
    """Which entry of a value (channels, *space) each term of a kernel reads at each place: (groups, terms, places).

    What lies in the padding has the number behind the last entry.
    """
    count = int(np.prod(inputs))
    numbers = np.arange(count).reshape(1, *inputs)
    padded = np.pad(numbers, ((0, 0), (0, 0), *window.padding), constant_values=count)
    places = window.output_space(inputs[1:], size)
    views = _windows(padded, list(size), places, window)
    return np.ascontiguousarray(views).reshape(window.groups, -1, int(np.prod(places)))


def _parts(
    batch: int, channels: int, size: list[int], places: tuple[int, ...] | list[int], windows: int
) -> list[slice]:
    step = max(1, windows // max(1, channels * int(np.prod(size)) * int(np.prod(places))))
    return [slice(start, min(start + step, batch)) for start in range(0, batch, step)]


def _padded(x: Array, window: Window) -> Array:
    if not any(before or after for before, after in window.padding):
        return x
    return np.pad(x, ((0, 0), (0, 0), *window.padding))


def _windows(x: npt.NDArray[Number], size: list[int], places: tuple[int, ...], window: Window) -> npt.NDArray[Number]:
    """A view (batch, channels, *size, *places) of all windows."""
    step = x.strides[2:]
    return np.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:2], *size, *places),
        (
            *x.strides[:2],
            *(n * d for n, d in zip(step, window.dilation, strict=True)),
            *(n * s for n, s in zip(step, window.stride, strict=True)),
        ),
        writeable=False,
    )
