"""Which cell a point lies in, proved: floats with error bounds first, rational arithmetic where they cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import le, lt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat

from polyfold.atlas.patterns import order_by_gate, pack
from polyfold.errors import DomainError, PolyfoldError, ShapeError, how_many
from polyfold.exact.bounded import BoundedValues, bounded_forward, exact_values
from polyfold.exact.rational import rational, rational_matrix
from polyfold.exact.rounding import TINY, relative
from polyfold.exact.scaled import Scaled, Undecided, floats_a_row, on_parameters, patterns_at, pre_activations, rounded
from polyfold.network.arrays import real_array
from polyfold.program.in_rationals import RationalProgram
from polyfold.program.program import Program

if TYPE_CHECKING:
    from polyfold.atlas.atlas import Atlas
    from polyfold.atlas.domain import Domain

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

# What a forward pass of many rows may hold: larger batches leave the processor's cache.
ROW_FLOATS = 1 << 21


def locate(atlas: Atlas, points: Any, outside: Literal["error", "ignore"] = "error") -> Ids:
    """See `Atlas.locate`."""
    if outside not in ("error", "ignore"):
        raise PolyfoldError(f"outside={outside!r} is no option: use 'error' or 'ignore'")
    U = parameter_rows(atlas.domain, points)
    inside = contains(atlas.domain, U)
    if outside == "error" and not inside.all():
        first = int(np.flatnonzero(~inside)[0])
        raise DomainError(
            f"point {first}, {U[first].tolist()}, lies outside the domain; pass outside='ignore' to get -1"
        )
    ids = np.full(len(U), -1, dtype=np.int64)
    for part in _parts(atlas, np.flatnonzero(inside)):
        ids[part] = _cells_of(atlas, U[part])
    if outside == "error" and (ids < 0).any():
        first = int(np.flatnonzero(ids < 0)[0])
        raise DomainError(
            f"point {first}, {U[first].tolist()}, lies in a part that this incomplete atlas does not cover; "
            "pass outside='ignore' to get -1"
        )
    return ids


def _parts(atlas: Atlas, rows: Ids) -> Iterator[Ids]:
    """Rows by as many as a forward pass should hold at once."""
    step = max(1, ROW_FLOATS // (atlas.program.input_dim + floats_a_row(atlas.program) + atlas.gates))
    return (rows[first : first + step] for first in range(0, len(rows), step))


def _cells_of(atlas: Atlas, U: Array) -> Ids:
    """The cells of points inside the domain, or -1 where the atlas has none."""
    with np.errstate(over="ignore", invalid="ignore"):
        passed = bounded_forward(atlas.program, bounded_lift(atlas.domain, U))
    proved = np.asarray(passed.certain.all(axis=1))
    found = np.where(proved, atlas.index.find(pack(passed.pattern)), -1)
    unsure = np.flatnonzero(found < 0)
    if not len(unsure) or not len(atlas):
        return found
    exact = RationalProgram(atlas.program)
    for i in unsure:
        if proved[i]:
            found[i] = _first_touching(atlas, passed.pattern[i], ~passed.zero[i])
        else:
            found[i] = _locate_exactly(atlas, exact, U[i])
    return found


def _first_touching(atlas: Atlas, pattern: npt.NDArray[np.bool_], strict: npt.NDArray[np.bool_]) -> int:
    """Of the cells that have these signs where they are strict, the first in the order of gates, off before on.

    These are the cells that touch the point: where its other gates are zero, either side of them has it on its wall.
    """
    known = pack(strict[None])[0]
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


def _rounded_lift(domain: Domain, U: Array) -> Scaled:
    size = np.abs(domain.origin) + np.abs(domain.basis) @ np.abs(U).max(axis=0, initial=0.0)
    return rounded(np.ascontiguousarray(domain.lift(U)), size, domain.dim + 4)


def parameter_rows(domain: Domain, points: Any) -> Array:
    """Points of the domain's parameters as a float matrix, or an error that quotes the shape."""
    U = real_array(f"points are rows of {how_many(domain.dim, 'number')}", points)
    if U.ndim != 2 or U.shape[1] != domain.dim:
        raise ShapeError(f"points are rows of {how_many(domain.dim, 'number')}; this array has shape {U.shape}")
    if not np.isfinite(U).all():
        raise ShapeError(f"point {int(np.flatnonzero(~np.isfinite(U).all(axis=1))[0])} is not finite")
    return U


@np.errstate(over="ignore", invalid="ignore")
def contains(domain: Domain, U: Array, *, strictly: bool = False) -> npt.NDArray[np.bool_]:
    """Whether each parameter point lies in the (closed) domain, or strictly in its interior, exactly."""
    if strictly:
        domain = _without_constant_rows(domain)
    # Far away points may overflow; what floats then cannot tell goes to rational arithmetic.
    inside = np.ones(len(U), dtype=bool)
    for rows, offsets, values in (
        (domain.input_rows, domain.input_offsets, bounded_lift(domain, U)),
        (domain.parameter_rows, domain.parameter_offsets, exact_values(U)),
    ):
        if not len(rows):
            continue
        slack = offsets - values.values @ rows.T
        size = np.abs(offsets) + np.abs(values.values) @ np.abs(rows).T
        spread = values.errors @ np.abs(rows).T
        doubt = relative(rows.shape[1] + 4) * (size + spread) + spread + TINY
        inside &= ~(slack < -doubt).any(axis=1)
        for i in np.flatnonzero(~(np.abs(slack) > doubt).all(axis=1) & inside):
            inside[i] = _contains_exactly(domain, rational_matrix(U[i][:, None]), strictly)
    return inside


def jets_around(domain: Domain, point: Sequence[fmpq], *directions: Sequence[fmpq]) -> fmpq_mat:
    """Input jets at a parameter point: first along the directions given, then along every axis of the parameters."""
    columns = fmpq_mat(domain.dim, 1 + len(directions) + domain.dim)
    for k in range(domain.dim):
        for j, column in enumerate((point, *directions)):
            columns[k, j] = column[k]
        columns[k, 1 + len(directions) + k] = fmpq(1)
    return exact_lift(domain, columns)


def contains_exactly(domain: Domain, point: Sequence[fmpq], *, strictly: bool = False) -> bool:
    """The same for one rational point."""
    column = fmpq_mat(domain.dim, 1, list(point))
    return _contains_exactly(_without_constant_rows(domain) if strictly else domain, column, strictly)


@np.errstate(over="ignore", invalid="ignore")
def bounded_lift(domain: Domain, U: Array) -> BoundedValues:
    """Input points of parameter points, with their rounding errors."""
    X = domain.lift(U)
    if not domain.is_slice:
        return exact_values(X)
    size = np.abs(domain.origin) + np.abs(U) @ np.abs(domain.basis).T
    return BoundedValues(X, relative(domain.dim + 4) * size + TINY)


def vanishing(program: Program, inputs: BoundedValues) -> npt.NDArray[np.bool_]:
    """Gates (n, gates) that are proved to be zero all over a small box around each input: they have no wall there."""
    around = inputs.errors + relative(1) * (1 + np.abs(inputs.values))
    return bounded_forward(program, BoundedValues(inputs.values, around)).zero


def exact_lift(domain: Domain, columns: fmpq_mat) -> fmpq_mat:
    """Input jets of parameter jets: column 0 is a point, the others are directions."""
    if not domain.is_slice:
        return columns
    lifted = rational_matrix(domain.basis) * columns
    for i, value in enumerate(domain.origin.tolist()):
        lifted[i, 0] += rational(value)
    return lifted


def _without_constant_rows(domain: Domain) -> Domain:
    """Without the rows that do not depend on the parameters: those hold all over a domain that is not empty."""
    varies = domain.input_rows.any(axis=1)
    if domain.is_slice and len(domain.input_rows):
        over = rational_matrix(domain.input_rows) * rational_matrix(domain.basis)
        varies = np.array([any(row) for row in over.tolist()])
    return replace(
        domain,
        input_rows=domain.input_rows[varies],
        input_offsets=domain.input_offsets[varies],
        parameter_rows=domain.parameter_rows[domain.parameter_rows.any(axis=1)],
        parameter_offsets=domain.parameter_offsets[domain.parameter_rows.any(axis=1)],
    )


def _contains_exactly(domain: Domain, column: fmpq_mat, strictly: bool) -> bool:
    x = exact_lift(domain, column)
    holds = lt if strictly else le
    return all(
        holds(value, rational(offset))
        for rows, offsets, values in (
            (domain.input_rows, domain.input_offsets, x),
            (domain.parameter_rows, domain.parameter_offsets, column),
        )
        if len(rows)
        for (value,), offset in zip((rational_matrix(rows) * values).tolist(), offsets.tolist(), strict=True)
    )


def _locate_exactly(atlas: Atlas, exact: RationalProgram, u: Array) -> int:
    """The cell of the point's own pattern, zero being off; where that is no cell, the first one that touches it."""
    passed = exact.forward(exact_lift(atlas.domain, rational_matrix(u[:, None])))
    pattern = np.array(passed.pattern, dtype=bool)
    cell = int(atlas.index.find(pack(pattern[None]))[0])
    if cell >= 0:
        return cell
    return _first_touching(atlas, pattern, np.array([value != 0 for (value,) in passed.preactivations], dtype=bool))
