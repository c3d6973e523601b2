"""Which cell a point lies in, proved: floats with error bounds first, rational arithmetic where they cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold import _core as core
from polyfold._base.apart import apart
from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids
from polyfold.atlas.core_problem import core_problem, stays_structured
from polyfold.atlas.patterns import order_by_gate, pack
from polyfold.domain.points import bounded_lift, contains, exact_lift, parameter_rows
from polyfold.errors import DomainError, PolyfoldError
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rational import rational_matrix
from polyfold.exact.rounding import relative
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.bounded_rows import (
    BoundedRows,
    Undecided,
    floats_a_row,
    on_parameters,
    patterns_at,
    pre_activations,
    rounded,
)
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.program import Program

if TYPE_CHECKING:
    from polyfold.atlas.atlas import Atlas
    from polyfold.domain.domain import Domain


# What a forward pass of many rows may hold: larger batches leave the processor's cache.
ROW_FLOATS = 1 << 21

# So many points are worth a table of all patterns; so many are looked up in one call, which cannot be asked to stop.
_MANY = 1 << 12
_IN_CORE = 1 << 18


def locate(atlas: Atlas, points: Any, outside: Literal["error", "ignore"] = "error") -> Ids:
    """See `Atlas.locate`."""
    if outside not in ("error", "ignore"):
        raise PolyfoldError(f"outside must be 'error' or 'ignore', got {outside!r}")
    U = parameter_rows(atlas.domain, points)
    ids = _by_core(atlas, U)
    left = np.flatnonzero(ids < 0)
    ids[left] = _looked_up(atlas, U, left, outside)
    return ids


def _by_core(atlas: Atlas, U: Array) -> Ids:
    """The cells that floats prove points to lie in, strictly; a negative number where they do not, or are not asked."""
    ids = np.full(len(U), -1, dtype=np.int64)
    program, domain = atlas.program, atlas.domain
    if len(U) < _MANY or not len(atlas) or stays_structured(program) or atlas.by_facets:
        return ids
    if program.exact_matrices is None:
        return ids
    problem, patterns = core_problem(program, domain), np.ascontiguousarray(atlas.patterns)
    U, threads = np.ascontiguousarray(U, dtype=np.float64), atlas.certificate.threads
    for first in range(0, len(U), _IN_CORE):
        part = slice(first, first + _IN_CORE)
        ids[part] = apart(partial(core.place_points, problem, patterns, U[part], threads))
    return ids


def _looked_up(atlas: Atlas, all_points: Array, left: Ids, outside: str) -> Ids:
    """The cells of the points `left`, decided exactly where floats cannot tell."""
    U = all_points[left]
    inside = np.concatenate([np.zeros(0, dtype=bool), *(_contained(atlas, U[part]) for part in _parts(atlas, U))])
    if outside == "error" and not inside.all():
        first = int(np.flatnonzero(~inside)[0])
        raise DomainError(
            f"point {left[first]}, {U[first].tolist()}, lies outside the domain; pass outside='ignore' to get -1"
        )
    ids = np.full(len(U), -1, dtype=np.int64)
    within = np.flatnonzero(inside)
    for rows in _parts(atlas, within):
        tick()
        part = within[rows]
        ids[part] = _cells_of(atlas, U[part])
    if outside == "error" and (ids < 0).any():
        first = int(np.flatnonzero(ids < 0)[0])
        raise DomainError(
            f"point {left[first]}, {U[first].tolist()}, lies in a part that this incomplete atlas does not cover; "
            "pass outside='ignore' to get -1"
        )
    return ids


def _parts(atlas: Atlas, rows: Sized) -> Iterator[slice]:
    """Rows by as many as a forward pass should hold at once."""
    step = max(1, ROW_FLOATS // (atlas.program.input_dim + floats_a_row(atlas.program) + atlas.gates))
    return (slice(first, first + step) for first in range(0, len(rows), step))


def _contained(atlas: Atlas, U: Array) -> npt.NDArray[np.bool_]:
    tick()
    return np.asarray(contains(atlas.domain, U))


def _cells_of(atlas: Atlas, U: Array) -> Ids:
    """The cells of points inside the domain, or -1 where the atlas has none."""
    with np.errstate(over="ignore", invalid="ignore"):
        passed = bounded_forward(atlas.program, bounded_lift(atlas.domain, U))
    proved = np.asarray(passed.certain.all(axis=1))
    found = np.where(proved, atlas.index.find(pack(atlas.as_listed(passed.pattern))), -1)
    unsure = np.flatnonzero(found < 0)
    if not len(unsure) or not len(atlas):
        return found
    exact = RationalProgram(atlas.program)
    for i in unsure:
        tick()
        if proved[i]:
            found[i] = _first_touching(atlas, passed.pattern[i], ~passed.zero[i])
        else:
            found[i] = _locate_exactly(atlas, exact, U[i])
    return found


def _first_touching(atlas: Atlas, pattern: npt.NDArray[np.bool_], strict: npt.NDArray[np.bool_]) -> int:
    """Of the cells that have these signs where they are strict, the first in the order of gates, off before on.

    These are the cells that touch the point: where its other gates are zero, either side of them has it on its wall.
    """
    known = pack(strict[None])
    if atlas.of_function:
        known = known & ~pack(atlas.program.pools.idle(atlas.signs()))
    agree = np.flatnonzero(((atlas.patterns ^ pack(pattern[None])) & known == 0).all(axis=1))
    return int(agree[order_by_gate(atlas.patterns[agree])[0]]) if len(agree) else -1


def proved_patterns(program: Program, domain: Domain, U: Array) -> tuple[npt.NDArray[np.bool_], Undecided]:
    """The patterns at parameter points, and what of them is not proved: faster than `bounded_forward`, and coarser."""
    if not program.stages:
        nobody = np.zeros(0, dtype=np.int64)
        return np.zeros((len(U), 0), dtype=bool), Undecided(nobody, nobody)
    # The first step is affine on the whole domain: its product, over all inputs, is needed at d + 1 points only.
    frame = _rounded_lift(domain, np.concatenate([np.zeros((1, domain.dim)), np.eye(domain.dim)]))
    first = on_parameters(pre_activations(program.steps.steps[0].affine, {0: frame}, domain.dim + 1), U)
    return patterns_at(program, _rounded_lift(domain, U), first)


def _rounded_lift(domain: Domain, U: Array) -> BoundedRows:
    size = np.abs(domain.origin) + np.abs(domain.basis) @ np.abs(U).max(axis=0, initial=0.0)
    return rounded(np.ascontiguousarray(domain.lift(U)), size, domain.dim + 4)


def vanishing(program: Program, inputs: BoundedValues) -> npt.NDArray[np.bool_]:
    """Gates (n, gates) that are proved to be zero all over a small box around each input: they have no wall there."""
    around = inputs.errors + relative(1) * (1 + np.abs(inputs.values))
    return bounded_forward(program, BoundedValues(inputs.values, around)).zero


def _locate_exactly(atlas: Atlas, exact: RationalProgram, u: Array) -> int:
    """The cell of the point's own pattern, zero being off; where that is no cell, the first one that touches it."""
    passed = exact.forward(exact_lift(atlas.domain, rational_matrix(u[:, None])))
    pattern = np.array(passed.pattern, dtype=bool)
    cell = int(atlas.index.find(pack(atlas.as_listed(pattern[None])))[0])
    if cell >= 0:
        return cell
    return _first_touching(atlas, pattern, np.array([value != 0 for (value,) in passed.preactivations], dtype=bool))
