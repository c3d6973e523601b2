"""Lemmas 1 and 2 of paper 004 as properties: what they say must be what polyfold finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

import polyfold as pf
from helpers.generated_two_layer import fractions, random_program
from helpers.two_layer_in_fractions import numbers, value
from polyfold.exact.rational_arrays import rationals
from polyfold.program.exact_program import from_layers
from polyfold.rewrite.two_layer.form import wall_of

entries = st.fractions(min_value=-4, max_value=4, max_denominator=5)
forms = st.lists(entries, min_size=3, max_size=3).filter(lambda row: any(row[:2]))
factors = st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9).filter(bool)


def neuron(form):
    """(w x + b)+ for a form (w, b) over two inputs."""
    return from_layers([([form[:2]], [form[2]]), ([[1]], [0])])


@given(forms, factors)
def test_lemma_1_multiples_are_one_neuron(form, factor):
    """(1) => (3), (4): what differs by a positive factor has one wall, and is matched by that factor."""
    other = [factor * entry for entry in form]
    (one, first), (two, second) = (wall_of(rationals(row[:2]), rationals(row[2:])[0]) for row in (form, other))
    assert one == two and second / first == rationals([factor])[0]
    scaled = from_layers([([other[:2]], [other[2]]), ([[1 / factor]], [0])])
    assert pf.compare.match(neuron(form), scaled).word == "equal"


@given(forms, forms)
def test_lemma_1_others_are_not(form, other):
    """not (1) => not (4): some point is active for one of them only, and not (3): the neurons differ."""
    ratios = {Fraction(p) / q for p, q in zip(other, form, strict=True) if q}
    proportional = len(ratios) == 1 and all(not p for p, q in zip(other, form, strict=True) if not q)
    positive = proportional and min(ratios) > 0
    found = pf.compare.match(
        neuron(form), from_layers([([other[:2]], [other[2]]), ([[1 / max(ratios) if positive else 1]], [0])])
    )
    assert (found.word == "equal") == positive
    if not positive:
        assert value(neuron(form), found.point) != value(neuron(other), found.point)


@pytest.mark.parametrize("seed", range(60))
def test_lemma_2(seed):
    """Neurons on different walls and a linear function are independent: values at enough points have full rank."""
    rng = np.random.default_rng([seed, 4])
    dim, count = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    rows, walls = [], set()
    while len(rows) < count:
        row = fractions(rng, dim + 1)
        if any(row[:dim]) and (wall := wall_of(rationals(row[:dim]), rationals(row[dim:])[0])[0]) not in walls:
            rows.append(row)
            walls.add(wall)
    linear = fractions(rng, dim + 1)
    if not any(linear):
        linear[0] = Fraction(1)
    points = fractions(rng, 40 * (count + 1), dim, bound=60)
    table = []
    for x in points:
        heights = [sum(row[:dim] * x) + row[dim] for row in rows]
        table.append([sum(linear[:dim] * x) + linear[dim], *(max(height, Fraction(0)) for height in heights)])
    matrix = fmpq_mat(len(table), count + 1, [entry for row in rationals(table).tolist() for entry in row])
    assert matrix.rank() == count + 1
    # So no combination of them is zero, and match says so, with a point.
    weights = [rng.integers(1, 5) for _ in rows]
    program = from_layers(
        [([list(row[:dim]) for row in rows], [row[dim] for row in rows]), ([list(map(int, weights))], [0])]
    )
    found = pf.compare.match(program, from_layers([([[0] * dim], [0])]))
    assert found.word == "different" and any(value(program, found.point))


@pytest.mark.parametrize("seed", range(20))
def test_the_form_is_unique(seed):
    """Reducing is idempotent, and a reduced network has no two neurons on one wall and none without a purpose."""
    rng = np.random.default_rng([seed, 5])
    found = pf.rewrite.irreducible(random_program(rng)).program
    again = pf.rewrite.irreducible(found)
    assert again.program.gates == found.gates and not [s for s in again.steps if s.rule in ("R1", "R2", "R3")]
    if found.stages:
        W, b = numbers(found.stages[0].rows.terms[0]), numbers(found.stages[0].rows.bias)
        assert all(any(row) for row in W) and all(any(v) for v in zip(*numbers(found.output.terms[1]), strict=True))
        rows = [[*row, bias] for row, bias in zip(W, b, strict=True)]
        for i, row in enumerate(rows):
            for other in rows[:i]:
                assert any(row[p] * other[q] != row[q] * other[p] for p in range(len(row)) for q in range(p))
