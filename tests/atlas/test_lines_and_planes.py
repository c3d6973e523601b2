"""pf.line and pf.plane: both kinds of plane, points of any shape, and errors that say what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import DomainError

P, Q, R = np.random.default_rng(0).normal(size=(3, 2, 3))


def test_a_line_goes_through_both_points() -> None:
    domain = pf.line(P, Q, extend=(-1, 2)).resolve(6)
    assert domain.dim == 1 and domain.rows == 2
    assert np.allclose(domain.lift([[0.0], [1.0], [-1.0]]), [P.ravel(), Q.ravel(), 2 * P.ravel() - Q.ravel()])


def test_a_plane_goes_through_three_points() -> None:
    domain = pf.plane(P, Q, R).resolve(6)
    assert np.allclose(domain.lift([[0, 0], [1, 0], [0, 1]]), np.stack([P, Q, R]).reshape(3, 6))
    assert sorted(domain.parameter_offsets.tolist()) == [0, 0, 1, 1]
    wider = pf.plane(P, Q, R, extend=(-0.5, 1.5)).resolve(6)
    assert sorted(wider.parameter_offsets.tolist()) == [0.5, 0.5, 1.5, 1.5]


def test_with_bounds_a_plane_has_directions() -> None:
    domain = pf.plane(P, Q, R, pf.box(-1, 1)).resolve(6)
    assert np.allclose(domain.lift([[1, 2]]), (P + Q + 2 * R).reshape(1, 6))
    triangle = pf.plane(P, Q, R, bounds=pf.polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])).resolve(6)
    assert triangle.rows == 3


def test_lift_checks_its_points() -> None:
    atlas = pf.unfold([(np.ones((1, 6)), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))], pf.line(P, Q))
    assert np.allclose(atlas.lift([[0.5]]), (P + Q).reshape(1, 6) / 2)
    assert np.array_equal(atlas.lift([0.5]), atlas.lift([[0.5]]))
    with pytest.raises(pf.PolyfoldError, match="rows of 1 number, or one such row"):
        atlas.lift([[0.5, 0.5]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pf.line(P, Q.ravel()), "must have one shape"),
        (lambda: pf.line(P, P).resolve(6), "a line needs two different points"),
        (lambda: pf.plane(P, Q, 2 * Q - P).resolve(6), "three points that do not lie on a line"),
        (lambda: pf.line(P, Q, extend=3), "must be two numbers"),
        (lambda: pf.line(P, Q, extend=(1, 0)).resolve(6), r"extend=\(1, 0\) is empty"),
        (lambda: pf.plane(P, Q, -2 * Q, pf.box(0, 1)), "two directions that do not lie on a line"),
        (lambda: pf.plane(P, Q, R, pf.box(0, 1), extend=(0, 1)), "not both"),
        (lambda: pf.plane(P, Q, R, 3).resolve(6), "a slice's bounds must be"),
        (lambda: pf.line(P, Q).resolve(5), "the slice lies in R\\^6, and the network takes 5 inputs"),
    ],
)
def test_wrong_lines_and_planes(make: object, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        make()
