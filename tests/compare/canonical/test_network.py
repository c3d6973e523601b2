"""The canonical shallow network: one for all networks of a function, and with the values of them all."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import polyfold as pf
from compare.canonical.test_pieces import special_points
from compare.canonical.test_rewrites import base
from helpers.atlas_oracles import by_hand, unfolded
from helpers.same_function import rewritten
from helpers.slow_params import quick_then_slow
from polyfold.domain.points import contains_exactly, exact_lift
from polyfold.exact.linear_program import maximise
from polyfold.program.passes.rationals import RationalProgram

ARRAYS = ("H", "c", "piece_start", "condition", "is_open", "of_domain", "alpha", "beta", "frozen", "sides")


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_rewritten_networks_have_the_same_shallow_network(batch):
    for seed in range(batch, 60, 4):
        program, domain, what = base(seed)
        other, how = rewritten(np.random.default_rng([seed, 15]), program, 2)
        atlases = [pf.unfold(program, domain), pf.unfold(other, domain)]
        if max(map(len, atlases)) > 60:
            continue
        here, there = (pf.compare.canonical(atlas).shallow() for atlas in atlases)
        for name in ARRAYS:
            assert np.array_equal(getattr(here, name), getattr(there, name)), (name, what, how)
        assert [here.exact.map(i) for i in range(len(here))] == [there.exact.map(i) for i in range(len(there))]


def check(atlas, what):
    shallow = pf.compare.canonical(atlas).shallow()
    program = RationalProgram(atlas.program)
    pieces = pf.compare.canonical(atlas).pieces
    points = list(special_points(atlas, pieces, np.random.default_rng(3)))
    for point in points[:: max(1, len(points) // 60)]:
        if not contains_exactly(atlas.domain, point):
            continue
        inputs = exact_lift(atlas.domain, fmpq_mat(len(point), 1, list(point)))
        expected = tuple(Fraction(int(x.p), int(x.q)) for (x,) in program.forward(inputs).outputs)
        found = shallow.exactly([Fraction(int(x.p), int(x.q)) for x in point])
        assert found.outputs == expected, what
        floats = [[float(Fraction(int(x.p), int(x.q))) for x in point]]
        # Far out, where nearly parallel hyperplanes meet, floats have no digits left to compare.
        if np.abs(floats).max() < 1000 and shallow.piece(floats, outside="ignore")[0] >= 0:
            values = atlas.program.evaluate(atlas.lift(floats))[0]
            assert np.allclose(shallow(floats), values, rtol=1e-7, atol=1e-7), what
    assert {tuple(side) for side in shallow.sides.tolist()} == touching(shallow), what
    return shallow


def touching(shallow):
    """All pairs of pieces that have a facet's worth of a hyperplane in common, by trying every pair."""
    exact = [shallow.exact.hyperplane(k) for k in range(len(shallow.c))]
    pieces = [
        {
            int(shallow.condition[i]): bool(shallow.is_open[i])
            for i in range(shallow.piece_start[k], shallow.piece_start[k + 1])
        }
        for k in range(len(shallow))
    ]
    found = set()
    for one, other in combinations(range(len(pieces)), 2):
        for wall in pieces[one].keys() & pieces[other].keys():
            if pieces[one][wall] == pieces[other][wall]:
                continue
            # A point on the wall with some room to all other conditions: how much room is there at most?
            A, b = [[fmpq(0)] * shallow.inputs + [fmpq(1)]], [fmpq(1)]
            for piece in (pieces[one], pieces[other]):
                for condition, is_open in piece.items():
                    sign = -1 if is_open else 1
                    if condition != wall:
                        A.append([*(sign * x for x in exact[condition][:-1]), fmpq(1)])
                        b.append(sign * exact[condition][-1])
            on_wall = [[*exact[wall][:-1], fmpq(0)]], [exact[wall][-1]]
            best = maximise([fmpq(0)] * shallow.inputs + [fmpq(1)], A, b, equalities=on_wall)
            if best.value is not None and best.value > 0:
                near, far = (other, one) if pieces[one][wall] else (one, other)
                found.add((wall, near, far))
    return found


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_values_and_neighbours_of_generated_functions(batch):
    for seed in range(batch, 120, 4):
        case, atlas = unfolded(seed)
        if len(atlas) <= 16 and atlas.dim <= 3:
            check(atlas, case)


def test_atlases_made_by_hand():
    for atlas in by_hand():
        check(atlas, atlas)


def test_a_function_on_an_l():
    """relu(min(x, y)): two pieces with a slope, three without; the network in torch has its values."""
    import torch

    layers = [([[1.0, -1.0], [1, 0], [-1, 0]], [0.0, 0, 0]), ([[-1.0, 1, -1]], [0.0]), ([[1.0]], [0.0])]
    shallow = check(pf.unfold(layers), layers)
    assert (len(shallow), len(shallow.c), len(shallow.sides)) == (5, 3, 5)
    points = np.random.default_rng(0).normal(size=(200, 2))
    expected = np.maximum(points.min(axis=1), 0)
    assert np.allclose(shallow(points)[:, 0], expected)
    assert np.allclose(shallow.to_torch()(torch.from_numpy(points)).detach().numpy()[:, 0], expected)
