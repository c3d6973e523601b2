"""The reference engine against counts from theory, hand-made degenerate networks, and generated ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from helpers.slow_params import quick_then_slow
from polyfold.domain.domain import box, polytope, slice_of
from polyfold.errors import DomainError
from polyfold.exact.linear_program import feasible_point, maximise, point_above
from polyfold.exact.rational import rational
from polyfold.testing import generated_case, program_from_layers, random_program
from polyfold.testing.reference import Facet, exact_at, reference_unfold


def as_sets(atlas):
    """Facets as {(walls, pattern across or None)} for each pattern: what can be written down by hand."""
    return {
        pattern: {(tuple(sorted(f.walls)), atlas.patterns[f.neighbour] if f.neighbour >= 0 else None) for f in facets}
        for pattern, facets in zip(atlas.patterns, atlas.facets, strict=True)
    }


def check_consistency(case, atlas):
    """What must hold for every atlas."""
    assert atlas.patterns == sorted(set(atlas.patterns))
    for i, (pattern, witness, (A, c)) in enumerate(zip(atlas.patterns, atlas.witnesses, atlas.maps, strict=True)):
        at_witness = exact_at(case.program, case.domain, witness)
        assert at_witness.pattern == pattern
        assert at_witness.outputs == [
            sum((a * u for a, u in zip(row, witness, strict=True)), constant)
            for row, constant in zip(A, c, strict=True)
        ]
        neighbours = [facet.neighbour for facet in atlas.facets[i] if facet.neighbour >= 0]
        assert len(neighbours) == len(set(neighbours))
        for facet in atlas.facets[i]:
            assert facet.walls
            if facet.neighbour >= 0:
                assert Facet(facet.walls, i) in atlas.facets[facet.neighbour]
                assert facet.neighbour != i
                assert all(wall < case.program.gates for wall in facet.walls)
                flipped = {g for g, on in enumerate(pattern) if on != atlas.patterns[facet.neighbour][g]}
                assert flipped <= facet.walls
    reached, queue = {0}, [0]
    while queue:
        news = {facet.neighbour for facet in atlas.facets[queue.pop()]} - reached - {-1}
        reached |= news
        queue += news
    assert len(reached) == len(atlas)


def zaslavsky(dim, walls):
    return sum(comb(walls, k) for k in range(dim + 1)), comb(walls - 1, dim)


@pytest.mark.parametrize(("dim", "walls"), [(1, 5), (2, 2), (2, 5), (2, 7), (3, 5), (4, 5), (5, 6)])
def test_one_generic_layer_has_as_many_cells_as_zaslavsky_says(dim, walls):
    program = random_program(np.random.default_rng(dim * 10 + walls), [dim, walls, 1])
    atlas = reference_unfold(program)
    cells, bounded = zaslavsky(dim, walls)
    assert (len(atlas), sum(atlas.bounded)) == (cells, bounded)
    # Each wall is cut by the others like a space of one dimension less; every piece is a facet of two cells.
    assert sum(map(len, atlas.facets)) == 2 * walls * zaslavsky(dim - 1, walls - 1)[0]


@pytest.mark.parametrize(("dim", "walls"), [(2, 4), (3, 4), (3, 5)])
def test_walls_through_the_origin(dim, walls):
    rng = np.random.default_rng(walls)
    program = program_from_layers([(rng.normal(size=(walls, dim)), np.zeros(walls)), (np.ones((1, walls)), [0.0])])
    atlas = reference_unfold(program)
    assert len(atlas) == 2 * sum(comb(walls - 1, k) for k in range(dim))
    assert not any(atlas.bounded)


@pytest.mark.parametrize("start", quick_then_slow(range(0, 240, 20), quick=4))
def test_generated_networks_are_consistent(start):
    for seed in range(start, start + 20):
        case = generated_case(seed)
        check_consistency(case, reference_unfold(case.program, case.domain))


@pytest.mark.parametrize(("seeds", "least"), [(24, 600), pytest.param(80, 2000, marks=pytest.mark.slow)])
def test_sampled_points_lie_in_listed_cells(seeds, least):
    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(seeds):
        case = generated_case(seed)
        atlas = reference_unfold(case.program, case.domain)
        listed = dict(zip(atlas.patterns, atlas.maps, strict=True))
        for u in rng.normal(size=(60, case.domain.dim)) * rng.choice([0.3, 1.0, 5.0], size=(60, 1)):
            if not inside(case.domain, u):
                continue
            point = [rational(value) for value in u]
            at_point = exact_at(case.program, case.domain, point)
            assert at_point.pattern in listed, case
            A, c = listed[at_point.pattern]
            values = [
                sum((a * x for a, x in zip(row, point, strict=True)), constant)
                for row, constant in zip(A, c, strict=True)
            ]
            assert at_point.outputs == values, case
            hits += 1
    assert hits > least


def inside(domain, u):
    """Safely inside: samples are no place to argue about the last digit."""
    x = domain.lift(u[None, :])[0]
    over_inputs = domain.input_rows @ x - domain.input_offsets
    over_parameters = domain.parameter_rows @ u - domain.parameter_offsets
    strict = np.concatenate([over_inputs[domain.input_rows @ domain.basis @ u != 0], over_parameters])
    return bool((strict < -1e-9).all())


def test_networks_of_one_variable_against_their_breakpoints():
    seen = 0
    for seed in range(400):
        case = generated_case(seed)
        domain = case.domain
        if domain.dim != 1:
            continue
        seen += 1
        atlas = reference_unfold(case.program, domain)
        chain = patterns_from_left_to_right(case.program, domain)
        assert sorted(chain) == atlas.patterns, case
        steps = {frozenset(pair) for pair in pairwise(chain)}
        found = {
            frozenset((atlas.patterns[i], atlas.patterns[f.neighbour]))
            for i, facets in enumerate(atlas.facets)
            for f in facets
            if f.neighbour >= 0
        }
        assert found == steps, case
    assert seen > 40


def ends_of(domain):
    """The open interval of parameters that a one-dimensional domain is; None for no end."""
    lows, highs = [], []
    rows = [
        (
            sum((rational(a) * rational(v) for a, v in zip(row, domain.basis[:, 0], strict=True)), fmpq(0)),
            rational(b) - sum((rational(a) * rational(o) for a, o in zip(row, domain.origin, strict=True)), fmpq(0)),
        )
        for row, b in zip(domain.input_rows, domain.input_offsets, strict=True)
    ]
    rows += [
        (rational(a), rational(b)) for (a,), b in zip(domain.parameter_rows, domain.parameter_offsets, strict=True)
    ]
    for a, b in rows:
        if a != 0:
            (highs if a > 0 else lows).append(b / a)
    return max(lows, default=None), min(highs, default=None)


def patterns_from_left_to_right(program, domain):
    """Between earlier stages' breakpoints a pre-activation is a line through two values: solve it."""
    intervals = [ends_of(domain)]
    for first, last in pairwise(program.first_gate):
        finer = []
        for left, right in intervals:
            one, two = two_points(left, right)
            at_one, at_two = (exact_at(program, domain, [u]).preactivations[first:last] for u in (one, two))
            zeros = {one - z1 * (two - one) / (z2 - z1) for z1, z2 in zip(at_one, at_two, strict=True) if z1 != z2}
            cuts = sorted(u for u in zeros if (left is None or left < u) and (right is None or u < right))
            finer += pairwise([left, *cuts, right])
        intervals = finer
    return [exact_at(program, domain, two_points(*interval)[:1]).pattern for interval in intervals]


def two_points(left, right):
    """Two points strictly between two ends, of which None is infinite."""
    if left is None and right is None:
        return fmpq(0), fmpq(1)
    if left is None:
        return right - 2, right - 1
    if right is None:
        return left + 1, left + 2
    return left + (right - left) / 3, left + (right - left) * 2 / 3


def closed_rows(program, domain, pattern):
    """Rows (wall, (constant, coefficients)) that are >= 0 on the closure of a pattern's cell.

    None if a constant gate contradicts the pattern. Plain loops over Fractions share nothing with the engine.
    """
    rows = []
    n, d = domain.basis.shape
    inputs = [[Fraction(domain.origin[i]), *map(Fraction, domain.basis[i])] for i in range(n)]
    for r in range(len(domain.input_rows)):
        line = [Fraction(domain.input_offsets[r])] + [Fraction(0)] * d
        for i in range(n):
            line = [value - Fraction(domain.input_rows[r, i]) * x for value, x in zip(line, inputs[i], strict=True)]
        rows.append((program.gates + r, line))
    for r in range(len(domain.parameter_rows)):
        line = [Fraction(domain.parameter_offsets[r]), *(-Fraction(a) for a in domain.parameter_rows[r])]
        rows.append((program.gates + len(domain.input_rows) + r, line))
    sources, gate = [inputs], 0
    for stage in program.stages:
        outputs = []
        for i in range(stage.width):
            line = [Fraction(stage.affine.bias[i])] + [Fraction(0)] * d
            for block in stage.affine.blocks:
                for weight, source in zip(block.weight[i], sources[block.source], strict=True):
                    line = [value + Fraction(weight) * x for value, x in zip(line, source, strict=True)]
            on = pattern[gate]
            if not any(line[1:]) and (line[0] > 0) != on:
                return None
            rows.append((gate, line if on else [-value for value in line]))
            outputs.append([Fraction((stage.slope_on if on else stage.slope_off)[i]) * value for value in line])
            gate += 1
        sources.append(outputs)
    return [(wall, line) for wall, line in rows if any(line[1:])]


def small_cases(*, gates, seeds):
    for seed in range(seeds):
        case = generated_case(seed)
        if case.program.gates <= gates and not any(word in case.description for word in ("tilted", "parallel")):
            yield case


@pytest.mark.parametrize(("seeds", "least"), [(50, 12), pytest.param(160, 40, marks=pytest.mark.slow)])
def test_every_pattern_tried_one_by_one(seeds, least):
    tried = 0
    for case in small_cases(gates=6, seeds=seeds):
        expected = [
            pattern
            for pattern in product([False, True], repeat=case.program.gates)
            if has_interior(closed_rows(case.program, case.domain, pattern), case.domain.dim)
        ]
        assert reference_unfold(case.program, case.domain).patterns == expected, case
        tried += 1
    assert tried > least


def has_interior(rows, dim):
    """By floats and HiGHS; rows closer than its tolerance are kept out of these tests."""
    if rows is None:
        return False
    lines = [np.array([float(value) for value in line]) for _, line in rows]
    lines = [line / np.abs(line[1:]).sum() for line in lines]
    A = np.array([[*(-line[1:]), 1.0] for line in lines]).reshape(-1, dim + 1)
    result = linprog(
        [0.0] * dim + [-1.0],
        A_ub=A if lines else None,
        b_ub=[line[0] for line in lines] or None,
        bounds=[(None, None)] * dim + [(None, 1.0)],
    )
    return result.status == 0 and -result.fun > 1e-9


@pytest.mark.parametrize(("seeds", "least"), [(40, 8), pytest.param(120, 25, marks=pytest.mark.slow)])
def test_two_cells_are_neighbours_iff_their_closures_share_a_facet(seeds, least):
    tried = 0
    for case in small_cases(gates=7, seeds=seeds):
        atlas = reference_unfold(case.program, case.domain)
        if not 2 <= len(atlas) <= 12:
            continue
        tried += 1
        cells = [closed_rows(case.program, case.domain, pattern) for pattern in atlas.patterns]
        for i, j in combinations(range(len(atlas)), 2):
            walls = {facet.neighbour: facet.walls for facet in atlas.facets[i]}.get(j)
            shared = shared_walls(case, cells[i] + cells[j])
            assert walls == shared, (case, i, j)
        for i, rows in enumerate(cells):
            ends = {shared_walls(case, [*rows, opposite(row)]) for row in rows if row[0] >= case.program.gates}
            assert ends - {None} == {facet.walls for facet in atlas.facets[i] if facet.neighbour == -1}, (
                case,
                i,
            )
            assert atlas.bounded[i] == is_bounded(rows, case.domain.dim), (case, i)
    assert tried > least


def opposite(row):
    wall, line = row
    return wall, [-value for value in line]


def is_bounded(rows, dim):
    """Whether every coordinate has a largest and a smallest value."""
    A, b = inequalities(rows)
    directions = [[fmpq(sign * (i == k)) for i in range(dim)] for k in range(dim) for sign in (1, -1)]
    return all(maximise(direction, A, b).status == "optimal" for direction in directions)


def inequalities(rows):
    """A and b of A u <= b."""
    exact = [[fmpq(x.numerator, x.denominator) for x in line] for _, line in rows]
    return [[-x for x in line[1:]] for line in exact], [line[0] for line in exact]


def shared_walls(case, rows):
    """The gates that vanish on the intersection of two closed cells, if that has dimension d - 1; else None.

    A row vanishes there if its largest value is zero; the rows that do cut out the affine hull.
    """
    dim = case.domain.dim
    A, b = inequalities(rows)
    start = feasible_point(A, b, dim)
    if start is None:
        return None
    hull = [i for i in range(len(A)) if point_above([-x for x in A[i]], -b[i], A, b, start) is None]
    if fmpq_mat(len(hull), dim, [x for i in hull for x in A[i]]).rank() != 1:
        return None
    return frozenset(rows[i][0] for i in hull)


def test_two_parallel_walls_make_three_cells():
    xor = program_from_layers([([[1.0, 1.0], [1.0, 1.0]], [1.0, 0.0]), ([[1.0, -2.0]], [0.0])])
    atlas = reference_unfold(xor)
    off, between, on = (False, False), (True, False), (True, True)
    assert as_sets(atlas) == {
        off: {((0,), between)},
        between: {((0,), off), ((1,), on)},
        on: {((1,), between)},
    }
    assert atlas.bounded == [False] * 3
    assert atlas.maps[1] == (((1, 1),), (1,))


def test_duplicates_share_their_facets():
    program = program_from_layers([([[1.0], [3.0], [-2.0]], [-1.0, -3.0, 2.0]), ([[1.0, 1.0, 1.0]], [0.0])])
    left, right = (False, False, True), (True, True, False)
    assert as_sets(reference_unfold(program)) == {left: {((0, 1, 2), right)}, right: {((0, 1, 2), left)}}


def test_an_absolute_value_in_one_gate():
    program = program_from_layers([([[1.0]], [0.0]), ([[1.0]], [0.0])], slopes=[(1.0, -1.0)])
    atlas = reference_unfold(program)
    assert as_sets(atlas) == {(False,): {((0,), (True,))}, (True,): {((0,), (False,))}}
    assert atlas.maps == [(((-1,),), (0,)), (((1,),), (0,))]


def test_a_gate_that_touches_zero_and_comes_back_is_listed():
    program = program_from_layers(
        [([[1.0], [-1.0]], [0.0, 0.0]), ([[-1.0, -1.0]], [0.0]), ([[1.0]], [0.0])],
    )
    left, right = (False, True, False), (True, False, False)
    assert as_sets(reference_unfold(program)) == {left: {((0, 1, 2), right)}, right: {((0, 1, 2), left)}}


def test_a_gate_that_vanishes_on_one_side_only_is_a_wall_from_both():
    program = program_from_layers([([[1.0]], [0.0]), ([[1.0]], [0.0]), ([[1.0]], [0.0])])
    left, right = (False, False), (True, True)
    assert as_sets(reference_unfold(program)) == {left: {((0, 1), right)}, right: {((0, 1), left)}}
    negative = program_from_layers([([[1.0]], [0.0]), ([[-1.0]], [0.0]), ([[1.0]], [0.0])])
    left, right = (False, False), (True, False)
    assert as_sets(reference_unfold(negative)) == {left: {((0, 1), right)}, right: {((0, 1), left)}}


def test_a_gate_that_vanishes_on_both_sides_is_no_wall():
    program = program_from_layers(
        [([[1.0], [-1.0]], [-1.0, -1.0]), ([[1.0, 1.0], [0.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    )
    middle, right = (False,) * 4, (True, False, True, False)
    facets = as_sets(reference_unfold(program))
    assert facets[middle] == {((0, 2), right), ((1, 2), (False, True, True, False))}


def test_constant_gates_make_no_cells():
    program = program_from_layers([(np.zeros((3, 2)), [1.0, 0.0, -1.0]), (np.ones((1, 3)), [0.0])])
    atlas = reference_unfold(program)
    assert (atlas.patterns, atlas.facets, atlas.bounded) == ([(True, False, False)], [[]], [False])


def test_no_gates_at_all():
    atlas = reference_unfold(program_from_layers([([[2.0, 3.0]], [1.0])]))
    assert (atlas.patterns, atlas.facets, atlas.bounded) == ([()], [[]], [False])
    assert atlas.maps == [(((2, 3),), (1,))]
    boxed = reference_unfold(program_from_layers([([[2.0, 3.0]], [1.0])]), box(0.0, 1.0))
    assert boxed.facets == [[Facet(frozenset([r]), -1) for r in range(4)]]
    assert boxed.bounded == [True]


def test_walls_on_the_faces_and_corners_of_the_domain():
    # x = 1 on a face of the box, x + y = 2 at a corner, and x + y = 0 through two corners.
    program = program_from_layers([([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [-1.0, -2.0, 0.0]), (np.ones((1, 3)), [0.0])])
    atlas = reference_unfold(program, box(-1.0, 1.0))
    below, above = (False, False, False), (False, False, True)
    # Rows of the box: -x, -y, x, y <= 1, numbered from 3 on.
    assert as_sets(atlas) == {
        below: {((2,), above), ((3,), None), ((4,), None)},
        above: {((2,), below), ((0, 5), None), ((6,), None)},
    }


def test_duplicate_rows_are_all_listed_and_redundant_ones_are_not():
    program = program_from_layers([([[1.0]], [-5.0]), ([[1.0]], [0.0])])
    rows = polytope([[1.0], [2.0], [1.0], [0.0], [-1.0]], [1.0, 2.0, 2.0, 0.0, 0.0])
    assert as_sets(reference_unfold(program, rows)) == {(False,): {((1, 2), None), ((5,), None)}}


def test_a_slice_lives_in_its_parameters():
    program = program_from_layers([([[1.0, 1.0, 0.0]], [0.0]), ([[1.0]], [0.5])])
    diagonal = slice_of([1.0, 1.0, 7.0], [1.0, 1.0, 0.0], within=box(-3.0, 7.0), bounds=box(-2.0, 10.0))
    atlas = reference_unfold(program, diagonal)
    assert atlas.maps == [(((0,),), (fmpq(1, 2),)), (((2,),), (fmpq(5, 2),))]
    # Rows over x: -x_k <= 3 and x_k <= 7 (x_2 <= 7 holds with equality everywhere); then -u <= 2 and u <= 10.
    assert as_sets(atlas) == {
        (False,): {((0,), (True,)), ((7,), None)},
        (True,): {((0,), (False,)), ((4, 5), None)},
    }


def test_slivers_between_almost_equal_walls_are_found():
    close = np.nextafter(1.0, 2.0)
    program = program_from_layers([([[1.0, 1.0], [1.0, close]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    assert len(reference_unfold(program)) == 4
    assert len(reference_unfold(program, box(1.0, 2.0))) == 1


def test_empty_and_flat_domains_are_refused():
    program = random_program(np.random.default_rng(0), [2, 2, 1])
    with pytest.raises(DomainError, match="empty: no point"):
        reference_unfold(program, polytope([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0]))
    with pytest.raises(DomainError, match="empty: its row 1 holds nowhere"):
        reference_unfold(program, polytope([[1.0, 0.0], [0.0, 0.0]], [0.0, -1.0]))
    with pytest.raises(DomainError, match="flat"):
        reference_unfold(program, polytope([[1.0, 0.0], [-1.0, 0.0]], [1.0, -1.0]))


def test_bounded_cells_of_an_unbounded_domain():
    program = program_from_layers([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -1.0]), (np.ones((1, 3)), [0.0])])
    atlas = reference_unfold(program, polytope([[-1.0, 0.0]], [0.0]))
    bounded = dict(zip(atlas.patterns, atlas.bounded, strict=True))
    assert bounded == {
        (True, True, False): True,
        (True, True, True): False,
        (True, False, False): False,
        (True, False, True): False,
    }
