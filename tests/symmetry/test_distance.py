"""Distances between networks up to permutations and rescalings, against all matchings one by one."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings

import polyfold as pf
from helpers.exact_networks import SEEDS, exact, generated, numbers, random_steps
from polyfold.exact.rational_arrays import nearest
from polyfold.program.exact_program import ExactProgram, from_layers
from polyfold.testing.networks import random_program

ORBIT = ("permutation", "rescaling")
distance, normal_form, Permutation = pf.symmetry.distance, pf.symmetry.normal_form, pf.symmetry.Permutation


def random_network(seed: int, *dims: int) -> ExactProgram:
    return exact(random_program(np.random.default_rng(seed), dims))


def layer_distances(a: ExactProgram, b: ExactProgram) -> np.ndarray:
    """Of two programs as they are, neuron by neuron."""
    found = []
    for k, (here, there) in enumerate(zip(a.affines, b.affines, strict=True)):
        sides = [[nearest(rows.bias)] for rows in (here, there)]
        for source in {*here.terms, *there.terms}:
            for side, rows, program in zip(sides, (here, there), (a, b), strict=True):
                zero = np.zeros(rows.size * program.widths[source])
                side.append(nearest(rows.terms[source]).ravel() if source in rows.terms else zero)
        if k < len(a.stages):
            slopes = [nearest(np.concatenate([p.stages[k].slope_on, p.stages[k].slope_off])) for p in (a, b)]
            pairs = {(on, off) for each in slopes for on, off in each.reshape(2, -1).T.tolist()}
            if len(pairs) > 1:
                for side, each in zip(sides, slopes, strict=True):
                    side.append(each)
        x, y = (np.concatenate(side) for side in sides)
        lengths = np.linalg.norm(x) + np.linalg.norm(y)
        found.append(np.linalg.norm(x - y) / lengths if lengths else 0.0)
    return np.array(found)


def whole(layers: np.ndarray) -> float:
    return float(np.sqrt(np.square(layers).mean()))


def all_matchings(a: ExactProgram, b: ExactProgram) -> list[float]:
    here, there = normal_form(a).program, normal_form(b).program
    found = []
    for orders in product(*(permutations(range(width)) for width in here.widths[1:])):
        moved = here
        for layer, order in enumerate(orders, start=1):
            moved = Permutation(layer, order)(moved)
        found.append(whole(layer_distances(moved, there)))
    return found


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_networks_of_one_orbit_have_distance_zero(seed: int) -> None:
    program = generated(seed)
    other = random_steps(program, seed, ORBIT, count=6)(program)
    found = distance(program, other)
    assert (found.value, found.same_orbit, found.optimal) == (0.0, True, True)
    assert found.layers == (0.0,) * (len(program.stages) + 1)
    assert numbers(found.alignment(program)) == numbers(other)


@pytest.mark.parametrize("seed", range(8))
def test_one_hidden_layer_against_all_matchings(seed: int) -> None:
    a, b = random_network(seed, 3, 5, 2), random_network(seed + 100, 3, 5, 2)
    found = distance(a, b)
    assert found.optimal and not found.same_orbit and 0 < found.value < 1
    assert found.value == pytest.approx(min(all_matchings(a, b)), rel=1e-12)
    assert found.value == pytest.approx(distance(b, a).value, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_two_hidden_layers_are_a_local_optimum(seed: int) -> None:
    a, b = random_network(seed, 2, 4, 3, 1), random_network(seed + 100, 2, 4, 3, 1)
    found = distance(a, b)
    assert not found.optimal
    least = min(all_matchings(a, b))
    assert least <= found.value * (1 + 1e-12)
    # No layer alone can be matched better.
    form = normal_form(b)
    aligned, goal = form.transformation(found.alignment(a)), form.program
    for layer in (1, 2):
        for order in permutations(range(a.widths[layer])):
            other = whole(layer_distances(Permutation(layer, order)(aligned), goal))
            assert other >= found.value * (1 - 1e-12)


@given(seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_alignment_is_where_the_distance_is(seed: int) -> None:
    """In the second network's own order and scales; also with slopes and connections that skip layers."""
    a = generated(seed)
    rng = np.random.default_rng(seed)
    nudged = [rows.shifted(rng.normal(size=rows.size)) for rows in a.affines]
    stages = tuple(
        type(stage)(rows, stage.slope_on, stage.slope_off, stage.origins)
        for stage, rows in zip(a.stages, nudged[:-1], strict=True)
    )
    b = random_steps(a, seed, ORBIT)(ExactProgram(a.frame, stages, nudged[-1]))
    found = distance(a, b)
    form = normal_form(b)
    by_hand = layer_distances(form.transformation(found.alignment(a)), form.program)
    np.testing.assert_allclose(found.layers, by_hand, rtol=1e-9, atol=1e-12)
    assert found.value == pytest.approx(whole(by_hand), rel=1e-9)
    assert float(found) == found.value


@pytest.mark.parametrize("seed", range(5))
def test_a_hidden_permutation_is_found_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in ((4, 12), (12, 10), (10, 3))]
    nearly = [(W + 1e-3 * rng.normal(size=W.shape), b + 1e-3 * rng.normal(size=b.shape)) for W, b in layers]
    orders = [tuple(rng.permutation(width).tolist()) for width in (12, 10)]
    hidden = Permutation(1, orders[0]).then(Permutation(2, orders[1]))
    moved = pf.symmetry.random_transformation(nearly, seed, kinds="rescaling").then(hidden)(from_layers(nearly))
    found = distance(layers, moved)
    assert 0 < found.value < 0.005
    assert [step.order for step in found.alignment.steps if isinstance(step, Permutation)] == orders


def test_another_scale_of_one_weight_is_seen() -> None:
    a = [([[1.0], [-1.0]], [0.0, 1.0]), ([[1.0, 1.0]], [0.0])]
    b = [([[1.0], [-1.0]], [0.0, 1.0]), ([[1.0, 1.25]], [0.0])]
    found = distance(a, b)
    # In normal form the second neuron is halved, and its outgoing weight doubled.
    output = 0.5 / (np.hypot(1, 2) + np.hypot(1, 2.5))
    assert found.layers == (0.0, pytest.approx(output)) and not found.same_orbit
    assert found.value == pytest.approx(output / np.sqrt(2))


def test_other_architectures_are_refused() -> None:
    a = [([[1.0], [-1.0]], [0.0, 1.0]), ([[1.0, 1.0]], [0.0])]
    b = [([[1.0]], [0.0]), ([[1.0]], [0.0])]
    with pytest.raises(pf.PolyfoldError, match="the networks have 1 -> 2 -> 1 and 1 -> 1 -> 1 neurons"):
        distance(a, b)
