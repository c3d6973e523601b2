"""The proof in floats that a cell of an atlas on a box of many dimensions is right; see docs/adr/0058.

Sides of the box are no rows here: a bound of a form over the box is a sum over coordinates. Points and multipliers come
from wherever they come; what they prove is computed with all rounding accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import DOMAIN_BOUNDARY, Atlas
from polyfold.engine.bounds.bounded_domain import limits_of, sides_of
from polyfold.engine.cells.validity import Walls
from polyfold.engine.proof.box_programs import BoxPrograms
from polyfold.exact.rational import rational_matrix
from polyfold.exact.rounding import TINY, relative
from polyfold.exact.tolerances import MARGINS_IN_BOX, SHARES_BACK
from polyfold.program.passes.bounded_layers import halves
from polyfold.program.passes.rationals import RationalProgram

# In fewer dimensions cells have few enough corners for the core's proof.
_MANY = 16


@dataclass(frozen=True, eq=False)
class _Forms:
    """Rows a . u + b that are not negative on the cell, up to a and b being off by this much; and their gates."""

    a: Array
    b: Array
    a_error: Array
    b_error: Array
    gate: Ids

    def take(self, index: Ids | Flags) -> _Forms:
        return _Forms(self.a[index], self.b[index], self.a_error[index], self.b_error[index], self.gate[index])


class BoxProof:
    """Proves cells of one atlas on a box, one at a time."""

    def __init__(self, atlas: Atlas, limits: tuple[Array, Array], sides: Ids) -> None:
        self._atlas, self._walls = atlas, Walls(atlas.program, atlas.domain)
        self._low, self._high = limits
        self._centre, self._half = halves(*limits)
        self._reach = np.maximum(np.abs(self._low), np.abs(self._high))
        # The side of the box that each row of the domain is: 2 k below, 2 k + 1 above.
        self._side = sides

    @cached_property
    def _always_zero(self) -> Flags:
        """Gates without any coefficient."""
        zero = [np.zeros(0, dtype=bool)]
        for stage in self._atlas.program.stages:
            zero.append(stage.affine.bias == 0)
            for block in stage.affine.blocks:
                zero[-1] &= ~block.weight.any(axis=1)
        return np.concatenate(zero)

    @np.errstate(all="ignore")
    def proves(self, cell: int) -> bool:
        """Whether floats prove the cell, its facets, and what lies behind them."""
        atlas, facets = self._atlas, np.arange(*self._atlas.facet_start[[cell, cell + 1]])
        walls, behind = (array[facets].astype(np.int64) for array in (atlas.facet_wall, atlas.neighbour))
        outside = walls >= atlas.gates
        if not atlas.bounded[cell] or np.isin(facets, atlas.shared_facet).any() or cell in atlas.exact_witnesses:
            return False
        if len(np.unique(walls)) < len(walls) or not (behind[outside] == DOMAIN_BOUNDARY).all():
            return False
        if not self._leads_on(cell, walls[~outside], behind[~outside]):
            return False
        varying = self._varying(cell)
        witness = atlas.witnesses[cell]
        if varying is None or not ((self._low < witness) & (witness < self._high)).all():
            return False
        if not (self._least(varying, witness) > 0).all():
            return False
        listed = np.isin(varying.gate, walls)
        if listed.sum() < (~outside).sum():
            return False
        rows = varying.take(listed)
        programs = BoxPrograms(rows.a, rows.b, self._centre, self._half)
        sides = self._side[walls[outside] - atlas.gates]
        return (
            self._others_stay_away(varying.take(~listed), rows, programs)
            and self._other_sides_stay_away(sides, rows, programs)
            and self._all_facets(cell, rows, sides, programs)
        )

    def _leads_on(self, cell: int, gates: Ids, behind: Ids) -> bool:
        """Whether the cells listed behind gates differ from this one by these gates alone."""
        if not ((behind >= 0) & (behind < len(self._atlas))).all():
            return False
        differ = self._atlas.signs(behind) != self._atlas.signs([cell])
        return bool((differ.sum(axis=1) == 1).all() and differ[np.arange(len(gates)), gates].all())

    def _varying(self, cell: int) -> _Forms | None:
        """The forms of all gates, without those that are zero everywhere, which have to be off.

        None if one is on, or one vanishes on this cell that might not do so behind a facet.
        """
        signs = self._atlas.signs([cell])[0]
        (a, b), (a_error, b_error) = self._walls.forms(signs)
        side = np.where(signs, 1.0, -1.0)
        vanishing = ~a.any(axis=1) & ~a_error.any(axis=1) & (b == 0) & (b_error == 0)
        if (vanishing & (signs | ~self._always_zero)).any():
            return None
        every = _Forms(side[:, None] * a, side * b, a_error, b_error, np.arange(len(signs)))
        return every.take(np.flatnonzero(~vanishing))

    def _least(self, forms: _Forms, point: Array) -> Array:
        """Lower bounds on forms at a point."""
        size = np.abs(point)
        doubt = forms.a_error @ size + forms.b_error
        doubt = doubt + relative(len(point) + 8) * (np.abs(forms.a) @ size + np.abs(forms.b) + doubt)
        least: Array = forms.a @ point + forms.b - doubt * (1 + relative(8)) - TINY
        return least

    def _least_in_box(self, form: _Forms, rows: _Forms, multipliers: Array) -> Array:
        """Lower bounds on forms wherever rows are not negative in the box, by multipliers (forms, rows) >= 0."""
        rest, constant = form.a - multipliers @ rows.a, form.b - multipliers @ rows.b
        size = np.abs(form.a) + multipliers @ np.abs(rows.a)
        errors = (form.a_error + multipliers @ rows.a_error) @ self._reach + form.b_error + multipliers @ rows.b_error
        sizes = size @ self._reach + np.abs(form.b) + multipliers @ np.abs(rows.b)
        doubt = errors + relative(2 * len(self._low) + 2 * len(rows.b) + 32) * (sizes + errors)
        # A product that underflows loses less than that, times what multipliers and coordinates it meets.
        tiny = TINY * (1 + self._reach.sum()) * (1 + multipliers.sum(axis=1))
        least: Array = rest @ self._centre - np.abs(rest) @ self._half + constant - doubt * (1 + relative(64)) - tiny
        return least

    def _others_stay_away(self, others: _Forms, rows: _Forms, programs: BoxPrograms) -> bool:
        """Whether gates that are not listed are positive all over the closed cell: most by the box alone."""
        none = np.zeros((len(others.b), len(rows.b)))
        left = others.take(np.flatnonzero(~(self._least_in_box(others, rows, none) > 0)))
        return all(self._stays_away(left.take(np.array([i])), rows, programs) for i in range(len(left.b)))

    def _stays_away(self, form: _Forms, rows: _Forms, programs: BoxPrograms) -> bool:
        found = programs.least(form.a[0])
        return found is not None and bool(self._least_in_box(form, rows, found.multipliers[None])[0] > 0)

    def _other_sides_stay_away(self, listed: Ids, rows: _Forms, programs: BoxPrograms) -> bool:
        sides = np.setdiff1d(np.arange(2 * len(self._low)), listed)
        return all(self._stays_away(self._side_form(int(side)), rows, programs) for side in sides)

    def _side_form(self, side: int) -> _Forms:
        a = np.zeros((1, len(self._low)))
        a[0, side // 2] = -1.0 if side % 2 else 1.0
        b = np.array([self._high[side // 2] if side % 2 else -self._low[side // 2]])
        return _Forms(a, b, np.zeros_like(a), np.zeros(1), np.array([-1]))

    def _all_facets(self, cell: int, rows: _Forms, sides: Ids, programs: BoxPrograms) -> bool:
        """Whether every listed wall has a point of the cell's closure on it where no other listed wall is."""
        witness = self._atlas.witnesses[cell]
        middles = (programs.middle(margin) for margin in MARGINS_IN_BOX)
        middle = next((point for point in middles if point is not None and self._is_inside(rows, point)), witness)
        open_ = sides[~self._sides_met(rows, sides, middle)]
        open_ = open_[~self._sides_met(rows, open_, witness)]
        return all(self._is_side_met(cell, rows, int(side), programs) for side in open_) and all(
            self._is_facet(rows, row, middle, programs) for row in range(len(rows.b))
        )

    def _is_inside(self, rows: _Forms, point: Array) -> bool:
        inside = ((self._low < point) & (point < self._high)).all()
        return bool(inside and (self._least(rows, point) > 0).all())

    def _sides_met(self, rows: _Forms, sides: Ids, point: Array) -> Flags:
        """Whether from a point inside one comes straight to each side, and still within all rows."""
        axis = sides // 2
        ends = np.where(sides % 2 == 1, self._high[axis], self._low[axis])
        step = np.abs(ends - point[axis]) * (1 + relative(4))
        # What a row falls on the way, if it falls.
        towards = np.where(sides % 2 == 1, -1.0, 1.0) * rows.a[:, axis]
        fall = np.maximum(towards, 0.0) * step + rows.a_error[:, axis] * step
        room = self._least(rows, point)[:, None]
        met: Flags = np.asarray((room > fall * (1 + relative(8)) + TINY).all(axis=0))
        return met

    def _is_side_met(self, cell: int, rows: _Forms, side: int, programs: BoxPrograms) -> bool:
        """Whether there is a point on a side that is inside of all rows and all other sides."""
        axis, doubtful = side // 2, []
        for margin in MARGINS_IN_BOX:
            point = programs.middle(margin, side)
            if point is None:
                continue
            point[axis] = self._high[axis] if side % 2 else self._low[axis]
            inside = (self._low < point) & (point < self._high)
            inside[axis] = True
            if not inside.all():
                continue
            if (self._least(rows, point) > 0).all():
                return True
            doubtful.append(point)
        return any(self._is_in_cell_exactly(cell, rows, point) for point in doubtful)

    def _is_in_cell_exactly(self, cell: int, rows: _Forms, point: Array) -> bool:
        """Whether all gates are as in the cell at a point of the box, listed ones strictly; without rounding."""
        tick()
        passed = self._rationals.forward(rational_matrix(point[:, None]))
        strictly = all(passed.preactivations[gate][0] != 0 for gate in rows.gate.tolist())
        return strictly and passed.pattern == tuple(self._atlas.signs([cell])[0].tolist())

    @cached_property
    def _rationals(self) -> RationalProgram:
        return RationalProgram(self._atlas.program)

    def _is_facet(self, rows: _Forms, row: int, middle: Array, programs: BoxPrograms) -> bool:
        """Whether there is a point beyond a row, and inside of all others."""
        found = programs.least(rows.a[row], without=row)
        if found is None:
            return False
        there, here = (rows.a[row] @ point + rows.b[row] for point in (found.point, middle))
        others = rows.take(np.arange(len(rows.b)) != row)
        beyond = rows.take(np.array([row]))
        beyond = _Forms(-beyond.a, -beyond.b, beyond.a_error, beyond.b_error, beyond.gate)
        if not there < 0 < here:
            return False
        for share in SHARES_BACK:
            point = found.point + share * (there / (there - here)) * (middle - found.point)
            if self._is_inside(others, point) and self._least(beyond, point)[0] > 0:
                return True
        return False


def box_proof(atlas: Atlas) -> BoxProof | None:
    """The proof for an atlas on a box of many dimensions, whose rows are its sides, each once; else None."""
    domain = atlas.domain
    if domain.dim < _MANY or domain.is_slice or domain.rows != 2 * domain.dim:
        return None
    limits, sides = limits_of(domain), sides_of(domain)
    if limits is None or sides is None or not (np.isfinite(limits[0]) & np.isfinite(limits[1])).all():
        return None
    return BoxProof(atlas, limits, sides)
