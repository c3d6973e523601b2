"""What is computed along axes of a value: maxima, norms, running sums and maxima."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyfold.network.read import windows
from polyfold.network.read.builder import Site, Value
from polyfold.network.read.compose import ops as compose


def largest_over_axes(site: Site, x: Value, axes: Sequence[int], *, keepdims: bool) -> Value:
    """The maximum over some axes."""
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    index = np.moveaxis(compose.positions(x.shape), kept, range(len(kept)))
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape) if keepdims or axis not in axes)
    return windows.largest(site, x, np.array(index.reshape(*shape, -1)))


def smallest_over_axes(site: Site, x: Value, axes: Sequence[int], *, keepdims: bool) -> Value:
    """The minimum over some axes."""
    negative = compose.negate(site, x, part="negative")
    return compose.negate(site, largest_over_axes(site, negative, axes, keepdims=keepdims), part="minimum")


def norm(site: Site, x: Value, axes: Sequence[int], *, order: float, keepdims: bool) -> Value:
    """The sum, the largest or the smallest of absolute values: the norms that are piecewise linear."""
    if order not in (1, np.inf, -np.inf):
        site.refuse(f"the norm of order {order:g} is not piecewise linear; those of order 1 and infinity are")
    absolute = compose.rectify(site, x, np.array(1.0), np.array(-1.0))
    if order == 1:
        return compose.total(site, absolute, axes, keepdims=keepdims)
    return (largest_over_axes if order > 0 else smallest_over_axes)(site, absolute, axes, keepdims=keepdims)


def matrix_norm(site: Site, x: Value, order: float, rows: int, columns: int, *, keepdims: bool) -> Value:
    """The largest or smallest sum of absolute values in a column (order 1, -1) or in a row (infinity, -infinity)."""
    if order not in (1, -1, np.inf, -np.inf):
        site.refuse(f"the matrix norm of order {order:g} is not piecewise linear; those of order 1 and infinity are")
    along, across = (rows, columns) if abs(order) == 1 else (columns, rows)
    absolute = compose.rectify(site, x, np.array(1.0), np.array(-1.0))
    sums = compose.total(site, absolute, [along], keepdims=True)
    found = (largest_over_axes if order > 0 else smallest_over_axes)(site, sums, [across], keepdims=True)
    kept = tuple(n for axis, n in enumerate(found.shape) if keepdims or axis not in (rows, columns))
    return compose.reshape(site, found, kept, part="shape")


def running_sum(site: Site, x: Value, axis: int, *, exclusive: bool = False, backwards: bool = False) -> Value:
    """The sums of the first entries along an axis, of one, two, ...; or of the entries before (after) each one."""
    n = x.shape[axis]
    matrix = np.tri(n, k=-1 if exclusive else 0)
    turned = compose.rearrange(site, x, np.moveaxis(compose.positions(x.shape), axis, -1), part="turned")
    sums = compose.linear(site, turned, matrix.T if backwards else matrix)
    return compose.rearrange(site, sums, np.moveaxis(compose.positions(sums.shape), -1, axis), part="order")


def running_largest(site: Site, x: Value, axis: int) -> Value:
    """The largest of the first entries along an axis, of one, two, ...; the last of equal ones, like torch."""
    n = x.shape[axis]
    # Backwards, because the first of equal members wins.
    back = np.arange(n)[:, None] - np.arange(n)
    entries = np.moveaxis(compose.positions(x.shape), axis, -1)
    members = np.where(back >= 0, entries[..., back], windows.ABSENT)
    return windows.largest(site, x, np.array(np.moveaxis(members, -2, axis)))


def running_smallest(site: Site, x: Value, axis: int) -> Value:
    """The smallest of the first entries along an axis; the last of equal ones."""
    negative = compose.negate(site, x, part="negative")
    return compose.negate(site, running_largest(site, negative, axis), part="minimum")
