"""Which of some vectors add up to a given one: against all subsets where there are few, else by construction."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest

from polyfold._base.clock import Clock, OutOfTimeError
from polyfold.errors import UnknownError
from polyfold.exact.rational_arrays import rationals
from polyfold.exact.subset_sum import guides
from polyfold.exact.subset_sum.lattice import by_lattice, kernel_basis
from polyfold.exact.subset_sum.residues import PRIMES, eliminated, parts
from polyfold.exact.subset_sum.zero_one import nonempty_subset_without_sum, subset_with_sum


def summed(vectors, members):
    return [sum((row[j] for j in members), row[0] * 0) for row in vectors]


@pytest.mark.parametrize("batch", range(6))
def test_all_subsets_agree(batch):
    statuses = set()
    for number in range(100):
        rng = np.random.default_rng([batch, number])
        k, n, bound = (int(rng.integers(*ends)) for ends in ((1, 5), (1, 9), (1, 6)))
        M = rng.integers(-bound, bound + 1, size=(k, n))
        t = M @ rng.integers(0, 2, size=n) if number % 2 else rng.integers(-bound, bound + 1, size=k)
        choices = [np.array(choice) for choice in product((0, 1), repeat=n)]
        found, none = subset_with_sum(rationals(M.tolist()), rationals(t.tolist())), "none"
        assert found.status == ("found" if any((M @ s == t).all() for s in choices) else none)
        assert not found or (M[:, list(found.members)].sum(axis=1) == t).all()
        zero = nonempty_subset_without_sum(rationals(M.tolist()))
        assert zero.status == ("found" if any(not (M @ s).any() for s in choices if s.any()) else none)
        assert not zero or (zero.members and not M[:, list(zero.members)].sum(axis=1).any())
        statuses |= {(found.status, zero.status)}
    assert len(statuses) == 4


@pytest.mark.parametrize(("k", "n"), [(1, 24), (2, 36), (45, 60), (60, 60), (100, 30), (400, 20)])
def test_a_hidden_subset_of_float_vectors_is_found(k, n):
    rng = np.random.default_rng([k, n])
    vectors, chosen = rationals(rng.normal(size=(k, n))), np.flatnonzero(rng.random(n) < 0.5).tolist()
    found = subset_with_sum(vectors, rationals(summed(vectors, chosen)))
    assert found.members == tuple(chosen)
    assert nonempty_subset_without_sum(vectors).status == "none"
    hidden = rationals(np.zeros((k, n)))
    hidden[:, :] = vectors
    hidden[:, 0] = [-value for value in summed(vectors, [1, 2, n - 1])]
    assert nonempty_subset_without_sum(hidden).members == (0, 1, 2, n - 1)


def test_meeting_in_the_middle():
    """One equation with 40 variables of which 39 are free: too many to try one after the other."""
    rng = np.random.default_rng(1)
    values = rationals([[int(value) for value in rng.integers(1, 2**50, size=40)]])
    chosen = (0, 3, 7, 11, 20, 21, 22, 30, 39)
    found = subset_with_sum(values, rationals(summed(values, chosen)))
    assert summed(values, found.members) == summed(values, chosen)
    odd = rationals([[2 * int(value) for value in rng.integers(1, 2**50, size=40)]])
    assert subset_with_sum(odd, rationals([2**50 + 1])).status == "none"


def test_parts_that_do_not_depend_on_each_other_are_searched_apart():
    """20 equations with 6 variables each: 100 of 120 variables are free, too many to search all of them together."""
    rng = np.random.default_rng(2)
    M, chosen = np.zeros((20, 120), dtype=object), np.flatnonzero(rng.random(120) < 0.5).tolist()
    for k in range(20):
        M[k, 6 * k : 6 * k + 6] = rng.integers(-(2**40), 2**40, size=6).tolist()
    order = rng.permutation(120)
    mixed = rationals((rng.integers(-9, 10, size=(20, 20)).astype(object) @ M)[:, order].tolist())
    targets = summed(mixed, chosen)
    rows = eliminated([[int(value.p) for value in row] for row in mixed], [int(t.p) for t in targets], PRIMES[0])
    assert sorted(part.size for part in parts(rows, 120)) == [6] * 20
    assert subset_with_sum(mixed, rationals(targets)).members == tuple(chosen)
    assert nonempty_subset_without_sum(mixed).status == "none"


def test_what_is_too_large_is_unknown_and_says_why():
    rng = np.random.default_rng(3)
    values = rationals([[int(value) for value in rng.integers(-(2**60), 2**60, size=70)]])
    found = nonempty_subset_without_sum(values)
    assert found.status == found.verdict == "unknown" and "70 variables" in found.how
    with pytest.raises(UnknownError):
        bool(found)


def test_a_search_ends_with_its_clock():
    rng = np.random.default_rng(3)
    values = rationals([[int(value) for value in rng.integers(1, 2**60, size=44)]])
    started = time.perf_counter()
    with pytest.raises(OutOfTimeError), Clock(0.01):
        subset_with_sum(values, rationals([2**61 + 1]))
    assert time.perf_counter() - started < 10


def test_signs_alone_can_prove_that_there_is_none():
    """Too many to try, but all positive."""
    rng = np.random.default_rng(4)
    values = rationals([[int(value) for value in rng.integers(1, 2**60, size=70)] for _ in range(2)])
    assert nonempty_subset_without_sum(values).status == "none"
    assert subset_with_sum(values, rationals([2**70, 1])).status == "none"


def test_what_floats_take_for_a_solution_is_none():
    """Even numbers of sixty digits never add up to an odd one, but floats do not see the last digit."""
    rng = np.random.default_rng(5)
    values = [[2 * int(value) for value in rng.integers(-(2**59), 2**59, size=150)] for _ in range(80)]
    targets = [sum(row[::2]) + (number == 0) for number, row in enumerate(values)]
    assert guides.proposal(values, targets, False) == [1, 0] * 75
    assert subset_with_sum(rationals(values), rationals(targets)).status == "unknown"


@pytest.mark.parametrize("batch", range(4))
def test_a_basis_of_all_integer_solutions_agrees_with_all_subsets(batch):
    proved = 0
    for number in range(50):
        rng = np.random.default_rng([batch, number, 1])
        k, n, bound = int(rng.integers(1, 4)), int(rng.integers(1, 8)), int(rng.choice([1, 5, 1000]))
        M = rng.integers(-bound, bound + 1, size=(k, n))
        M[0, 0] = bound
        for nonempty in (True, False):
            t = np.zeros(k, dtype=int) if nonempty else M @ rng.integers(0, 2, size=n) + (number % 2)
            choices = [np.array(choice) for choice in product((0, 1), repeat=n)]
            solved = [s for s in choices if (M @ s == t).all() and (s.any() or not nonempty)]
            found = by_lattice(M.tolist(), t.tolist(), nonempty)
            assert not (found.none and solved)
            proved += found.none
    assert proved > 20


@pytest.mark.parametrize(("k", "n"), [(2, 60), (5, 75)])
def test_few_equations_with_long_numbers_decide_over_many_variables(k, n):
    """What nobody could search: 2^60 subsets and more, decided by a reduced basis."""
    rng = np.random.default_rng([k, n])
    vectors = rationals(rng.normal(size=(k, n))) * rationals(rng.normal(size=n))
    chosen = np.flatnonzero(rng.random(n) < 0.5).tolist()
    found = subset_with_sum(vectors, rationals(summed(vectors, chosen)))
    assert found.members == tuple(chosen) and "basis" in found.how
    none = nonempty_subset_without_sum(vectors)
    assert none.status == "none" and "basis" in none.how


def test_a_basis_holds_all_integer_solutions():
    rows = [[3, -5, 7, 11], [2, 4, -6, 1]]
    basis = np.array(kernel_basis(rows))
    assert basis.shape == (2, 4) and not (np.array(rows) @ basis.T).any()
    # Solutions that are found by trying are whole combinations of it.
    for z in product(range(-6, 7), repeat=4):
        if not (np.array(rows) @ z).any():
            factors, *_ = np.linalg.lstsq(basis.T.astype(float), np.array(z, dtype=float), rcond=None)
            assert (basis.T @ np.rint(factors).astype(int) == z).all()


def test_an_integer_program_finds_what_is_too_large_to_try():
    rng = np.random.default_rng(6)
    vectors = rationals(rng.normal(size=(80, 150)))
    chosen = np.flatnonzero(rng.random(150) < 0.5).tolist()
    found = subset_with_sum(vectors, rationals(summed(vectors, chosen)))
    assert found.members == tuple(chosen) and "integer program" in found.how


def test_a_proof_in_floats_is_one_in_rationals():
    equations = [[3, 5, 7], [-3, 5, 2]]
    y = guides.contradiction(equations, [0, 0], True)
    assert all(sum(factor * row[j] for factor, row in zip(y, equations, strict=True)) > 0 for j in range(3))


def test_rows_that_say_nothing_do_not_prove_anything():
    """Of many equations some are looked at first; if these are all empty, the others count."""
    M = np.zeros((50, 3), dtype=object)
    M[1] = [1, 1, -2]
    assert nonempty_subset_without_sum(rationals(M.tolist())).members == (0, 1, 2)
    target = np.zeros(50, dtype=object)
    target[1] = -1
    assert subset_with_sum(rationals(M.tolist()), rationals(target.tolist())).status == "found"
