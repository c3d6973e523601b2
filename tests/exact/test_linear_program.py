"""The exact simplex method against HiGHS, against all vertices, and on programs made to be awkward."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from polyfold.exact.linear_program import dot, feasible_point, highest_point, integer_row, maximise, point_above


def rationals(array):
    return [rationals(row) if isinstance(row, list) else fmpq(*float(row).as_integer_ratio()) for row in array]


def random_problem(rng):
    """Small integers make ties, parallel rows and degenerate vertices; Gaussians make none."""
    dim, rows = int(rng.integers(1, 5)), int(rng.integers(0, 10))
    if rng.random() < 0.6:
        c, A, b = rng.integers(-2, 3, dim), rng.integers(-2, 3, (rows, dim)), rng.integers(-2, 4, rows)
    else:
        c, A, b = rng.normal(size=dim), rng.normal(size=(rows, dim)), rng.normal(size=rows) + 0.5
    if rng.random() < 0.4:
        box = np.concatenate([np.eye(dim), -np.eye(dim)])
        A, b = np.concatenate([A, box]), np.concatenate([b, np.full(2 * dim, 2.0)])
    return c.astype(float), A.astype(float), b.astype(float)


def highs(c, A, b, E=None, f=None):
    """Status and value; whether an unbounded program has points at all is settled apart."""
    bounds = [(None, None)] * len(c)
    arguments = {
        "A_ub": A if len(A) else None,
        "b_ub": b if len(A) else None,
        "A_eq": E,
        "b_eq": f,
        "bounds": bounds,
    }
    if linprog(np.zeros(len(c)), **arguments).status == 2:
        return "infeasible", None
    result = linprog(-c, **arguments)
    return ("optimal", -result.fun) if result.status == 0 else ("unbounded", None)


def check(optimum, c, A, b, E=(), f=()):
    """That an answer proves itself as far as it can."""
    if optimum.status == "infeasible":
        assert optimum.value is optimum.point is optimum.ray is None
        return
    assert all(dot(row, optimum.point) <= bound for row, bound in zip(A, b, strict=True))
    assert all(dot(row, optimum.point) == bound for row, bound in zip(E, f, strict=True))
    if optimum.status == "optimal":
        assert optimum.value == dot(c, optimum.point)
        rows = [*A, *E, *([-entry for entry in row] for row in E)]
        bounds = [*b, *f, *(-entry for entry in f)]
        assert len(optimum.multipliers) == len(rows) and all(factor >= 0 for factor in optimum.multipliers)
        assert optimum.value == dot(optimum.multipliers, bounds)
        assert all(dot(optimum.multipliers, [row[k] for row in rows]) == c[k] for k in range(len(c)))
    else:
        assert all(dot(row, optimum.ray) <= 0 for row in A)
        assert all(dot(row, optimum.ray) == 0 for row in E)
        assert dot(c, optimum.ray) > 0


def test_agrees_with_highs():
    rng = np.random.default_rng(0)
    seen = {"optimal": 0, "infeasible": 0, "unbounded": 0}
    for _ in range(500):
        c, A, b = random_problem(rng)
        exact = [rationals(part.tolist()) for part in (c, A, b)]
        optimum = maximise(*exact)
        check(optimum, *exact)
        status, value = highs(c, A, b)
        assert optimum.status == status
        if status == "optimal":
            assert float(optimum.value.p) / float(optimum.value.q) == pytest.approx(value, abs=1e-7)
        seen[status] += 1
    assert min(seen.values()) >= 40


def test_equalities_agree_with_highs():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(150):
        c, A, b = random_problem(rng)
        count = int(rng.integers(1, 3))
        E, f = rng.integers(-2, 3, (count, len(c))).astype(float), rng.integers(-1, 2, count).astype(float)
        c_, A_, b_, E_, f_ = (rationals(part.tolist()) for part in (c, A, b, E, f))
        optimum = maximise(c_, A_, b_, equalities=(E_, f_))
        check(optimum, c_, A_, b_, E_, f_)
        status, value = highs(c, A, b, E, f)
        assert optimum.status == status
        if status == "optimal":
            assert float(optimum.value.p) / float(optimum.value.q) == pytest.approx(value, abs=1e-7)
        seen.add(status)
    assert len(seen) == 3


def test_agrees_with_the_best_vertex_exactly():
    rng = np.random.default_rng(2)
    for _ in range(60):
        dim = int(rng.integers(1, 4))
        A = np.concatenate([np.eye(dim), -np.eye(dim), rng.integers(-2, 3, (4, dim))])
        b = np.concatenate([np.full(2 * dim, 2.0), rng.integers(0, 4, 4)])
        c, A, b = (rationals(part.tolist()) for part in (rng.integers(-3, 4, dim).astype(float), A, b))
        values = []
        for rows in combinations(range(len(A)), dim):
            M = fmpq_mat(dim, dim, [x for r in rows for x in A[r]])
            if M.det() != 0:
                vertex = [x for (x,) in M.solve(fmpq_mat(dim, 1, [b[r] for r in rows])).tolist()]
                if all(dot(row, vertex) <= bound for row, bound in zip(A, b, strict=True)):
                    values.append(dot(c, vertex))
        assert maximise(c, A, b).value == max(values)


def test_a_start_changes_nothing_but_the_way():
    rng = np.random.default_rng(3)
    for _ in range(100):
        c, A, b = (rationals(part.tolist()) for part in random_problem(rng))
        free = maximise(c, A, b)
        start = feasible_point(A, b, len(c))
        if start is None:
            assert free.status == "infeasible"
            continue
        started = maximise(c, A, b, start=start)
        assert (started.status, started.value) == (free.status, free.value)


def test_a_point_above_a_level_is_found_iff_there_is_one():
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(200):
        c, A, b = (rationals(part.tolist()) for part in random_problem(rng))
        start = feasible_point(A, b, len(c))
        if start is None:
            continue
        optimum = maximise(c, A, b)
        levels = [fmpq(0), fmpq(100)] if optimum.value is None else [optimum.value, optimum.value - fmpq(1, 1000)]
        for level in levels:
            highest = highest_point(c, level, A, b, start)
            assert all(dot(row, highest) <= bound for row, bound in zip(A, b, strict=True))
            assert dot(c, highest) > level or dot(c, highest) == optimum.value
            point = point_above(c, level, A, b, start)
            assert (point is not None) == (optimum.value is None or level < optimum.value)
            if point is not None:
                found += 1
                assert dot(c, point) > level
                assert all(dot(row, point) <= bound for row, bound in zip(A, b, strict=True))
    assert found > 100


def test_a_program_that_cycles_without_care():
    """Beale's example: the usual choice of the steepest column goes round in circles."""
    c = [fmpq(3, 4), fmpq(-150), fmpq(1, 50), fmpq(-6)]
    A = [
        [fmpq(1, 4), fmpq(-60), fmpq(-1, 25), fmpq(9)],
        [fmpq(1, 2), fmpq(-90), fmpq(-1, 50), fmpq(3)],
        [fmpq(0), fmpq(0), fmpq(1), fmpq(0)],
        *([fmpq(-(i == k)) for i in range(4)] for k in range(4)),
    ]
    b = [fmpq(0), fmpq(0), fmpq(1), fmpq(0), fmpq(0), fmpq(0), fmpq(0)]
    assert maximise(c, A, b, start=[fmpq(0)] * 4).value == fmpq(1, 20)


def test_differences_below_float_resolution_count():
    tiny = fmpq(1, 10**40)
    A = [[fmpq(1)], [fmpq(-1)]]
    assert maximise([fmpq(1)], A, [tiny, fmpq(0)]).value == tiny
    assert maximise([fmpq(1)], A, [-tiny, fmpq(0)]).status == "infeasible"


def test_no_rows_and_no_objective():
    assert maximise([fmpq(0), fmpq(0)], [], []).status == "optimal"
    assert maximise([fmpq(0), fmpq(-1)], [], []).ray == (0, -1)
    assert maximise([fmpq(0)], [[fmpq(0)]], [fmpq(-1)]).status == "infeasible"


def test_integer_rows_keep_direction_and_sign():
    assert integer_row([fmpq(-1, 2), fmpq(0), fmpq(1, 3)]) == [-3, 0, 2]
    assert integer_row([fmpq(0), fmpq(0)]) == [0, 0]
