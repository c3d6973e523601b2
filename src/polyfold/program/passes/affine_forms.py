"""Values over a box as affine forms: c + G e + rest, with unknown e between -1 and 1 and |rest| <= r.

The first columns of G stand for the box's parameters, the others for what a ReLU adds to the straight line that it is
replaced by. All roundings go into r, so the forms enclose the true values.

Apart from `walk.py`: what is walked are atoms that two programs share, level by level (`compare/equivalence`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold.exact.rounding import TINY, relative


@dataclass(frozen=True, eq=False)
class Forms:
    """One form a row."""

    c: Array
    G: Array
    r: Array

    @property
    def spread(self) -> Array:
        """How far the values can be from c."""
        columns = self.G.shape[1]
        reach: Array = np.abs(self.G).sum(axis=1) + self.r
        return np.asarray(reach * (1 + relative(columns + 8)) + relative(2) * np.abs(self.c) + TINY)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The least and the largest value of each form, or a little more."""
        return self.c - self.spread, self.c + self.spread

    def take(self, index: Ids) -> Forms:
        """Some of the forms."""
        return Forms(self.c[index], self.G[index], self.r[index])

    def widened(self, columns: int) -> Forms:
        """The same with so many columns in all."""
        more = np.zeros((len(self.G), columns - self.G.shape[1]))
        return Forms(self.c, np.concatenate([self.G, more], axis=1), self.r) if more.shape[1] else self


def combined(W: Array, forms: Forms) -> Forms:
    """Sums of multiples of forms. Coefficients that were rounded to floats, once, stand for the true ones."""
    used = np.flatnonzero(W.any(axis=0))
    if len(used) < W.shape[1]:
        W, forms = W[:, used], forms.take(used)
    size = np.abs(W)
    terms = relative(W.shape[1] + forms.G.shape[1] + 12)
    extent = np.abs(forms.c) + np.abs(forms.G).sum(axis=1) + forms.r
    rest = (size @ forms.r + terms * (size @ extent)) * (1 + terms) + TINY
    return Forms(W @ forms.c, W @ forms.G, rest)


def added(one: Forms, other: Forms) -> Forms:
    """Sums of forms, one by one."""
    columns = max(one.G.shape[1], other.G.shape[1])
    one, other = one.widened(columns), other.widened(columns)
    c, G = one.c + other.c, one.G + other.G
    rest = one.r + other.r + relative(4) * (np.abs(c) + np.abs(G).sum(axis=1))
    return Forms(c, G, rest * (1 + relative(columns + 8)) + TINY)


def scaled(factor: Array, forms: Forms) -> Forms:
    """Each form times its factor."""
    size = np.abs(factor)
    rest = size * forms.r + relative(4) * size * (np.abs(forms.c) + np.abs(forms.G).sum(axis=1))
    G = factor[:, None] * forms.G
    return Forms(factor * forms.c, G, rest * (1 + relative(G.shape[1] + 8)) + TINY)


def stacked(parts: list[Forms]) -> Forms:
    """Forms one below the other."""
    columns = max(part.G.shape[1] for part in parts)
    wide = [part.widened(columns) for part in parts]
    return Forms(
        np.concatenate([part.c for part in wide]),
        np.concatenate([part.G for part in wide]),
        np.concatenate([part.r for part in wide]),
    )


def rectified(z: Forms) -> Forms:
    """relu(z): exact where the sign is known, else a straight line and a column of its own for what it leaves."""
    low, high = z.bounds
    # Of NaN nothing is known, and what is made of it must not be either.
    bent = ~((low >= 0) | (high <= 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(bent, np.clip(high / (high - low), 0.0, 1.0), (low >= 0).astype(np.float64))
    # relu(z) - slope z is between 0 and its larger value at the two ends.
    over = np.where(bent, np.maximum(-slope * low, (1 - slope) * high) * (1 + relative(8)), 0.0)
    return _with_columns(
        scaled(slope, z), over / 2, over / 2, np.flatnonzero(bent), exact=~bent, original=z, on=low >= 0
    )


def between_zero_and(eta: Forms, straight: npt.NDArray[np.bool_], nothing: npt.NDArray[np.bool_]) -> Forms:
    """Values between 0 and eta: eta itself where `straight`, 0 where `nothing`."""
    low, high = eta.bounds
    open_ = ~straight & ~nothing
    half = np.where(open_, 0.5, straight.astype(np.float64))
    over = np.where(open_, np.maximum(np.abs(low), np.abs(high)) * 0.5 * (1 + relative(4)), 0.0)
    zero = np.zeros(len(over))
    return _with_columns(scaled(half, eta), zero, over, np.flatnonzero(open_), exact=~open_, original=eta, on=straight)


def _with_columns(
    line: Forms,
    shift: Array,
    over: Array,
    rows: Ids,
    *,
    exact: npt.NDArray[np.bool_],
    original: Forms,
    on: npt.NDArray[np.bool_],
) -> Forms:
    """The line, shifted, and for some rows a column of their own; what needs none is the original, or nothing."""
    columns = np.zeros((len(over), len(rows)))
    columns[rows, np.arange(len(rows))] = over[rows]
    keep = (exact & on)[:, None]
    G = np.where(keep, original.G, np.where(exact[:, None], 0.0, line.G))
    c = np.where(exact & on, original.c, np.where(exact, 0.0, line.c + shift))
    rest = np.where(exact & on, original.r, np.where(exact, 0.0, line.r + relative(4) * (np.abs(c) + over) + TINY))
    return Forms(c, np.concatenate([G, columns], axis=1), rest)
