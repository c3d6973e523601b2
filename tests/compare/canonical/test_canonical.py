"""Canonical forms that are known by hand, what they hold, and what is refused."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest
import torch

import polyfold as pf
from helpers.atlas_oracles import CORNER, unfolded
from polyfold.compare.canonical.form import Jump, Support
from polyfold.errors import LimitError


def layers(*pairs):
    return [(np.array(weight, dtype=float), np.array(bias, dtype=float)) for weight, bias in pairs]


ABSOLUTE = layers(([[1], [-1]], [0, 0]), ([[1, 1]], [0]))


def test_the_absolute_value_in_four_ways():
    form = pf.compare.canonical(ABSOLUTE)
    assert form.maps == (((-1, 0),), ((1, 0),))
    assert form.jumps == (Jump((1, 0), (Fraction(2),), Support(1), ()),)
    assert (form.inputs, form.outputs, form.domain) == (1, 1, ())
    # 2 relu(x) - x, with x as relu(x) - relu(-x) of its own scale
    assert pf.compare.canonical(layers(([[1], [4], [-0.5]], [0, 0, 0]), ([[2, -0.25, 2]], [0]))) == form
    # relu(|x|), two layers deep
    assert pf.compare.canonical(layers(([[1], [-1]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0]))) == form
    # | |x| + 1 | - 1
    assert pf.compare.canonical(layers(([[1], [-1]], [0, 0]), ([[1, 1], [-1, -1]], [1, -1]), ([[1, 1]], [-1]))) == form
    # and in another framework
    module = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    for parameter, values in zip(module.parameters(), ([[-2.0], [0.5]], [0.0, 0.0], [[0.5, 2.0]], [0.0]), strict=True):
        parameter.data = torch.tensor(values)
    assert pf.compare.canonical(module) == form


def test_the_form_of_the_maximum_of_three_planes():
    """max(x, y, 0) bends on three rays from the origin."""
    form = pf.compare.canonical(
        layers(([[0, 1], [1, 0], [-1, 0]], [0, 0, 0]), ([[-1, 1, -1], [1, 0, 0]], [0, 0]), ([[1, 1]], [0]))
    )
    assert form.maps == (((0, 0, 0),), ((0, 1, 0),), ((1, 0, 0),))
    one = (Fraction(1),)
    assert form.jumps == (
        Jump((0, 1, 0), one, Support(0, (((1, 0, 0), Support(-1)),)), ()),  # y = 0 where x <= 0
        Jump((1, -1, 0), one, Support(1, (((0, 1, 0), Support(1)),)), ()),  # x = y where y >= 0
        Jump((1, 0, 0), one, Support(0, (((0, 1, 0), Support(-1)),)), ()),  # x = 0 where y <= 0
    )


def test_a_region_that_is_not_convex():
    """relu(min(x, y)) is zero on an L, however that is cut into cells."""
    # min(x, y) = x - relu(x - y) = y - relu(y - x)
    by_x = layers(([[1, -1], [1, 0], [-1, 0]], [0, 0, 0]), ([[-1, 1, -1]], [0]), ([[1]], [0]))
    by_y = layers(([[-1, 1], [0, 1], [0, -1]], [0, 0, 0]), ([[-1, 1, -1]], [0]), ([[1]], [0]))
    first, second = pf.compare.canonical(by_x), pf.compare.canonical(by_y)
    assert first == second and first.digest == second.digest
    assert [jump.hyperplane for jump in first.jumps] == [(0, 1, 0), (1, -1, 0), (1, 0, 0)]
    bounded = [pf.compare.canonical(network, pf.box(-1, 2)) for network in (by_x, by_y)]
    assert bounded[0] == bounded[1] != first


def test_a_network_that_is_zero_has_the_form_of_zero():
    """x+ - (-x)+ + y+ - (-y)+ - (x+y)+ + (-x-y)+ = 0, with neurons that all cut and all differ."""
    rows = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]]
    network = layers((rows, np.zeros(6)), ([[1, -1, 1, -1, -1, 1]], [0]))
    zero = layers(([[0, 0]], [0]))
    assert len(pf.unfold(network)) == 6
    for domain in (None, pf.box(-1, 1), pf.polytope([[1.0, 1.0]], [1.0])):
        form = pf.compare.canonical(network, domain)
        assert form == pf.compare.canonical(zero, domain)
        assert form.digest == pf.compare.canonical(zero, domain).digest
        assert form.maps == (((0, 0, 0),),) and form.jumps == ()
    assert pf.compare.canonical(zero) != pf.compare.canonical(layers(([[0, 0]], [5e-324])))
    assert pf.compare.canonical(zero) != pf.compare.canonical(layers(([[0]], [0])))
    assert pf.compare.canonical(zero) != pf.compare.canonical(layers(([[0, 0], [0, 0]], [0, 0])))


def test_a_bend_that_stops_in_the_middle_of_a_line():
    """relu(x) where y < 0 and relu(x - y) where y > 0: of the line x = 0 only one half is left."""
    form = pf.compare.canonical(layers(([[0, 1], [1, 0], [-1, 0]], [0, 0, 0]), ([[-1, 1, -1]], [0]), ([[1]], [0])))
    (jump,) = [jump for jump in form.jumps if jump.hyperplane == (1, 0, 0)]
    assert jump.where == Support(0, (((0, 1, 0), Support(-1)),))


def test_two_amounts_on_one_hyperplane():
    """relu(x) + relu(x + relu(y)) - relu(y) bends on x = 0 by 2 where y < 0, and by 1 where y > 0."""
    network = layers(
        ([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, 0, 0], [1, -1, 1], [0, 0, 1]], [0, 0, 0]), ([[1, 1, -1]], [0])
    )
    form = pf.compare.canonical(network)
    amounts = {jump.amount[0]: jump.where for jump in form.jumps if jump.hyperplane == (1, 0, 0)}
    at_zero = (0, 1, 0)
    assert amounts == {
        Fraction(1): Support(1, ((at_zero, Support(1)),)),
        Fraction(2): Support(0, ((at_zero, Support(-1)),)),
    }


def test_a_triangle_by_its_border():
    """In a prism the map changes on a triangle of the plane z = 0: edges and corners, each with its side."""
    prism = pf.polytope([[-1.0, 0, 0], [0, -1, 0], [1, 1, 0], [0, 0, 1], [0, 0, -1]], [0.0, 0, 1, 1, 1])
    form = pf.compare.canonical(layers(([[0, 0, 1]], [0]), ([[1]], [0])), prism)
    (jump,) = form.jumps
    assert jump.hyperplane == (0, 0, 1, 0)
    assert jump.where.at_infinity == 0
    assert jump.where.border == (
        # y = 0 from x = 0 to x = 1
        ((0, 1, 0, 0), Support(0, (((1, 0, 0, -1), Support(-1)), ((1, 0, 0, 0), Support(1))))),
        # x = 0 from y = 0 to y = 1
        ((1, 0, 0, 0), Support(0, (((0, 1, 0, -1), Support(-1)), ((0, 1, 0, 0), Support(1))))),
        # x + y = 1 from y = 0 to y = 1; here the triangle ends, so that all counts are the opposite
        ((1, 1, 0, -1), Support(0, (((0, 1, 0, -1), Support(1)), ((0, 1, 0, 0), Support(-1))))),
    )


def test_the_domain_is_part_of_the_form():
    forms = [pf.compare.canonical(CORNER, domain) for domain in (None, pf.box(-1, 1), pf.box(-1, 2), pf.box(0.5, 1))]
    assert len({form.digest for form in forms}) == len(set(forms)) == 4
    assert forms[1].domain == ((-1, 0, 1), (0, -1, 1), (0, 1, 1), (1, 0, 1))
    rows = np.concatenate([np.eye(2), -np.eye(2), 2 * np.eye(2), [[1.0, 1.0]], [[0.0, 0.0]]])
    same = pf.polytope(rows, [1.0, 1, 1, 1, 2, 2, 2, 3])
    assert pf.compare.canonical(CORNER, same) == forms[1]


def test_on_a_slice_the_function_is_one_of_the_parameters():
    along = pf.compare.canonical(CORNER, pf.slice_of([0.0, 0.0], [[2.0], [-2.0]]))
    assert along == pf.compare.canonical(layers(([[2], [-2]], [0, 0]), ([[1, 1]], [0])))


def test_outputs_have_an_order():
    both = layers(([[1], [-1]], [0, 0]), ([[1, 0], [0, 1]], [0, 0]))
    turned = layers(([[1], [-1]], [0, 0]), ([[0, 1], [1, 0]], [0, 0]))
    assert pf.compare.canonical(both) != pf.compare.canonical(turned)


def test_what_the_atlas_has_to_do_with_it():
    for seed in range(40):
        _, atlas = unfolded(seed)
        if len(atlas) > 60:
            continue
        form = pf.compare.canonical(atlas)
        assert np.sort(np.concatenate(form.cells)).tolist() == list(range(len(atlas)))
        A, c = atlas.maps(over="parameters")
        for lines, cells in zip(form.maps, form.cells, strict=True):
            numbers = np.array([[float(x) for x in line] for line in lines])
            for cell in cells:
                assert np.allclose(np.column_stack([A[cell], c[cell]]), numbers, rtol=1e-9, atol=1e-9)
        facets = [facet for jump in form.jumps for facet in jump.facets]
        assert len(set(facets)) == len(facets)
        owner = atlas.facet_owner
        map_of = {cell: number for number, cells in enumerate(form.cells) for cell in cells}
        bends = (atlas.neighbour > owner) & [
            map_of[i] != map_of.get(j) for i, j in zip(owner, atlas.neighbour, strict=True)
        ]
        assert sorted(facets) == np.flatnonzero(bends).tolist()


def test_the_digest_is_that_of_the_json_text(tmp_path):
    atlas = pf.unfold(CORNER, pf.box(-1, 1))
    form = pf.compare.canonical(atlas)
    text = json.dumps(form.facts(), separators=(",", ":"), sort_keys=True)
    assert form.digest == hashlib.sha256(text.encode()).hexdigest()
    assert json.loads(text) == form.facts() and form.facts().items() <= form.to_json().items()
    atlas.save(tmp_path / "corner.parquet")
    assert pf.compare.canonical(pf.open(tmp_path / "corner.parquet")).digest == form.digest
    assert (
        repr(form)
        == f"Canonical: 4 maps, 2 hyperplanes between them, 2 -> 1; digest {form.digest[:12]}...; checked, complete"
    )


def test_a_digest_stays_what_it_is():
    """Digests are kept outside: a change of what is digested must change the name of the format."""
    text = (
        '{"domain":[],"format":"polyfold canonical form 1","inputs":1,'
        '"jumps":[{"amount":["2"],"hyperplane":["1","0"],"where":[1,[]]}],'
        '"maps":[[["-1","0"]],[["1","0"]]],"outputs":1}'
    )
    assert pf.compare.canonical(ABSOLUTE).digest == hashlib.sha256(text.encode()).hexdigest()


def test_numbers_of_very_many_digits():
    """Slopes far below the smallest float, with more digits than Python writes of an integer."""
    network = layers(*[([[2.0**-1000]], [2.0**-1000])] * 15, ([[1]], [0]))
    form = pf.compare.canonical(network)
    assert len(form.maps) == 2
    assert form.maps[1][0][0] == Fraction(1, 2**15000)
    assert len(form.digest) == 64


def test_an_incomplete_atlas_is_refused():
    rng = np.random.default_rng(0)
    network = layers((rng.normal(size=(9, 2)), rng.normal(size=9)), (rng.normal(size=(1, 9)), [0]))
    with pytest.raises(pf.PolyfoldError, match=r"incomplete \(stopped by max_cells\).*pf\.resume"):
        pf.compare.canonical(pf.unfold(network, max_cells=3))
    with pytest.raises(pf.PolyfoldError, match="has a domain of its own"):
        pf.compare.canonical(pf.unfold(network), pf.box(-1, 1))


def test_too_many_chains_are_refused():
    rng = np.random.default_rng(0)
    network = layers((rng.normal(size=(6, 3)), rng.normal(size=6)), (rng.normal(size=(1, 6)), [0]))
    atlas = pf.unfold(network)
    with pytest.raises(LimitError, match=r"the 42 cells have about [\d,]+ chains of faces, more than max_chains=50"):
        pf.compare.canonical(atlas, max_chains=50)
    with pytest.raises(LimitError, match=r"the network has more than 11 cells.*max_chains=10"):
        pf.compare.canonical(network, max_chains=10)
    assert pf.compare.canonical(atlas, max_chains=None) == pf.compare.canonical(network)
    with pytest.raises(LimitError, match="max_chains=0"):
        pf.compare.canonical(atlas, max_chains=0)
