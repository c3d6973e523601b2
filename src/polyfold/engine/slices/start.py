"""A line or plane before any gate: its one cell, the whole domain, with exact ends or corners."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from flint import fmpq, fmpq_mat

from polyfold import _core as core
from polyfold._base.types import Array
from polyfold.atlas.core_problem import core_problem
from polyfold.domain.domain import Domain
from polyfold.engine.slices.batch import Batch, Cells
from polyfold.engine.slices.exact import domain_row, in_units
from polyfold.errors import LimitError
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rounding import TINY, relative
from polyfold.program.affine import WrittenOut
from polyfold.program.passes.bounded_jets import of_inputs
from polyfold.program.program import Program

# Powers of two that floats hold.
_LOWEST, _HIGHEST = -1022, 1023


def units(domain: Domain) -> Array:
    """Powers of two in which parameters are counted, so that they lie between -1 and 1."""
    walls, corners = _outline(domain)
    points = _corner_points(domain, walls, corners)
    reach = [max(abs(point[k]) for point in points) for k in range(domain.dim)]
    exponents = [_exponent(size) for size in reach]
    if max(exponents) > _HIGHEST:
        raise LimitError(
            f"the domain, {domain.describe()}, reaches beyond 2^{_HIGHEST}, where floats end: give it smaller bounds, "
            "or scale the directions of the slice"
        )
    return np.ldexp(1.0, np.maximum(exponents, _LOWEST))


def _exponent(size: fmpq) -> int:
    """The least e with size <= 2^e, or one more."""
    return int(size.p).bit_length() - int(size.q).bit_length() + 1


def first_batch(domain: Domain, unit: Array, inner: int) -> Batch:
    """The domain as a batch that has passed no stage of a program with so many walls within the domain."""
    walls, corners = _outline(domain)
    points = _corner_points(domain, walls, corners)
    forms = [domain_row(domain, rows[0]) for rows in walls]
    floats = np.array([[as_float(x * rational(u)) for x, u in zip(form, (1.0, *unit), strict=True)] for form in forms])
    cells = Cells(
        start=np.array([0, len(points)]),
        vertex=np.arange(len(points)),
        wall=np.array([inner + rows[0] for rows in walls], dtype=np.int32),
        form=floats,
        form_error=relative(2) * np.abs(floats).max(axis=1) + TINY,
        extra_facet=np.repeat(np.arange(len(walls)), [len(rows) - 1 for rows in walls]),
        extra_wall=np.array([inner + row for rows in walls for row in rows[1:]], dtype=np.int32),
    )
    return Batch(
        step=0,
        cells=cells,
        names=np.arange(1, len(points) + 1, dtype=np.uint64),
        points=np.array([in_units(point, unit) for point in points]),
        off=np.full(len(points), relative(2)),
        rows=np.zeros(1, dtype=np.int64),
        sources={0: of_inputs(domain.origin, domain.basis, unit)},
        decided=(),
    )


def _outline(domain: Domain) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """The rows on every facet in order, and the facets that meet at every end or corner: corner k begins side k."""
    nothing = core_problem(Program(domain.input_dim, (), WrittenOut((), np.zeros(0)), ()), domain)
    found = core.find_cells(nothing, False, 1, -1, lambda cells: True).put_together(lambda: True)
    if not found["bounded"].all():
        kind, how = (
            ("line", "ends, as in pf.line(a, b, extend=(-10, 10))")
            if domain.dim == 1
            else ("plane", "bounds, as in pf.plane(x0, d, e, pf.box(-10, 10))")
        )
        raise LimitError(
            f"the {kind}, {domain.describe()}, is unbounded, and a network of this size can only be unfolded on a "
            f"bounded one: give it {how}"
        )
    walls: list[tuple[int, ...]] = [(int(wall),) for wall in found["facet_wall"]]
    for facet, wall in zip(found["shared_facet"].tolist(), found["shared_wall"].tolist(), strict=True):
        walls[facet] += (int(wall),)
    if domain.dim == 1:
        return walls, [(0,), (1,)]
    traced = core.trace(nothing, np.zeros((1, 0), dtype=np.uint8), 1, lambda: True)
    ends = traced["facet_start"].tolist()
    meetings = [tuple(traced["facet"][a:b].tolist()) for a, b in pairwise(ends)]
    # Walk around: from a side over its other corner to the next side.
    order, corners = [meetings[0][1]], [meetings[0]]
    while len(corners) < len(meetings):
        corner = next(each for each in meetings if order[-1] in each and each not in corners)
        corners.append(corner)
        order.append(corner[0] if corner[1] == order[-1] else corner[1])
    return [walls[facet] for facet in order], [(order.index(a), order.index(b)) for a, b in corners]


def _corner_points(
    domain: Domain, walls: list[tuple[int, ...]], corners: list[tuple[int, ...]]
) -> list[tuple[fmpq, ...]]:
    rows = [domain_row(domain, each[0]) for each in walls]
    points = []
    for facets in corners:
        left = fmpq_mat(domain.dim, domain.dim, [x for facet in facets for x in rows[facet][1:]])
        right = fmpq_mat(domain.dim, 1, [-rows[facet][0] for facet in facets])
        points.append(tuple(x for (x,) in left.solve(right).tolist()))
    return points
