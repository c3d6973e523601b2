"""The function can be computed from its canonical form alone: so no two functions have the same one.

Walk along a segment and add up the jumps. Whether a jump's support is met where the segment crosses a hyperplane is
found by the same walk one dimension lower: out to the last place of the hyperplane, where the form says what there is.
"""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

import polyfold as pf
from helpers.atlas_oracles import by_hand, unfolded
from helpers.slow_params import quick_then_slow
from polyfold.domain.points import contains_exactly, jets_around
from polyfold.program.passes.rationals import RationalProgram
from polyfold.testing import wide_case


def value(row, point):
    return sum((a * x for a, x in zip(row, point, strict=False)), fmpq(row[-1]))


def outward(rows, dim, small):
    """A direction in the flat of these rows: far more along a free coordinate than along all later ones."""
    pivots = [next(j for j in range(dim) if row[j]) for row in rows]
    direction = [fmpq(0)] * dim
    for power, column in enumerate(j for j in range(dim) if j not in pivots):
        direction[column] = small**power
    for row, column in reversed(list(zip(rows, pivots, strict=True))):
        # A row is zero in the pivot columns of those before it.
        rest = sum((row[j] * direction[j] for j in range(dim) if j != column), fmpq(0))
        direction[column] = -rest / row[column]
    return direction


def times_contained(support, point, rows, small):
    """How often a point in the flat of the rows lies in a support."""
    total, direction = support.at_infinity, outward(rows, len(point), small)
    for row, part in support.border:
        here = value(row, point)
        assert here != 0, "the point is not in general position"
        speed = value(row, direction) - row[-1]
        assert speed > 0
        if here < 0:
            crossing = [x - here / speed * v for x, v in zip(point, direction, strict=True)]
            total -= times_contained(part, crossing, [*rows, row], small)
    return total


def coefficients(support):
    for row, part in support.border:
        yield from row
        yield from coefficients(part)


def change(form, start, end, small):
    """The map at the end of a segment minus that at its start, by the jumps in between."""
    width = form.inputs + 1
    total = [fmpq(0)] * (form.outputs * width)
    met = set()
    for jump in form.jumps:
        row = jump.hyperplane
        before, after = value(row, start), value(row, end)
        assert before != 0 != after
        if (before > 0) == (after > 0):
            continue
        crossing = [x + before / (before - after) * (y - x) for x, y in zip(start, end, strict=True)]
        times = times_contained(jump.where, crossing, [row], small)
        assert times in (0, 1)
        if times:
            assert row not in met, "two jumps at one point"
            met.add(row)
            sign = 1 if after > 0 else -1
            for k, amount in enumerate(jump.amount):
                for j in range(width):
                    total[k * width + j] += sign * fmpq(amount.numerator, amount.denominator) * row[j]
    return total


def points_and_maps(atlas, rng):
    """A point in general position in every cell, and the map there, by an exact forward pass."""
    program = RationalProgram(atlas.program)
    for cell in range(len(atlas)):
        pattern, witness = tuple(atlas.signs([cell])[0].tolist()), atlas.rational_witness(cell)
        step = fmpq(1, 1 << 30)
        while True:
            point = [w + step * int(rng.integers(-(1 << 20), 1 << 20)) for w in witness]
            passed = program.forward(jets_around(atlas.domain, point))
            if passed.pattern == pattern and contains_exactly(atlas.domain, point, strictly=True):
                break
            step /= 1024
        numbers = []
        for at, *slopes in passed.outputs:
            numbers += [*slopes, at - sum((a * x for a, x in zip(slopes, point, strict=True)), fmpq(0))]
        yield point, numbers


def check(atlas, what):
    form = pf.compare.canonical(atlas)
    largest = max((abs(x) for jump in form.jumps for x in coefficients(jump.where)), default=1)
    small = fmpq(1, 8 * largest)
    places, maps = zip(*points_and_maps(atlas, np.random.default_rng(1)), strict=True)
    found = [change(form, places[0], place, small) for place in places]
    # Jumps tell the map up to one that is added everywhere: the least one tells that.
    first = [fmpq(x.numerator, x.denominator) for line in form.maps[0] for x in line]
    least = min(found)
    assert [[a - b + c for a, b, c in zip(one, least, first, strict=True)] for one in found] == list(maps), what
    return form


@pytest.mark.parametrize("batch", quick_then_slow(range(6), quick=2))
def test_generated_functions_from_their_forms(batch):
    jumps = 0
    for seed in range(batch, 300, 6):
        case, atlas = unfolded(seed)
        if len(atlas) <= 60 and atlas.dim <= 4:
            jumps += len(check(atlas, case).jumps)
    assert jumps > 200


def test_atlases_made_by_hand():
    for atlas in by_hand():
        check(atlas, atlas)


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=1))
def test_wide_cases_from_their_forms(batch):
    """Pools, strips, cones, lopsided boxes, stages that share weights."""
    jumps = 0
    for seed in range(batch, 80, 4):
        case = wide_case(seed, size=4)
        atlas = pf.unfold(case.program, case.domain, threads=1)
        if len(atlas) <= 60 and atlas.dim <= 4:
            jumps += len(check(atlas, case).jumps)
    assert jumps > 100
