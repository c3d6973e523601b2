"""Point location: inside, on walls, at vertices, on the boundary, outside, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.atlas_oracles import CORNER, by_hand, points_inside, rows_of, unfolded
from polyfold.errors import DomainError, PolyfoldError, ShapeError
from polyfold.exact.rational import rational
from polyfold.testing import generated_case
from polyfold.testing.reference import exact_at

SEEDS = range(80)
GRID = [
    (np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.0, -1.0, 0.0, 0.0])),
    (np.array([[1.0, -1.0, 1.0, 0.0], [0.0, 1.0, -1.0, 1.0]]), np.array([0.0, -0.5])),
    (np.ones((1, 2)), np.zeros(1)),
]


def touches(atlas, cell, u) -> bool:
    """Whether a point lies in the closed cell, exactly: the values of gates agree in sign with the cell's."""
    passed = exact_at(atlas.program, atlas.domain, [rational(x) for x in np.asarray(u).tolist()])
    signs = atlas.signs([cell])[0]
    return all(z == 0 or (z > 0) == on for z, on in zip(passed.preactivations, signs.tolist(), strict=True))


@pytest.mark.parametrize("batch", range(4))
def test_points_inside_are_found(batch):
    rng = np.random.default_rng(batch)
    for seed in SEEDS[batch::4]:
        case, atlas = unfolded(seed)
        assert np.array_equal(atlas.locate(atlas.witnesses), np.arange(len(atlas))) or atlas.exact_witnesses, case
        for cell in rng.permutation(len(atlas))[:6]:
            for u, found in zip(
                U := points_inside(atlas, cell, 4, rng), atlas.locate(U, outside="ignore"), strict=True
            ):
                A, b = rows_of(atlas, cell)
                assert found == cell or (b - A @ u).min() < 1e-9 * max(1.0, np.abs(u).max()), case


@pytest.mark.parametrize("batch", range(4))
def test_random_points_get_a_cell_that_touches_them_or_lie_outside(batch):
    rng = np.random.default_rng(batch)
    outside = 0
    for seed in SEEDS[batch::4]:
        case, atlas = unfolded(seed)
        # Coarse points hit walls, corners and the boundary.
        U = np.vstack([rng.normal(size=(20, atlas.dim)) * 2, rng.integers(-4, 5, size=(20, atlas.dim)) / 2])
        ids = atlas.locate(U, outside="ignore")
        for u, cell in zip(U, ids, strict=True):
            exact = [Fraction(x) for x in u.tolist()]
            x = [
                Fraction(o) + sum((Fraction(e) * v for e, v in zip(row, exact, strict=True)), Fraction(0))
                for o, row in zip(case.domain.origin.tolist(), case.domain.basis.tolist(), strict=True)
            ]
            inside = all(
                sum((Fraction(a) * v for a, v in zip(row, point, strict=True)), Fraction(0)) <= Fraction(bound)
                for rows, bounds, point in (
                    (case.domain.input_rows, case.domain.input_offsets, x),
                    (case.domain.parameter_rows, case.domain.parameter_offsets, exact),
                )
                for row, bound in zip(rows.tolist(), bounds.tolist(), strict=True)
            )
            assert (cell >= 0) == inside, (case, u)
            assert cell < 0 or touches(atlas, cell, u), (case, u)
            outside += not inside
    assert outside > 20


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_vertices_and_facets_belong_to_cells_that_touch_them(seed):
    """Vertices are rounded, so they may fall outside the domain; those that do not must be found."""
    case, atlas = unfolded(seed)
    U = np.vstack(atlas.vertices())[:80]
    for u, cell in zip(U, atlas.locate(U, outside="ignore"), strict=True):
        assert cell < 0 or touches(atlas, cell, u), (case, u)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_case_and_any_coarse_point(seed, size, random):
    case = generated_case(seed, size=size)
    atlas = pf.unfold(case.program, case.domain, threads=1)
    u = [random.choice([-1.0, -0.5, 0.0, 0.1, 0.5, 1.0, 3.0]) for _ in range(atlas.dim)]
    (cell,) = atlas.locate([u], outside="ignore")
    assert cell < 0 or touches(atlas, cell, u), case


def test_points_exactly_on_walls_corners_and_the_boundary():
    atlas = pf.unfold(GRID, pf.box(-2, 2))
    marks = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
    U = np.array([[x, y] for x in marks for y in marks])
    ids = atlas.locate(U)
    assert (ids >= 0).all()
    rows = atlas.halfspaces(minimal=False)
    for u, cell in zip(U, ids, strict=True):
        A, b = rows[cell]
        assert (A @ u <= b).all()
        assert touches(atlas, cell, u)


def test_just_outside_is_outside():
    atlas = pf.unfold(CORNER, pf.box(-1, 1))
    edge = np.array([[1.0, 0.3], [-1.0, -1.0], [0.0, 1.0]])
    assert (atlas.locate(edge) >= 0).all()
    beyond = np.array([[np.nextafter(1.0, 2.0), 0.3], [-1.0, np.nextafter(-1.0, -2.0)]])
    assert atlas.locate(beyond, outside="ignore").tolist() == [-1, -1]
    with pytest.raises(DomainError, match=r"point 1, \[1\.0000000000000002, 0\.3\], lies outside the domain"):
        atlas.locate([[0.0, 0.0], beyond[0]])


def test_a_slanted_boundary_is_decided_exactly():
    """The bound is the rounded value at the point itself: only exact arithmetic knows on which side the point is."""
    rng = np.random.default_rng(0)
    sides = []
    for _ in range(40):
        row, point = rng.normal(size=2), rng.normal(size=2)
        exact = sum((Fraction(a) * Fraction(u) for a, u in zip(row.tolist(), point.tolist(), strict=True)), Fraction(0))
        for bound in (float(exact), float(row @ point)):
            atlas = pf.unfold(CORNER, pf.polytope([row], [bound]), threads=1)
            inside = bool(atlas.locate([point], outside="ignore")[0] >= 0)
            assert inside == (exact <= Fraction(bound))
            sides.append(inside)
    assert 10 < sum(sides) < 70


def test_far_away_points_do_not_overflow():
    atlas = pf.unfold(GRID)
    far = [[1e300, -1e300], [1.7e308, 1.7e308], [-1.7e308, 1e308]]
    with np.errstate(over="raise", invalid="raise"):
        ids = atlas.locate(far)
    assert all(touches(atlas, cell, u) for cell, u in zip(ids, far, strict=True))
    wedge = pf.unfold(CORNER, pf.polytope([[2.0, -2.0]], [-1.0]))
    with np.errstate(over="raise", invalid="raise"):
        assert wedge.locate([[1.7e308, 1.7e308]], outside="ignore").tolist() == [-1]
        assert wedge.locate([[-1.7e308, 1.7e308]], outside="ignore")[0] >= 0


@pytest.mark.parametrize("tiny", [5e-324, -5e-324, 1e-310, -1e-200])
def test_tiny_points_do_not_underflow(tiny):
    """0.3 * 5e-324 is zero in floats, and still on the positive side of the wall."""
    layers = [(np.array([[0.3], [1e-200]]), np.zeros(2)), (np.array([[0.1, -1e-200]]), np.zeros(1)), ([[1.0]], [0.0])]
    atlas = pf.unfold(layers)
    (cell,) = atlas.locate([[tiny]])
    assert touches(atlas, cell, [tiny])


def test_slices_take_parameters():
    atlas = pf.unfold(CORNER, pf.slice_of([0.5, 0.0], [1.0, -2.0], within=pf.box(-1, 1)))
    U = np.array([[-0.4], [-0.5], [0.0], [0.25], [0.5]])
    ids = atlas.locate(U)
    assert all(touches(atlas, cell, u) for cell, u in zip(ids, U, strict=True))
    A, c = atlas.maps(ids)
    expected, _ = atlas.program.evaluate(atlas.domain.lift(U))
    assert np.einsum("nij,nj->ni", A, atlas.domain.lift(U)) + c == pytest.approx(expected)
    assert atlas.locate([[0.6], [-0.51]], outside="ignore").tolist() == [-1, -1]


def test_special_shapes():
    for atlas in by_hand():
        assert atlas.locate(atlas.witnesses).tolist() == list(range(len(atlas)))
        assert atlas.locate(np.zeros((0, atlas.dim))).shape == (0,)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([0.0, 0.0, 0.0], r"rows of 2 numbers, or one such row; its shape is \(3,\)"),
        ([[0.0, 0.0, 0.0]], r"shape is \(1, 3\)"),
        ([[[0.0, 0.0, 0.0]]], r"shape is \(1, 1, 3\)"),
        (3.0, r"shape is \(\)"),
        ([[0.0, 0.0], [np.nan, 0.0]], r"points\[1, 0\] is nan"),
        ([[np.inf, 0.0]], r"points\[0, 0\] is inf"),
        ([["a", "b"]], "rows of 2 numbers"),
        ([[0.0, 1.0], [2.0]], "rows of 2 numbers"),
        ([[1j, 0.0]], "rows of 2 numbers"),
    ],
)
def test_points_that_are_no_points(points, words):
    with pytest.raises(ShapeError, match=words):
        pf.unfold(CORNER).locate(points)


def test_a_bad_option_is_named():
    with pytest.raises(PolyfoldError, match="outside must be 'error' or 'ignore', got 'skip'"):
        pf.unfold(CORNER).locate([[0.0, 0.0]], outside="skip")


def test_an_incomplete_atlas_says_what_it_does_not_cover():
    whole, part = pf.unfold(GRID, pf.box(-2, 2)), pf.unfold(GRID, pf.box(-2, 2), max_cells=3)
    ids = part.locate(whole.witnesses, outside="ignore")
    assert ids.tolist() == [0, 1, 2] + [-1] * (len(whole) - 3)
    with pytest.raises(DomainError, match=r"point 3, .* that this incomplete atlas does not cover"):
        part.locate(whole.witnesses)
    assert part.locate(whole.witnesses[:3]).tolist() == [0, 1, 2]
