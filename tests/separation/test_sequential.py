"""Sequential linear separability against all orders, a grid of base points, and proofs in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

import polyfold as pf
from helpers.separability_oracles import gap, on_a_grid, some_order
from helpers.separability_proofs import Sequence
from helpers.slow_params import examples, quick_then_slow
from polyfold.errors import DataError, PolyfoldError, ShapeError


def draw(rng, classes=(2, 5)):
    """Small integers make ties and touching hulls; Gaussians make none."""
    count, dim, each = int(rng.integers(*classes)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    y = np.repeat(np.arange(count), each)
    if rng.random() < 0.5:
        return rng.integers(-4, 5, size=(len(y), dim)).astype(float), y
    spread = rng.choice([0.3, 1.0])
    return np.repeat(rng.normal(size=(count, dim)) * 2, each, axis=0) + spread * rng.normal(size=(len(y), dim)), y


def proved(X, y, found, centre=None):
    """That an answer proves itself."""
    if found.word == "separable":
        Sequence(X, y, centre).steps_hold(found.steps)
        assert found.margin > 0 and not found.dead_ends
    else:
        assert found.word == "not separable" and not found.steps
        Sequence(X, y, centre).no_order_works(found.dead_ends)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(40), deadline=None)
def test_all_orders_agree_and_answers_prove_themselves(seed):
    X, y = draw(np.random.default_rng(seed))
    found = pf.separation.sequential(X, y)
    if found.same_point is not None:
        one, other = found.same_point
        assert (X[one] == X[other]).all() and y[one] != y[other]
        assert found.word == "not separable" and f"rows {one} and {other} of X are the same point" in repr(found)
        return
    proved(X, y, found)
    orders = some_order(X, y)
    if True in orders.values():
        assert found.word == "separable" and orders[found.order] is not False
    elif None not in orders.values():
        assert found.word == "not separable"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(12), deadline=None)
def test_what_works_on_a_grid_of_base_points_is_found(seed):
    """Straight from the definition, without limits: the theory of how near a base point may be plays no part in it."""
    X, y = draw(np.random.default_rng(seed), classes=(2, 4))
    found = pf.separation.sequential(X, y)
    if on_a_grid(X, y):
        assert found.word == "separable"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(25), deadline=None)
def test_affine_maps_change_nothing(seed):
    """Powers of two and shears by integers keep floats exact, so the answers must be the same."""
    rng = np.random.default_rng(seed)
    X, y = draw(rng)
    X = np.round(X * 64) / 64
    shear = np.tril(rng.integers(-2, 3, (X.shape[1], X.shape[1])), -1) + np.diag(2.0 ** rng.integers(-3, 4, X.shape[1]))
    before, after = pf.separation.sequential(X, y), pf.separation.sequential(X @ shear.T + 3, 5 - y)
    assert before.word == after.word


# Only one order works: 4, 0, 1, 2, 3. But class 1 could be cut off first.
TRAP = np.array(
    [[5.5, -1], [10, -1], [10, 1], [4, 6], [3.25, 1.75], [4, 1.75], [3.75, 0.5], [-3, 3], [3, 3], [-19.25, -5.5]]
)
TRAP_LABELS = np.array([0, 1, 1, 2, 2, 2, 2, 3, 3, 4])


def test_cutting_off_whatever_comes_first_is_not_enough():
    found = pf.separation.sequential(TRAP, TRAP_LABELS)
    proved(TRAP, TRAP_LABELS, found)
    assert found.order == (4, 0, 1, 2, 3)
    assert [order for order, works in some_order(TRAP, TRAP_LABELS).items() if works] == [found.order]
    rest = np.concatenate([[found.centre], TRAP[TRAP_LABELS != 1]])
    assert gap(TRAP[TRAP_LABELS == 1], rest) > 1


@pytest.mark.parametrize("seed", quick_then_slow([1, 3, 10, 16, 26, 33], quick=2))
def test_long_failures_are_proved(seed):
    """Some classes can be cut off, so the search has to come back from dead ends: in these proofs base points have
    limits, and orders are passed over because others were better."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(int(rng.integers(4, 6))), int(rng.integers(2, 4)))
    X = 2 * rng.integers(-9, 10, size=(int(y.max()) + 1, 2))[y] + rng.integers(-3, 4, size=(len(y), 2)).astype(float)
    found = pf.separation.sequential(X, y)
    assert found.word == "not separable"
    proved(X, y, found)
    assert any(point.least > 0 for end in found.dead_ends for point in end.before)
    assert any(end.worse_than is not None for end in found.dead_ends)
    assert not any(some_order(X, y).values())


def test_a_proof_that_was_tampered_with_does_not_pass():
    """The check in fractions is a check."""
    found = pf.separation.sequential([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    (end,) = found.dead_ends
    (obstacle,) = end.blocked
    wrong = replace(obstacle, own={0: Fraction(1, 4), 1: Fraction(3, 4)})
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    with pytest.raises(AssertionError):
        Sequence(X, y).no_order_works([replace(end, blocked=(wrong,))])


def ring(count, radius):
    angles = 2 * np.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]),
        (np.concatenate([ring(7, 1.0), ring(12, 3.0)]), [0] * 7 + [1] * 12),
        ([[0.0], [1.0], [2.0]], [0, 1, 0]),
        ([[0, 0], [2, 0], [1, 0], [1, 5]], [0, 0, 1, 1]),  # hulls that touch in one point
    ],
    ids=["crossed", "concentric", "between", "touching"],
)
def test_two_classes_that_are_not_separable(X, y):
    found = pf.separation.sequential(X, y)
    assert found.word == "not separable" and found.dead_ends
    proved(np.array(X, dtype=float), y, found)


def test_iris_is_not_and_says_why():
    X, y = load_iris(return_X_y=True)
    found = pf.separation.sequential(X, y)
    assert found.word == "not separable"
    proved(X, y, found)
    (end,) = (end for end in found.dead_ends if end.blocked)
    assert {obstacle.label for obstacle in end.blocked} == {1, 2}
    assert gap(X[y == 1], X[y == 2]) < 1e-9
    two = pf.separation.sequential(X[y < 2], y[y < 2])
    assert two.word == "separable"
    proved(X[y < 2], y[y < 2], two)


def test_wine_is():
    X, y = load_wine(return_X_y=True)
    found = pf.separation.sequential(X, y)
    assert found.word == "separable"
    proved(X, y, found)


@pytest.mark.parametrize("dim", [2, 3, 10, 50])
def test_as_many_classes_as_dimensions(dim):
    rng = np.random.default_rng(dim)
    y = np.repeat(np.arange(dim), 4)
    X = 10 * rng.normal(size=(dim, dim))[y] + rng.normal(size=(len(y), dim))
    found = pf.separation.sequential(X, y)
    assert found.word == "separable"
    if dim <= 10:
        proved(X, y, found)
    else:
        assert sorted(found.order) == list(range(dim)) and found.margin > 0


def test_a_centre_of_ones_own():
    X, y = np.array([[0.0], [1.0], [3.0]]), [0, 0, 1]
    inside = pf.separation.sequential(X, y, centre=[0.5])
    assert inside.word == "not separable" and inside.dead_ends[0].blocked[0].centre == 1
    proved(X, y, inside, centre=[0.5])
    found = pf.separation.sequential(X, y, centre=[2.0])
    proved(X, y, found, centre=[2.0])
    assert found.centre.tolist() == [2.0]


def test_no_time_is_said_so():
    found = pf.separation.sequential(TRAP, TRAP_LABELS, max_seconds=1e-9)
    assert found.word == "unknown" and "seconds" in found.reason and not found.dead_ends and not found.steps


def test_labels_may_be_strings_and_extreme_numbers_do_no_harm():
    found = pf.separation.sequential([[1e200, 0], [2e200, 1e-200], [0, 5]], ["far", "far", "near"])
    assert found.word == "separable" and set(found.order) == {"far", "near"}
    proved(np.array([[1e200, 0], [2e200, 1e-200], [0, 5]]), ["far", "far", "near"], found)
    assert "separable in the order" in repr(found)


QUESTIONS = [
    pf.separation.sequential,
    pf.separation.clustered,
    pf.separation.cone,
    pf.separation.simplex,
    pf.separation.interpolate,
    *(partial(pf.separation.interpolate, kind=kind) for kind in ("clustered", "sequential", "cone", "simplex")),
]


@pytest.mark.parametrize("ask", QUESTIONS)
@pytest.mark.parametrize(
    ("X", "y", "error", "words"),
    [
        ([1.0, 2.0], [0, 1], ShapeError, r"\(2,\)"),
        (np.zeros((0, 2)), [], ShapeError, "X has no rows"),
        ([["a"], ["b"]], [0, 1], ShapeError, "rows of numbers"),
        ([[1.0], [np.nan]], [0, 1], ShapeError, r"X\[1, 0\] is nan"),
        ([[1.0], [np.inf]], [0, 1], ShapeError, "inf"),
        ([[1.0], [2.0]], [0, 1, 1], ShapeError, r"one label per row of X, which has 2 rows; its shape is \(3,\)"),
        ([[1.0], [2.0]], [[0, 1], [1, 0]], ShapeError, "one label"),
        ([[1.0], [2.0]], [0.0, np.nan], ShapeError, r"y\[1\] is nan"),
        ([[1.0], [2.0]], ["a", "a"], DataError, "all 2 points have the label 'a'"),
        ([[1.0], [2.0]], np.array([0, "x"], dtype=object), DataError, "all numbers or all texts"),
    ],
)
def test_bad_input_is_one_clear_error(ask, X, y, error, words):
    with pytest.raises(error, match=words):
        ask(X, y)


def test_bad_options():
    with pytest.raises(ShapeError, match="centre must be 2 finite numbers"):
        pf.separation.sequential([[0, 0], [1, 1]], [0, 1], centre=[1])
    with pytest.raises(PolyfoldError, match="max_seconds=-1"):
        pf.separation.sequential([[0, 0], [1, 1]], [0, 1], max_seconds=-1)
    with pytest.raises(DataError, match="two classes; these data have 3"):
        pf.separation.cone([[0], [1], [2]], [0, 1, 2])
    with pytest.raises(DataError, match="no point has the label 'c'; the labels are 'a', 'b'"):
        pf.separation.simplex([[0], [1]], ["a", "b"], inside="c")
