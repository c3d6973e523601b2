"""Boxes around and inside cells and regions, against linear programs, exact corners and duality."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import polyfold as pf
from helpers.atlas_oracles import CORNER, by_hand, extent, largest_ball, rows_of
from helpers.slow_params import examples
from polyfold.atlas.atlas import Atlas
from polyfold.datasets import iris
from polyfold.errors import LimitError, PolyfoldError, ShapeError
from polyfold.exact.rational import rational, rational_matrix
from polyfold.program.passes.rationals import evaluate_exactly
from polyfold.stats.boxes import outer
from polyfold.testing import Case, generated_case
from polyfold.testing.strategies import cases

SEEDS = range(40)


def unfolded(case: Case) -> Atlas:
    return pf.unfold(case.program, case.domain, threads=1)


def exactly_inside(atlas: Atlas, cell: int, corner: list[fmpq]) -> bool:
    """Whether a point lies in the closed cell: the network's own signs there contradict none of the cell's."""
    domain = atlas.domain
    x = rational_matrix(domain.basis) * fmpq_mat(domain.dim, 1, corner)
    point = [x[i, 0] + rational(float(domain.origin[i])) for i in range(domain.input_dim)]
    values = evaluate_exactly(atlas.program, point).preactivations
    if not all(z >= 0 if on else z <= 0 for z, on in zip(values, atlas.signs([cell])[0], strict=True)):
        return False
    return all(
        sum((rational(float(a)) * y for a, y in zip(row, place, strict=True)), fmpq(0)) <= rational(float(offset))
        for rows, offsets, place in (
            (domain.input_rows, domain.input_offsets, point),
            (domain.parameter_rows, domain.parameter_offsets, corner),
        )
        for row, offset in zip(rows, offsets, strict=True)
    )


def corners(lo: np.ndarray, hi: np.ndarray) -> list[list[fmpq]]:
    return [[rational(float(x)) for x in corner] for corner in product(*zip(lo, hi, strict=True))]


# -- around


@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_around_cells_agree_with_linear_programs(seed):
    atlas = unfolded(generated_case(seed))
    ids = np.random.default_rng(seed).permutation(len(atlas))[:6]
    found = pf.stats.boxes(atlas, ids=ids)
    for i, cell in enumerate(ids):
        A, b = rows_of(atlas, int(cell))
        for k, axis in enumerate(np.eye(atlas.dim)):
            high, low = extent(A, b, axis), -extent(A, b, -axis)
            size = max(1.0, *(abs(x) for x in (high, low) if np.isfinite(x)), 0.0)
            assert found.hi[i, k] == pytest.approx(high, abs=1e-6 * size)
            assert found.lo[i, k] == pytest.approx(low, abs=1e-6 * size)


def test_linear_programs_find_what_vertices_say():
    for atlas in (pf.unfold(iris(), pf.box(0, 8)), pf.unfold(iris()), unfolded(generated_case(12))):
        expected = pf.stats.boxes(atlas)
        lo, hi = outer.by_programs(atlas, atlas.ids())
        np.testing.assert_allclose(lo, expected.lo, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(hi, expected.hi, rtol=1e-7, atol=1e-7)


def test_high_dimension_where_the_atlas_refuses_vertices():
    rng = np.random.default_rng(3)
    dim = 24
    layers = [(rng.normal(size=(4, dim)), 0.1 * rng.normal(size=4)), (rng.normal(size=(1, 4)), np.zeros(1))]
    atlas = pf.unfold(layers, pf.box(-1, 1))
    with pytest.raises(LimitError):
        atlas.bounding_boxes([0])
    found = pf.stats.boxes(atlas, ids=[0, 1])
    for i, cell in enumerate((0, 1)):
        A, b = rows_of(atlas, cell)
        for k in (0, 7, dim - 1):
            assert found.hi[i, k] == pytest.approx(extent(A, b, np.eye(dim)[k]), abs=1e-7)
    with pytest.raises(LimitError):
        found.volumes  # noqa: B018
    assert "volume" not in found.to_pandas() and "ball_radius" in found.to_pandas()
    lo, hi = found.enclosing
    assert ((lo >= -1) & (hi <= 1)).all() and (lo <= found.lo + 1e-9).all() and (hi >= found.hi - 1e-9).all()
    assert not np.isnan(found.inner_lo).any()
    rows = atlas.halfspaces([0, 1])
    for i in range(2):
        A, b = rows[i]
        top = np.maximum(A * found.inner_lo[i], A * found.inner_hi[i]).sum(axis=1)
        assert (top <= b).all()


def exact_vertices(atlas: Atlas, cell: int) -> list[list[fmpq]]:
    """The corners of a cell: wherever d walls meet in a point of the closed cell, in rationals."""
    rows, bounds = exact_rows(atlas, cell)
    found = []
    for chosen in combinations(range(len(rows)), atlas.dim):
        system = fmpq_mat(atlas.dim, atlas.dim, [x for r in chosen for x in rows[r]])
        if system.det() == 0:
            continue
        point = system.solve(fmpq_mat(atlas.dim, 1, [bounds[r] for r in chosen]))
        corner = [point[k, 0] for k in range(atlas.dim)]
        if exactly_inside(atlas, cell, corner):
            found.append(corner)
    return found


def exact_rows(atlas: Atlas, cell: int) -> tuple[list[list[fmpq]], list[fmpq]]:
    """Walls a . u = b, by carrying rational forms forward under the cell's pattern."""
    domain, signs = atlas.domain, atlas.signs([cell])[0]
    columns = np.column_stack([domain.basis, domain.origin])
    sources, rows, first = [rational_matrix(columns)], [], 0
    for stage in atlas.program.stages:
        z = fmpq_mat(stage.width, domain.dim + 1)
        for block in stage.affine.blocks:
            z += rational_matrix(block.weight) * sources[block.source]
        for g in range(stage.width):
            z[g, domain.dim] += rational(float(stage.affine.bias[g]))
        rows += z.tolist()
        slope = np.where(signs[first : first + stage.width], stage.slope_on, stage.slope_off)
        lines = [[rational(float(slope[g])) * x for x in line] for g, line in enumerate(z.tolist())]
        sources.append(fmpq_mat(stage.width, domain.dim + 1, [x for line in lines for x in line]))
        first += stage.width
    walls = [(row[:-1], -row[-1]) for row in rows]
    if len(domain.input_rows):
        over = (rational_matrix(domain.input_rows) * sources[0]).tolist()
        offsets = domain.input_offsets.tolist()
        walls += [(row[:-1], rational(b) - row[-1]) for row, b in zip(over, offsets, strict=True)]
    for row, b in zip(domain.parameter_rows, domain.parameter_offsets.tolist(), strict=True):
        walls.append(([rational(float(x)) for x in row], rational(b)))
    return [a for a, _ in walls], [b for _, b in walls]


@settings(max_examples=examples(60), deadline=None)
@given(cases(max_size=4))
def test_enclosing_boxes_hold_the_exact_corners(case):
    atlas = unfolded(case)
    if atlas.dim > 3:
        return
    ids = np.arange(len(atlas))[:: max(1, len(atlas) // 4)]
    found = pf.stats.boxes(atlas, ids=ids)
    lo, hi = found.enclosing
    assert ((lo == -np.inf) == (found.lo == -np.inf)).all() and ((hi == np.inf) == (found.hi == np.inf)).all()
    for i, cell in enumerate(ids):
        for corner in exact_vertices(atlas, int(cell)):
            for k, x in enumerate(corner):
                assert lo[i, k] == -np.inf or rational(float(lo[i, k])) <= x
                assert hi[i, k] == np.inf or rational(float(hi[i, k])) >= x
    side = np.where(np.isfinite(found.sides), found.sides, 1 + np.abs(np.nan_to_num(found.lo, neginf=0)))
    finite = np.isfinite(found.lo)
    assert (found.lo[finite] - lo[finite] <= (1e-6 * side + 1e-9 * np.abs(found.lo))[finite]).all()


def test_infinite_sides_stay_infinite():
    atlas = pf.unfold(CORNER)
    found = pf.stats.boxes(atlas, ids=atlas.locate([[1.0, 1.0], [-1.0, 1.0]]))
    assert found.lo.tolist() == [[0.0, 0.0], [-np.inf, 0.0]]
    assert found.hi.tolist() == [[np.inf, np.inf], [0.0, np.inf]]
    assert found.enclosing[0].tolist() == found.lo.tolist() and found.enclosing[1].tolist() == found.hi.tolist()
    assert np.isinf(found.size).all() and np.isnan(found.centre).all()
    assert np.isnan(found.inner_lo).all() and np.isinf(found.inner_cube_size).all()
    assert np.isinf(found.ball_radius).all() and np.isnan(found.faithfulness).all()


def test_the_smallest_hypercube():
    atlas = pf.unfold([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])], pf.box([-1, 0], [3, 1]))
    found = pf.stats.boxes(atlas, ids=atlas.locate([[2.0, 0.5], [-0.5, 0.5]]))
    assert found.centre.tolist() == [[1.5, 0.5], [-0.5, 0.5]]
    assert found.size.tolist() == [3.0, 1.0]
    np.testing.assert_allclose(found.faithfulness, 1.0)
    np.testing.assert_allclose(found.cube_faithfulness, [1 / 3, 1.0])
    np.testing.assert_allclose(found.inner_faithfulness, 1.0)


# -- inside


@settings(max_examples=examples(60), deadline=None)
@given(cases(max_size=5))
def test_inner_boxes_lie_inside(case):
    """Every corner of the box is a point of the closed cell, in rationals; so by convexity is the whole box."""
    atlas = unfolded(case)
    if atlas.dim > 4:
        return
    ids = np.arange(len(atlas))[:: max(1, len(atlas) // 4)]
    found = pf.stats.boxes(atlas, ids=ids)
    for i, cell in enumerate(ids):
        if not atlas.bounded[cell]:
            assert np.isnan(found.inner_lo[i]).all()
        elif not np.isnan(found.inner_lo[i]).any():
            assert (found.inner_lo[i] < found.inner_hi[i]).all()
            assert all(exactly_inside(atlas, int(cell), c) for c in corners(found.inner_lo[i], found.inner_hi[i]))
        half = found.inner_cube_size[i] / 2
        if np.isfinite(half):
            # The cube's own corners in floats may be rounded outwards: look a little nearer.
            inner = found.inner_cube_centre[i] - half * (1 - 1e-9), found.inner_cube_centre[i] + half * (1 - 1e-9)
            assert half * 1e-9 < 1e-14 * np.abs(inner).max() or all(
                exactly_inside(atlas, int(cell), c) for c in corners(*inner)
            )


def test_nothing_larger_fits():
    """Bounds on boxes from above, and linear programs for cubes and balls, leave no room.

    Slivers are left out: the oracle's rounded rows do not know their width, and boxes in them are proved above.
    """
    looked_at = 0
    for seed in SEEDS:
        atlas = unfolded(generated_case(seed))
        ids = np.flatnonzero(atlas.bounded)[:4]
        found = pf.stats.boxes(atlas, ids=ids)
        for i, cell in enumerate(ids):
            A, b = rows_of(atlas, int(cell))
            radius = largest_ball(A, b)
            if radius < 1e-7:
                continue
            looked_at += 1
            assert found.ball_radius[i] == pytest.approx(radius, rel=1e-6)
            steep = np.linalg.norm(A, ord=1, axis=1)
            assert found.inner_cube_size[i] == pytest.approx(2 * largest_ball(A / steep[:, None], b / steep), rel=1e-6)
            assert volume_bound(A, b, found, i) <= 1e-8
    assert looked_at > 100


def volume_bound(A: np.ndarray, b: np.ndarray, found: pf.stats.Boxes, i: int) -> float:
    """By how much the log volume of any box in the cell can exceed that of the box found, by duality.

    Any box |u - c'| <= h' inside has A c' + |A| h' <= b. So for l >= 0 and g = l |A|, g . h' <= l . b - (l A) . c', and
    by the inequality of the means sum log h' <= d log(g . h' / d) - sum log g. At the optimum some l has l A = 0,
    g = 1 / h and no weight on rows that do not touch the box, which makes this tight; nnls looks for it.
    """
    c, h = (found.inner_hi[i] + found.inner_lo[i]) / 2, (found.inner_hi[i] - found.inner_lo[i]) / 2
    scale, dim = found.sides[i], len(h)
    b, A, h = b - A @ c, A * scale, h / scale
    system = np.concatenate([A.T, np.abs(A).T * h[:, None], b[None]])
    multipliers, _ = nnls(system, np.concatenate([np.zeros(dim), np.ones(dim), [dim]]))
    # Scaled by its sides and seen from the box, the cell reaches from -1 to 1 at most.
    most = multipliers @ b + np.abs(multipliers @ A).sum()
    return float(dim * np.log(most / dim) - np.log(multipliers @ np.abs(A)).sum() - np.log(h).sum())


def test_the_largest_box_in_a_triangle_and_in_a_simplex():
    """In {u >= 0, sum u <= 1} it has sides 1 / d, and covers d! / d^d of the volume."""
    for dim, covered in ((2, 1 / 2), (3, 6 / 27), (4, 24 / 256)):
        atlas = pf.unfold([(np.ones((1, dim)), [-1.0]), ([[1.0]], [0.0])], pf.box(0, 2))
        found = pf.stats.boxes(atlas, ids=atlas.locate(np.full((1, dim), 0.1)))
        np.testing.assert_allclose(found.inner_lo, 0.0, atol=1e-8)
        np.testing.assert_allclose(found.inner_hi, 1 / dim, atol=1e-7)
        np.testing.assert_allclose(found.inner_faithfulness, covered, rtol=1e-8)
        np.testing.assert_allclose(found.inner_cube_size, 1 / dim, rtol=1e-9)
        np.testing.assert_allclose(found.faithfulness, 1 / np.prod(np.arange(1, dim + 1)), rtol=1e-9)


def test_iris():
    atlas = pf.unfold(iris(), pf.box([0, 0], [8, 3]))
    found = pf.stats.boxes(atlas)
    assert all(volume_bound(*rows_of(atlas, cell), found, cell) <= 1e-8 for cell in range(len(atlas)))
    assert (found.inner_faithfulness <= 0.5 + 1e-9).any() and (found.faithfulness <= 1 + 1e-12).all()
    corners = [np.asarray(vertices) for vertices in atlas.vertices()]
    np.testing.assert_allclose(found.lo, [vertices.min(axis=0) for vertices in corners], atol=1e-12)
    # Where cells end with the domain, they end there to the last digit.
    assert (found.hi[:, 0].max(), found.hi[:, 1].max(), found.lo.min()) == (8.0, 3.0, 0.0)
    assert ((found.hi == [8.0, 3.0]) | (found.hi < [8.0 - 1e-9, 3.0 - 1e-9])).all()


def test_a_cell_too_thin_for_floats_is_said_to_be_unknown():
    """The walls x = 1 and 3 x = the next float after 3: no float lies between them."""
    layers = [([[1.0], [3.0]], [-1.0, -np.nextafter(3.0, 4.0)]), ([[1.0, 1.0]], [0.0])]
    atlas = pf.unfold(layers, pf.box(0, 2))
    assert len(atlas) == 3
    found = pf.stats.boxes(atlas)
    (thin,) = np.flatnonzero(found.sides[:, 0] < 0.5)
    lo, hi = found.enclosing
    assert lo[thin, 0] == 1.0 and hi[thin, 0] == 1.0000000000000002
    assert np.isnan(found.inner_lo[thin]).all()
    assert not np.isnan(np.delete(found.inner_lo, thin, axis=0)).any()


def test_a_cell_of_a_few_floats_is_settled_exactly():
    """Between x = 1 and 3 x = 3 + 24 steps of a float lie some twenty floats; error bounds of floats are wider."""
    layers = [([[1.0], [3.0]], [-1.0, -(3.0 + 24 * (np.nextafter(3.0, 4.0) - 3.0))]), ([[1.0, 1.0]], [0.0])]
    atlas = pf.unfold(layers, pf.box(0, 2))
    (thin,) = atlas.locate([[1.0 + 2.0**-50]])
    found = pf.stats.boxes(atlas, ids=[thin])
    assert 0 < found.sides[0, 0] < 1e-14
    assert (found.inner_lo < found.inner_hi).all()
    assert all(exactly_inside(atlas, int(thin), corner) for corner in corners(found.inner_lo[0], found.inner_hi[0]))
    assert found.inner_hi[0, 0] - found.inner_lo[0, 0] > 0.5 * found.sides[0, 0]


def test_an_unheard_gate_in_a_large_region_takes_no_time():
    """Forty gates that no output hears cut the plane into some 800 cells, which are one convex region."""
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(40, 2)), rng.normal(size=40)), (np.zeros((1, 40)), np.ones(1))]
    atlas = pf.unfold(layers, pf.box(-1, 1))
    merged = pf.regions(atlas)
    assert len(merged) == 1 < 300 < len(atlas)
    found = pf.stats.boxes(merged)
    assert found.convex.all()
    np.testing.assert_allclose(found.inner_hi - found.inner_lo, 2.0, rtol=1e-6)
    assert found.faithfulness[0] == pytest.approx(1.0)


# -- regions


def test_boxes_around_regions_hold_those_of_their_cells():
    for seed in SEEDS:
        atlas = unfolded(generated_case(seed))
        merged = pf.regions(atlas)
        found, of_cells = pf.stats.boxes(merged), pf.stats.boxes(atlas)
        for i, cells in enumerate(merged.cells):
            assert (found.lo[i] == of_cells.lo[cells].min(axis=0)).all()
            assert (found.hi[i] == of_cells.hi[cells].max(axis=0)).all()
        assert len(found) == len(merged)


def test_a_convex_region_is_looked_into_as_a_whole():
    # The second gate is not heard: the square is one region of two cells on either side of x = 0.
    layers = [(np.array([[1.0, 0.0]]), np.zeros(1)), (np.zeros((1, 1)), np.ones(1))]
    atlas = pf.unfold(layers, pf.box(-1, 1))
    merged = pf.regions(atlas)
    assert (len(atlas), len(merged)) == (2, 1)
    found = pf.stats.boxes(merged)
    assert found.convex.tolist() == [True]
    np.testing.assert_allclose(found.inner_hi, [[1.0, 1.0]], atol=1e-7)
    np.testing.assert_allclose(found.inner_lo, [[-1.0, -1.0]], atol=1e-7)
    np.testing.assert_allclose(found.ball_radius, [1.0], rtol=1e-9)
    np.testing.assert_allclose(found.inner_cube_size, [2.0], rtol=1e-9)


def test_of_a_region_that_is_not_convex_the_best_cell_counts():
    # relu(min(x, y)) is zero on an L-shaped set; min(x, y) = x - relu(x - y).
    layers = [
        (np.array([[1.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]), np.zeros(3)),
        (np.array([[-1.0, 1.0, -1.0]]), np.zeros(1)),
        (np.ones((1, 1)), np.zeros(1)),
    ]
    atlas = pf.unfold(layers, pf.box(-2, 1))
    merged = pf.regions(atlas)
    region = int(merged.label[atlas.locate([[-1.0, -1.0]])[0]])
    inside = merged.cells[region]
    found, cells = pf.stats.boxes(merged, ids=[region]), pf.stats.boxes(atlas, ids=inside)
    assert len(inside) > 1 and found.convex.tolist() == [False]
    assert found.volumes[0] == pytest.approx(8.0)
    assert found.faithfulness[0] == pytest.approx(8 / 9)
    assert found.ball_radius[0] == cells.ball_radius.max()
    assert found.inner_cube_size[0] == cells.inner_cube_size.max()
    best = int((cells.inner_hi - cells.inner_lo).prod(axis=1).argmax())
    assert (found.inner_lo[0] == cells.inner_lo[best]).all() and (found.inner_hi[0] == cells.inner_hi[best]).all()


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**31))
def test_convex_means_convex(seed):
    """Midpoints of points of a region that is called convex lie in it."""
    case = generated_case(seed, size=4)
    atlas = unfolded(case)
    merged = pf.regions(atlas)
    found = pf.stats.boxes(merged)
    for i in np.flatnonzero(found.convex):
        # Witnesses that only rationals can name are no floats inside.
        points = atlas.witnesses[[cell for cell in merged.cells[i] if cell not in atlas.exact_witnesses]]
        middles = (points[:, None] + points[None]).reshape(-1, atlas.dim) / 2
        assert (merged.label[atlas.locate(middles)] == i).all()


# -- the result


def test_special_shapes():
    for atlas in by_hand():
        found = pf.stats.boxes(atlas)
        assert found.lo.shape == found.hi.shape == (len(atlas), atlas.dim)
        lo, hi = found.enclosing
        assert (lo <= atlas.witnesses).all() and (atlas.witnesses <= hi).all()
        frame = found.to_pandas()
        assert len(frame) == len(atlas) and frame.index.name == "cell"
        assert (np.isnan(found.inner_lo).any(axis=1) == ~atlas.bounded).all()


def test_arrays_are_read_only_and_kept():
    found = pf.stats.boxes(pf.unfold(iris(), pf.box(0, 8)))
    for name in ("ids", "lo", "hi", "sides", "centre", "size", "inner_lo", "ball_radius", "volumes", "faithfulness"):
        array = getattr(found, name)
        assert getattr(found, name) is array
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert repr(found) == f"Boxes of {len(found)} cells in 2 dimensions, {len(found)} bounded; checked, complete"
    assert pf.stats.boxes(pf.regions(found.atlas), ids=[0]).to_pandas().index.name == "region"


def test_no_ids_at_all():
    atlas = pf.unfold(iris(), pf.box(0, 8))
    for found in (pf.stats.boxes(atlas, ids=[]), pf.stats.boxes(pf.regions(atlas), ids=[])):
        assert len(found) == 0
        assert len(found.to_pandas()) == 0 and found.enclosing[0].shape == (0, 2)


def test_bad_input():
    atlas = pf.unfold(iris(), pf.box(0, 8))
    with pytest.raises(IndexError, match="no cell 999"):
        pf.stats.boxes(atlas, ids=[999])
    with pytest.raises(IndexError, match="no region -1"):
        pf.stats.boxes(pf.regions(atlas), ids=[-1])
    with pytest.raises(ShapeError, match="region ids must be whole numbers"):
        pf.stats.boxes(pf.regions(atlas), ids=[0.5])
    with pytest.raises(PolyfoldError, match="must be a pair"):
        pf.stats.boxes([1, 2])


def test_one_program_for_many_cells_is_what_one_program_each_says():
    atlas = pf.unfold(iris(), pf.box(0, 8))
    rows = outer.facet_rows(atlas, atlas.ids())
    together = outer.farthest(rows, atlas.witnesses, 0, 1)[0]
    for cell in range(len(atlas)):
        alone = outer.farthest(outer.facet_rows(atlas, np.array([cell])), atlas.witnesses[[cell]], 0, 1)[0]
        assert alone[0] == pytest.approx(together[cell], abs=1e-9)
