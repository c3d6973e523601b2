"""Points of a domain: their inputs, in floats with bounds and exactly, and whether the domain contains them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import le, lt
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat

from polyfold._base.inputs import rows_of
from polyfold._base.types import Array
from polyfold.domain.domain import Domain
from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.rational import rational, rational_matrix
from polyfold.exact.rounding import TINY, relative


def parameter_rows(domain: Domain, points: Any) -> Array:
    """Points of the domain's parameters as a float matrix, or an error that quotes the shape."""
    return rows_of(points, domain.dim, what="points")


@np.errstate(over="ignore", invalid="ignore")
def contains(domain: Domain, U: Array, *, strictly: bool = False) -> npt.NDArray[np.bool_]:
    """Whether each parameter point lies in the (closed) domain, or strictly in its interior, exactly."""
    if strictly:
        domain = _without_constant_rows(domain)
    # Far away points may overflow; what floats then cannot tell goes to rational arithmetic.
    inside = np.ones(len(U), dtype=bool)
    for rows, offsets, values in (
        (domain.over_inputs, domain.input_offsets, bounded_lift(domain, U)),
        (domain.over_parameters, domain.parameter_offsets, exact_values(U)),
    ):
        if not len(offsets):
            continue
        slack = offsets - rows.at(values.values)
        size = np.abs(offsets) + rows.sizes_at(np.abs(values.values))
        spread = rows.sizes_at(values.errors)
        doubt = relative(rows.matrix.shape[1] + 4) * (size + spread) + spread + TINY
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
    if not domain.is_slice and domain.over_inputs.single and not len(domain.parameter_rows):
        return domain
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
