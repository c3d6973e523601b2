"""A line or plane before any gate: its one cell, the whole domain, with exact ends or corners."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat

from polyfold import core
from polyfold.atlas.domain import Domain
from polyfold.atlas.location import exact_lift
from polyfold.atlas.problem import core_problem
from polyfold.engine.slice_batch import Batch, Cells
from polyfold.errors import LimitError
from polyfold.exact.rational import rational, rational_matrix
from polyfold.exact.scaled import Scaled, rounded
from polyfold.program.affine import WrittenOut
from polyfold.program.program import Program

Array = npt.NDArray[np.float64]


def first_batch(domain: Domain, gates: int) -> Batch:
    """The domain as a batch that has passed no stage of a program with so many gates."""
    walls, corners = _outline(domain)
    points = _corner_points(domain, walls, corners)
    U = np.array([[int(x.p) / int(x.q) for x in point] for point in points])
    reach = np.abs(U).max(axis=0)
    X = np.array(np.broadcast_to(domain.lift(U), (len(U), domain.input_dim)), order="C")
    size = np.abs(domain.origin) + np.abs(domain.basis) @ reach
    cells = Cells(
        start=np.array([0, len(U)]),
        vertex=np.arange(len(U)),
        wall=np.array([gates + rows[0] for rows in walls], dtype=np.int32),
        extra_facet=np.repeat(np.arange(len(walls)), [len(rows) - 1 for rows in walls]),
        extra_wall=np.array([gates + row for rows in walls for row in rows[1:]], dtype=np.int32),
    )
    # A rounding for the parameter itself, and those of the lift.
    inputs = rounded(X, size, domain.dim + 6)
    sources = {0: replace(inputs, clean=_clean(domain, points, inputs))}
    names = np.arange(1, len(U) + 1, dtype=np.uint64)
    return Batch(0, cells, names, rounded(U, reach, 1), sources, ())


def _clean(domain: Domain, points: list[tuple[fmpq, ...]], inputs: Scaled) -> npt.NDArray[np.bool_]:
    """Inputs that keep their sign all over the domain, so that they are 0 between two corners only if they are at both.

    Values that are in fact 0 at corners, such as the black pixels of a picture, become so.
    """
    clear = np.abs(inputs.values) > inputs.errors[:, None] * inputs.scale
    clean = np.ones(len(inputs.scale), dtype=bool)
    for corner, entry in np.argwhere(~clear).tolist():
        exact = rational(float(domain.origin[entry]))
        for slope, u in zip(domain.basis[entry].tolist(), points[corner], strict=True):
            exact += rational(slope) * u
        inputs.values[corner, entry] = 0.0 if exact == 0 else inputs.values[corner, entry]
        clean[entry] &= exact == 0
    return clean & ((inputs.values >= 0).all(axis=0) | (inputs.values <= 0).all(axis=0))


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
    traced = core.trace(nothing, np.zeros((1, 0), dtype=np.uint8))
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
    rows = [_exact_row(domain, each[0]) for each in walls]
    points = []
    for facets in corners:
        left = fmpq_mat(domain.dim, domain.dim, [x for facet in facets for x in rows[facet][:-1]])
        right = fmpq_mat(domain.dim, 1, [rows[facet][-1] for facet in facets])
        points.append(tuple(x for (x,) in left.solve(right).tolist()))
    return points


def _exact_row(domain: Domain, row: int) -> list[fmpq]:
    """(a, b) of the row a . u <= b over the parameters."""
    inputs = len(domain.input_rows)
    if row >= inputs:
        numbers = [*domain.parameter_rows[row - inputs].tolist(), float(domain.parameter_offsets[row - inputs])]
        return [rational(x) for x in numbers]
    frame = fmpq_mat(domain.dim, domain.dim + 1)
    for k in range(domain.dim):
        frame[k, k + 1] = fmpq(1)
    (over,) = (rational_matrix(domain.input_rows[row : row + 1]) * exact_lift(domain, frame)).tolist()
    return [*over[1:], rational(float(domain.input_offsets[row])) - over[0]]
