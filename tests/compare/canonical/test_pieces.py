"""Canonical pieces: one for every point, the right map on each, and the same ones for all networks of a function."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import polyfold as pf
from compare.canonical.test_rewrites import base
from helpers.atlas_oracles import by_hand, unfolded
from helpers.same_function import rewritten
from helpers.slow_params import quick_then_slow
from polyfold.compare.canonical.centre import centre
from polyfold.domain.points import contains_exactly, exact_lift
from polyfold.program.passes.rationals import RationalProgram


def value(row, point):
    return sum((a * x for a, x in zip(row, point, strict=False)), fmpq(row[-1]))


def holds(condition, point):
    at = value(condition.row, point)
    return at > 0 or (at == 0 and condition.closed)


def special_points(atlas, pieces, rng):
    """Points inside cells, on hyperplanes between them, and where several hyperplanes meet."""
    witnesses = [atlas.rational_witness(cell) for cell in range(len(atlas))]
    yield from witnesses
    rows = sorted({condition.row for piece in pieces for condition in piece.conditions})
    for start, end in pairwise(witnesses):
        for row in rows:
            before, after = value(row, start), value(row, end)
            if before != after:
                share = before / (before - after)
                yield [x + share * (y - x) for x, y in zip(start, end, strict=True)]
    d = atlas.dim
    for piece in pieces:
        for _ in range(4 if len(piece.conditions) >= d else 0):
            some = [piece.conditions[i].row for i in rng.permutation(len(piece.conditions))[:d]]
            matrix = fmpq_mat([[fmpq(x) for x in row[:-1]] for row in some])
            if matrix.det() != 0:
                yield [line[0] for line in matrix.solve(fmpq_mat([[fmpq(-row[-1])] for row in some])).tolist()]


def check(atlas, what):
    pieces = pf.compare.canonical(atlas).pieces
    program = RationalProgram(atlas.program)
    looked_at = 0
    for point in special_points(atlas, pieces, np.random.default_rng(2)):
        if not contains_exactly(atlas.domain, point):
            continue
        (piece,) = (piece for piece in pieces if all(holds(condition, point) for condition in piece.conditions))
        inputs = exact_lift(atlas.domain, fmpq_mat(len(point), 1, list(point)))
        lines = [[fmpq(x.numerator, x.denominator) for x in line] for line in piece.map]
        assert [[value(line, point)] for line in lines] == program.forward(inputs).outputs, what
        looked_at += 1
    assert looked_at >= len(atlas)
    return pieces


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_every_point_has_one_piece_and_its_value(batch):
    merged = cut = 0
    for seed in range(batch, 160, 4):
        case, atlas = unfolded(seed)
        if len(atlas) <= 30 and atlas.dim <= 4:
            found, pieces = pf.regions(atlas), check(atlas, case)
            merged += len(found) < len(atlas)
            cut += len(pieces) > len(found)
    assert batch % 2 == 0 or merged > 2
    assert batch % 2 == 0 or cut > 0


def test_atlases_made_by_hand():
    for atlas in by_hand():
        check(atlas, atlas)


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_rewritten_networks_have_the_same_pieces(batch):
    for seed in range(batch, 80, 4):
        program, domain, what = base(seed)
        other, how = rewritten(np.random.default_rng([seed, 14]), program, 2)
        atlas = pf.unfold(other, domain)
        if len(atlas) <= 100:
            assert pf.compare.canonical(program, domain).pieces == pf.compare.canonical(atlas).pieces, (what, how)


def test_a_region_that_is_not_convex():
    """relu(min(x, y)) is zero on an L, which is cut in three along both of its lines."""
    layers = [([[1.0, -1.0], [1, 0], [-1, 0]], [0.0, 0, 0]), ([[-1.0, 1, -1]], [0.0]), ([[1.0]], [0.0])]
    atlas = pf.unfold(layers)
    pieces = pf.compare.canonical(atlas).pieces
    assert sorted([condition.row for condition in piece.conditions] for piece in pieces) == [
        [(-1, 0, 0), (0, -1, 0)],
        [(-1, 0, 0), (0, 1, 0)],
        [(-1, 1, 0), (1, 0, 0)],
        [(0, -1, 0), (1, 0, 0)],
        [(0, 1, 0), (1, -1, 0)],
    ]
    assert [line for piece in pieces for line in piece.map] == [(0, 0, 0), (0, 0, 0), (1, 0, 0), (0, 0, 0), (0, 1, 0)]
    check(atlas, layers)


def test_the_centre_of_a_domain():
    square = [(1, 0, 1), (-1, 0, 3), (0, 1, 0), (0, -1, 5)]
    assert centre(square, 2) == (1, fmpq(5, 2))
    assert centre([*square, (-1, -1, 8)], 2) == (1, fmpq(5, 2))
    quadrant = [(1, 0, 0), (0, 1, -2)]
    assert centre(quadrant, 2) == (1, 3)
    strip = [(1, 1, 0), (-1, -1, 4)]
    assert centre(strip, 2) == (1, 1)
    assert centre([(1, 2)], 1) == (-1,)
    assert centre([], 3) == (0, 0, 0)
