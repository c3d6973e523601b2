"""Networks too large for their cells to be listed: bounds that hold, pairs that are found, boxes that are cut."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

import polyfold as pf
from helpers.network_rewrites import copy, random_layers, rewritten
from polyfold.compare.equivalence.atoms import Atoms
from polyfold.compare.equivalence.branching import bounds_over
from polyfold.compare.equivalence.paired_atoms import Paired
from polyfold.domain.domain import resolve_domain
from polyfold.engine.bounds.bounded_domain import Box, place_of
from polyfold.exact.rational import rational
from polyfold.program.lower.lower import lower
from polyfold.program.passes.affine_forms import Forms, combined, rectified
from polyfold.program.passes.digits import outputs_at
from polyfold.program.passes.rationals import evaluate_exactly
from polyfold.testing import wide_case


def disturbed(rng, layers, size):
    return [(W * (1 + size * rng.normal(size=W.shape)), b + size * rng.normal(size=b.shape)) for W, b in layers]


def in_float32(rng, layers):
    """Neurons in another order and times any positive factors, rounded to float32."""
    found = copy(layers)
    for k in range(len(found) - 1):
        (W, b), (V, c) = found[k], found[k + 1]
        order, factor = rng.permutation(len(b)), rng.uniform(0.3, 3, size=len(b))
        found[k], found[k + 1] = (W[order] * factor[:, None], b[order] * factor), (V[:, order] / factor, c)
    return [tuple(array.astype(np.float32).astype(np.float64) for array in layer) for layer in found]


def paired(a, b, domain):
    first, second = lower(pf.load(a)), lower(pf.load(b))
    atoms = Atoms(first.input_dim)
    one = atoms.outputs_of(first)
    count = len(atoms.rows)
    two = atoms.outputs_of(second)
    place = place_of(resolve_domain(domain, first.input_dim))
    found = Paired(atoms, count, one, two, place.domain)
    found.pair(place.box.centre, place.box.half)
    return found, place, first, second


# -- bounds


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_on_boxes_of_all_sizes(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    a = random_layers(rng, d, *rng.integers(3, 12, size=rng.integers(1, 4)), 2)
    b = [
        disturbed(rng, a, 0.05),
        in_float32(rng, a),
        rewritten(rng, disturbed(rng, a, 1e-4), 3),
        random_layers(rng, d, 5, 2),
    ][seed % 4]
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0][:, : max(1, d - 1)]
    domain = pf.slice_of(rng.normal(size=d), basis, bounds=pf.box(-1, 1)) if seed % 3 == 2 else pf.box(-1, 1)
    bounds, place, first, second = paired(a, b, domain)
    for size in (1.0, 0.1, 1e-3, 1e-9, 0.0):
        centre = rng.uniform(-0.5, 0.5, size=place.domain.dim)
        low, high = bounds.difference(centre, np.full(len(centre), size)).bounds
        places = rng.uniform(-1, 1, size=(200, len(centre)))
        places[:100] = np.sign(places[:100])
        U = centre + size * places
        X = place.domain.lift(U)
        values = second.evaluate(X)[0] - first.evaluate(X)[0]
        room = 1e-9 * size  # samples are rounded, too
        assert (values >= low - room - 1e-12).all() and (values <= high + room + 1e-12).all()
        if size == 0.0:
            # At a single point they hold exactly, and are as close as roundings let them be.
            exact = [
                y - x for x, y in zip(*(outputs_at(p, place.domain, centre) for p in (first, second)), strict=True)
            ]
            assert all(Fraction(lo) <= e <= Fraction(hi) for lo, e, hi in zip(low, exact, high, strict=True))
            assert (high - low < 1e-10).all()


def test_forms_enclose_what_they_stand_for():
    rng = np.random.default_rng(1)
    forms = Forms(rng.normal(size=6), rng.normal(size=(6, 4)), np.abs(rng.normal(size=6)) * 0.1)
    W = rng.normal(size=(5, 6))
    after = rectified(combined(W, forms))
    low, high = after.bounds
    e = rng.uniform(-1, 1, size=(4, 2000))
    rest = rng.uniform(-1, 1, size=(6, 2000)) * forms.r[:, None]
    values = np.maximum(W @ (forms.c[:, None] + forms.G @ e + rest), 0)
    assert (values >= low[:, None] - 1e-12).all() and (values <= high[:, None] + 1e-12).all()
    # What is known about each e stays known: the forms with e put in enclose the values as well.
    own = after.G[:, :4] @ e + after.c[:, None]
    left = np.abs(after.G[:, 4:]).sum(axis=1) + after.r
    assert (np.abs(values - own) <= left[:, None] + 1e-12).all()


def test_numbers_that_floats_cannot_hold_bound_nothing():
    nan = Forms(np.array([np.nan]), np.array([[1.0]]), np.array([0.0]))
    assert not (np.abs(rectified(nan).bounds[1]) < inf).any()
    huge = [([[1e200]], [0.0]), ([[1e200]], [0.0])]
    other = [([[1e200]], [0.0]), ([[1.5e200]], [0.0])]
    result = pf.equivalent(huge, other, pf.box(-1, 1))
    assert result.word == "different" and result.exact
    assert result.max_difference == Fraction(1e200) * (Fraction(1.5e200) - Fraction(1e200))


def test_halves_of_a_box_cover_it():
    rng = np.random.default_rng(0)
    for _ in range(200):
        box = Box(rng.normal(size=2) * 10.0 ** rng.integers(-8, 8), np.abs(rng.normal(size=2)))
        left, right = box.parts(0)
        ends = [
            (Fraction(b.centre[0]) - Fraction(b.half[0]), Fraction(b.centre[0]) + Fraction(b.half[0]))
            for b in (box, left, right)
        ]
        assert ends[1][0] <= ends[0][0] and ends[2][1] >= ends[0][1] and ends[2][0] <= ends[1][1]


def test_a_copy_in_float32_is_paired_gate_by_gate():
    rng = np.random.default_rng(2)
    a = random_layers(rng, 30, 40, 40, 3)
    b = in_float32(rng, a)
    bounds, place, _, _ = paired(a, b, pf.box(-1, 1))
    assert (bounds._second.partner >= 0).all() and len(set(bounds._second.partner.tolist())) == 80
    sizes, _, _ = bounds_over(bounds, place.box)
    assert sizes.max() < 0.05
    result = pf.equivalent(a, b, pf.box(-1, 1), tolerance=0.05)
    assert result.word == "equal" and result.upper <= Fraction(0.05) and result.certificate.level == "certified"
    X = rng.uniform(-1, 1, size=(20_000, 30))
    assert np.abs(pf.load(a)(X) - pf.load(b)(X)).max() <= result.upper
    assert 0 < result.max_difference <= result.upper and not result.exact
    assert pf.equivalent(a, b, pf.box(-1, 1)).word == "different"


def test_exact_rewrites_of_large_networks():
    rng = np.random.default_rng(3)
    a = random_layers(rng, 100, 60, 60, 60, 5)
    for domain in (None, pf.box(0, 1)):
        result = pf.equivalent(a, rewritten(rng, a, 8), domain)
        assert result.word == "equal" and result.seconds < 30


# -- branch and bound


def test_boxes_are_cut_until_the_tolerance_is_proved():
    rng = np.random.default_rng(4)
    a = random_layers(rng, 2, 30, 30, 1)
    b = disturbed(rng, a, 0.01)
    exact = pf.equivalent(a, b, pf.box(-1, 1)).max_difference
    whole = bounds_over(*_bounds_of(a, b))[0].max()
    assert whole > 1.5 * exact
    # One cell is not enough for anything, so that only boxes are left.
    result = pf.equivalent(a, b, pf.box(-1, 1), tolerance=1.3 * float(exact), max_cells=1)
    assert result.word == "equal" and "boxes" in result.method
    assert exact <= result.upper <= Fraction(1.3 * float(exact)) and result.max_difference <= exact
    result = pf.equivalent(a, b, pf.box(-1, 1), tolerance=0.7 * float(exact), max_cells=1)
    assert result.word == "different" and Fraction(0.7 * float(exact)) < result.max_difference <= exact


def _bounds_of(a, b):
    bounds, place, _, _ = paired(a, b, pf.box(-1, 1))
    return bounds, place.box


def test_what_is_not_decided_in_time_has_bounds():
    rng = np.random.default_rng(5)
    a = random_layers(rng, 5, 40, 40, 1)
    b = disturbed(rng, a, 0.01)
    sampled = _largest_sampled(rng, a, b)
    result = pf.equivalent(a, b, pf.box(-1, 1), tolerance=20 * sampled, max_seconds=3, max_cells=1)
    assert result.word in ("equal", "unknown")
    assert result.max_difference <= 20 * sampled and sampled <= result.upper < inf
    assert result.stopped_by is not None


def _largest_sampled(rng, a, b):
    X = rng.uniform(-1, 1, size=(20_000, 5))
    return float(np.abs(pf.load(a)(X) - pf.load(b)(X)).max())


# -- exact passes


@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_exact_outputs_at_points_agree_with_rationals(seed):
    case = wide_case(seed)
    rng = np.random.default_rng(seed)
    u = np.round(rng.normal(size=case.domain.dim), 1)
    lifted = [rational(o) for o in case.domain.origin.tolist()]
    for i, row in enumerate(case.domain.basis.tolist()):
        lifted[i] += sum((rational(x) * rational(y) for x, y in zip(row, u.tolist(), strict=True)), rational(0.0))
    expected = [Fraction(int(x.p), int(x.q)) for x in evaluate_exactly(case.program, lifted).outputs]
    assert outputs_at(case.program, case.domain, u) == expected


def test_convolutions_on_a_line():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(18, 2)
    ).double()
    network = pf.load(module, input_shape=(1, 8, 8))
    rng = np.random.default_rng(0)
    line = pf.line(rng.normal(size=64), rng.normal(size=64))
    assert pf.equivalent(network, network, line)
    with torch.no_grad():
        module[4].weight[0, 0] += 0.5
    other = pf.load(module, input_shape=(1, 8, 8))
    result = pf.equivalent(network, other, line)
    assert result.word == "different" and result.exact
    X = resolve_domain(line, 64).lift(np.linspace(0, 1, 5001)[:, None])
    sampled = np.abs(network(X) - other(X)).max()
    assert (
        sampled == pytest.approx(float(result.max_difference), rel=1e-3)
        and sampled <= float(result.max_difference) + 1e-12
    )


def test_boxes_outside_of_a_polytope_are_left_out():
    """relu(x + y - 1/2) is nothing where x + y <= 0, but much in the rest of the box around that."""
    triangle = [[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [0.0, 1.0, 1.0]
    a = [([[1.0, 1.0], [1.0, -1.0]], [-0.5, 0.0]), ([[1.0, 1.0]], [0.0])]
    b = [([[1.0, -1.0]], [0.0]), ([[1.0]], [0.0])]
    result = pf.equivalent(a, b, pf.polytope(*triangle), tolerance=0.01, max_cells=1, max_seconds=20)
    assert result.word == "equal" and "boxes" in result.method
    turned = np.array([[0.6, -0.8], [0.8, 0.6]])
    # The same triangle and networks, seen from a turned frame: rows over inputs are products then.
    rows = np.asarray(triangle[0]) @ turned.T
    seen = [[(np.asarray(W) @ turned.T, c), last] for (W, c), last in (a, b)]
    domain = pf.slice_of([0.0, 0.0], turned, within=pf.polytope(rows, np.add(triangle[1], 1e-9)))
    result = pf.equivalent(*seen, domain, tolerance=0.01, max_cells=1, max_seconds=20)
    assert result.word == "equal" and "boxes" in result.method


@pytest.mark.parametrize("seed", range(6))
def test_boxes_with_points_of_the_domain_are_never_left_out(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    rows = np.concatenate([np.eye(d), -np.eye(d), rng.normal(size=(4, d))])
    offsets = np.concatenate([np.ones(2 * d), rng.uniform(0.01, 0.5, size=4)])
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
    polytope = pf.polytope(rows, offsets)
    place = place_of(resolve_domain(pf.slice_of(np.zeros(d), basis, within=polytope) if seed % 2 else polytope, d))
    U = rng.uniform(-1.5, 1.5, size=(4000, d))
    inside = place.contains(U)
    assert inside.any() and not inside.all()
    for size in (0.0, 1e-12, 0.1):
        shift = rng.uniform(-1, 1, size=U.shape) * size
        found = np.array([place.misses(Box(u, np.full(d, size))) for u in U + shift])
        assert not found[inside].any()
        assert found.any()
    # A point alone is missed as soon as it is outside by more than roundings.
    assert (np.array([place.misses(Box(u, np.zeros(d))) for u in U]) == ~inside).mean() > 0.999


def test_a_point_that_float32_cannot_hold_counts_too():
    """At 0.7 the difference is 0.7; the float32 next to it is less, and lies in the box as well."""
    a = [([[1.0], [1.0]], [0.0, -0.25]), ([[1.0, 1e-30]], [0.0])]
    b = [([[0.0]], [0.0])]
    assert float(np.float32(0.7)) < 0.69999999 < 0.7
    result = pf.equivalent(a, b, pf.box(0, 0.7), tolerance=0.69999999, max_cells=1, max_seconds=5)
    assert result.word == "different" and result.point == (Fraction(0.7),)
    # Where float32 is enough, it is what one gets.
    result = pf.equivalent(a, b, pf.box(0, 0.7), tolerance=0.5, max_cells=1, max_seconds=5)
    assert result.word == "different" and result.point == (Fraction(float(np.float32(0.7))),)


def test_polytopes_of_many_dimensions_say_that_there_are_no_bounds():
    """A simplex in 17 dimensions: bounded, but none of its rows says so by itself. With a box around it there are."""
    rng = np.random.default_rng(0)
    a = random_layers(rng, 17, 20, 1)
    b = in_float32(rng, a)
    rows, offsets = np.concatenate([np.ones((1, 17)), np.eye(17) * -1.0]), np.ones(18)
    result = pf.equivalent(a, b, pf.polytope(rows, offsets), tolerance=1.0, max_seconds=5)
    assert result.word == "unknown" and result.upper == inf
    assert "cells were not listed; no bounds were tried: polytopes of more than 16 dimensions" in result.stopped_by
    boxed = pf.polytope(np.concatenate([rows, np.eye(17)]), np.concatenate([offsets, np.full(17, 18.0)]))
    result = pf.equivalent(a, b, boxed, tolerance=1.0, max_seconds=5)
    assert result.word == "equal" and result.upper < 1.0
