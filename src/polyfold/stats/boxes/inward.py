"""Boxes, cubes and balls drawn in until they are proved to lie in their polytopes.

What lies inside is proved from the polytopes' inequalities with bounds on their errors, and where these are too coarse
from the exact ones. What cannot be proved is NaN.
"""

from __future__ import annotations

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.facet_rows import ExactRows, Rows
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rounding import TINY, relative
from polyfold.exact.tolerances import DRAWN_IN


def inside_boxes(atlas: Atlas, facets: Ids, rows: Rows, centres: Array, halves: Array) -> tuple[Array, Array]:
    """(lo, hi) of boxes with these centres that are proved to lie in the polytopes of the rows; row r is facet r of
    `facets`."""
    lo, hi = _drawn_in(rows, centres, halves)
    left = np.flatnonzero(~_proved(rows, lo, hi))
    exact = ExactRows(atlas) if len(left) and ExactRows.reach(atlas) else None
    for item in left:
        tick()
        here = facets[rows.start[item] : rows.start[item + 1]]
        found = None
        if exact is not None and np.isfinite([centres[item], halves[item]]).all():
            found = _exactly(*exact.inequalities(here), centres[item], halves[item])
        lo[item], hi[item] = (np.nan, np.nan) if found is None else found
    return lo, hi


@np.errstate(all="ignore")
def _drawn_in(rows: Rows, centres: Array, halves: Array) -> tuple[Array, Array]:
    """Boxes with the same centres that just fit, as far as floats can tell: a little larger or smaller."""
    owner = rows.owner
    slack = rows.b - np.einsum("rd,rd->r", rows.A, centres[owner]) - _doubt(rows, np.abs(centres) + halves)
    share = np.full(len(rows), np.inf)
    np.minimum.at(share, owner, slack / np.einsum("rd,rd->r", np.abs(rows.A), halves[owner]))
    halves = halves * np.where(np.isfinite(share), share * (1 - DRAWN_IN), 1.0)[:, None]
    return centres - halves, centres + halves


def _doubt(rows: Rows, reach: Array) -> Array:
    """How far a . u - b can be wrong for |u| <= reach, the roundings of adding it up included."""
    reach = reach[rows.owner]
    terms = np.einsum("rd,rd->r", np.abs(rows.A), reach) + np.abs(rows.b)
    error = np.einsum("rd,rd->r", rows.A_error, reach) + rows.b_error
    rounding = relative(2 * rows.A.shape[1] + 16)
    doubt: Array = (error + rounding * terms) * (1 + rounding) + TINY
    return doubt


@np.errstate(all="ignore")
def _proved(rows: Rows, lo: Array, hi: Array) -> Flags:
    """Whether boxes lie in their polytopes."""
    owner = rows.owner
    top = np.maximum(rows.A * lo[owner], rows.A * hi[owner]).sum(axis=1)
    holds = top + _doubt(rows, np.maximum(np.abs(lo), np.abs(hi))) <= rows.b
    proved: Flags = np.all(lo < hi, axis=1)
    np.logical_and.at(proved, owner, holds)
    return proved


def _exactly(A: list[list[fmpq]], b: list[fmpq], centre: Array, half: Array) -> tuple[Array, Array] | None:
    """The same for one box in rationals, or None if its centre lies outside."""
    c, h = ([rational(float(x)) for x in array] for array in (centre, half))
    share = fmpq(1)
    for row, bound in zip(A, b, strict=True):
        slack = bound - sum((a * x for a, x in zip(row, c, strict=True)), fmpq(0))
        needed = sum((abs(a) * x for a, x in zip(row, h, strict=True)), fmpq(0))
        if slack <= 0:
            return None
        share = min(share, slack / needed)
    lo = np.array([_rounded(x - share * y, x) for x, y in zip(c, h, strict=True)])
    hi = np.array([_rounded(x + share * y, x) for x, y in zip(c, h, strict=True)])
    return (lo, hi) if (lo < hi).all() else None


def _rounded(end: fmpq, towards: fmpq) -> float:
    """An end of a side as a float that lies no farther out."""
    value = as_float(end)
    if (rational(value) > end) if end > towards else (rational(value) < end):
        return float(np.nextafter(value, as_float(towards)))
    return value


@np.errstate(all="ignore")
def inside_radii(rows: Rows, centres: Array, radii: Array, *, cubes: bool = False) -> Array:
    """Radii of balls (or cubes) with these centres that are proved to lie in the polytopes; NaN where none is."""
    norms = np.linalg.norm(rows.A, ord=1 if cubes else 2, axis=1)
    # A ball's reach is not larger than that of the cube around it.
    reach = np.abs(centres) + np.where(np.isfinite(radii), radii, 0.0)[:, None]
    slack = rows.b - np.einsum("rd,rd->r", rows.A, centres[rows.owner]) - _doubt(rows, reach)
    most = np.full(len(radii), np.inf)
    np.minimum.at(most, rows.owner, slack / norms)
    proved = np.minimum(most * (1 - DRAWN_IN), radii)
    return np.where(np.isinf(radii), radii, np.where(proved > 0, proved, np.nan))
