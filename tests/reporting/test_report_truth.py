"""What a report says about data outside its domain, ways without change, one output, and points that are no data."""

from __future__ import annotations

import re

import numpy as np
import pytest

import polyfold as pf
from helpers.report_reading import Reading
from polyfold.datasets import iris_test, read

IRIS = read("iris")


# -- data outside the domain


def walk(found):
    """The ends of the way, and the sentence about it."""
    said = re.search(r"Walk straight from .*? The way leads through [^.]*\.", Reading(found.html).words)
    return found.found.points[list(found.found.line.rows)], said.group()


def test_data_that_lie_outside_the_domain_are_not_spoken_of():
    petals, _ = iris_test()
    found = pf.report(list(IRIS.layers), petals, domain=pf.box(100, 101), output_names=IRIS.outputs)
    words = Reading(found.html).words
    assert found.found.around is None and found.found.line is None
    assert [item.why for item in found.found.left_out] == ["no data point lies in the domain"]
    assert "No data point lies where this report looks." in words and "All of them lie outside the domain" in words
    for name in ("safe", "features", "way", "data"):
        assert f'<section id="{name}">' not in found.html
    assert "Marks are the data" not in words


@pytest.mark.parametrize("domain", [pf.box(0, 3), pf.polytope([[1, 0], [-1, 0], [0, 1], [0, -1]], [3, 0, 3, 0])])
def test_only_data_in_the_domain_are_looked_at(domain):
    petals, _ = iris_test()
    inside = ((petals >= 0) & (petals <= 3)).all(axis=1)
    order = np.argsort(inside, kind="stable")
    petals, inside = petals[order], inside[order]
    assert 2 < inside.sum() < len(inside) and not inside[0]
    found = pf.report(list(IRIS.layers), petals, domain=domain, output_names=IRIS.outputs)
    ends, _ = walk(found)
    assert (ends <= 3).all()
    around = found.found.around
    assert inside[around.rows].all() and np.array_equal(around.looked_at, np.flatnonzero(inside))
    expected = pf.stats.nearest_change(pf.unfold(list(IRIS.layers), domain), petals[inside])
    assert np.array_equal(around.changes.distance, expected.distance)
    expected = pf.explain.shapley(list(IRIS.layers), petals[around.rows], background=petals[inside])
    assert np.array_equal(around.shapley.values, expected.values)
    words = Reading(found.html).words
    assert f"{(~inside).sum()} of them lie outside the domain." in words
    assert f"{inside.sum()} of {len(inside)} data points lie where this report looks." in words


def test_a_slice_goes_through_data_in_the_domain():
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(5, 3)), rng.normal(size=5)), (rng.normal(size=(2, 5)), rng.normal(size=2))]
    X = np.concatenate([rng.uniform(5, 6, size=(9, 3)), rng.uniform(-1, 1, size=(4, 3))])
    found = pf.report(layers, X, domain=pf.box(-1, 1))
    cut = found.found.plane
    (other,) = {0, 1, 2} - set(cut.features)
    assert cut.atlas.domain.origin[other] == np.median(X[9:, other])
    assert "stays at its median over the data in the domain" in Reading(found.html).words


# -- what changes on the way


def test_gates_that_reach_no_output_change_no_formula():
    layers = [([[1.0, 0.0], [1.0, 0.1], [1.0, -0.1]], [0.0, 0.2, -0.2]), ([[1.0, 0.0, 0.0], [0.0] * 3], [0.0, 0.5])]
    _, said = walk(pf.report(layers, [[-1, 0.0], [1, 0.1]], domain=pf.box(-1.5, 1.5)))
    assert said.endswith("through 4 cells, and the formula changes once.")
    _, said = walk(pf.report(layers, [[-1, 0.0], [-0.1, 0.0]], domain=pf.box(-1.5, 1.5)))
    assert said.endswith("through 2 cells, and the formula stays the same.")


# -- two classes and one output


def test_one_output_decides_by_its_sign():
    layers = [([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, -1.0]], [0.25])]
    X = np.array([[-0.5, 0.9], [0.5, 0.1], [0.9, 0.9], [0.1, 0.6]])
    found = pf.report(layers, X, ["yes", "no", "yes", "no"], domain=pf.box(-1, 1), output_names=["no", "yes"])
    words = Reading(found.html).words
    assert "Within it the answer is no or yes: yes where the formula below is above 0, and no elsewhere." in words
    assert "score" not in words
    assert "coloured by the answer: no and yes." in words and "the thick line is the decision boundary" in words
    assert "class yes part 0 of cell" in words or "class no part 0 of cell" in words
    assert "data: no" in words and "data: yes" in words and "class 1" not in words
    assert "The strip at the bottom says where the output is above 0." in words


def test_one_output_decides_by_its_sign_on_a_slice():
    found = pf.report([([[1.0, 1.0, 0.5]], [0.0])], np.eye(3) - 0.5, domain=pf.box(-1, 1), output_names=["no", "yes"])
    assert "A slice, coloured by the answer: no and yes." in Reading(found.html).words


@pytest.mark.parametrize(
    ("bias", "said"),
    [
        (-2.0, "Nowhere on the domain is the answer yes: the output is never above 0."),
        (
            2.0,
            "Nowhere on the domain, unless on edges of cells, is the answer no: the output is above 0 inside of them.",
        ),
    ],
)
def test_one_output_of_one_sign(bias, said):
    found = pf.report([([[1.0, 1.0]], [bias])], domain=pf.box(-1, 1), output_names=["no", "yes"])
    assert said in Reading(found.html).words


# -- points that are no data, and data without a range


def test_points_drawn_at_random_are_not_called_data():
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(6, 3)), rng.normal(size=6)), (rng.normal(size=(2, 6)), rng.normal(size=2))]
    found = pf.report(layers, domain=pf.box(-1, 1))
    assert found.found.drawn and found.found.around.changes is not None and found.found.plane is not None
    words = Reading(found.html).words
    assert "Of the points looked at, the one nearest to a different answer" in words
    assert "No data were given." in words
    assert "data point" not in words and "data class" not in words
    late = pf.report(layers, domain=pf.box(-1, 1), max_seconds=1e-9)
    assert late.found.drawn and not any("data" in item.what for item in late.found.left_out)


@pytest.mark.parametrize(
    ("X", "sides", "said"),
    [
        ([[1.0, 1.0]] * 3, (0, 2), "the data, which are all the same, 1 wider on each side,"),
        (
            [[0.0, 5.0], [10.0, 5.0]],
            ([-1, 4], [11, 6]),
            "wider on each side, or, for features that have one value only, a tenth of the widest feature's range,",
        ),
        ([[0.0, 5.0], [10.0, 6.0]], ([-1, 4.9], [11, 6.1]), "the data, a tenth of their range wider on each side,"),
    ],
)
def test_how_the_box_around_data_is_wider(X, sides, said):
    found = pf.report([([[1.0, 1.0]], [0.0])], X=X)
    lo, hi = found.found.subject.sides
    assert lo == pytest.approx(np.broadcast_to(sides[0], 2)) and hi == pytest.approx(np.broadcast_to(sides[1], 2))
    assert said in Reading(found.html).words
