"""Linear regions: networks where they are known by hand, and brute force over exact maps on generated ones."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import unfolded
from helpers.slow_params import quick_then_slow
from polyfold.testing.reference import reference_unfold


def layers(*pairs):
    return [(np.array(weight, dtype=float), np.array(bias, dtype=float)) for weight, bias in pairs]


def brute_force(reference) -> set[frozenset[tuple[bool, ...]]]:
    """Cells flooded from each other through facets with equal rational maps, as sets of patterns."""
    left, found = set(range(len(reference))), set()
    while left:
        queue = [left.pop()]
        region = set(queue)
        while queue:
            cell = queue.pop()
            for facet in reference.facets[cell]:
                across = facet.neighbour
                if across in left and reference.maps[across] == reference.maps[cell]:
                    left.remove(across)
                    region.add(across)
                    queue.append(across)
        found.add(frozenset(reference.patterns[cell] for cell in region))
    return found


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_generated_networks_against_exact_maps(batch):
    merged = 0
    for seed in range(batch, 160, 4):
        case, atlas = unfolded(seed)
        if len(atlas) > 60:
            continue
        regions = pf.regions(atlas)
        patterns = [tuple(row) for row in atlas.signs().tolist()]
        found = {frozenset(patterns[cell] for cell in cells) for cells in regions.cells}
        assert found == brute_force(reference_unfold(case.program, case.domain)), case
        merged += len(regions) < len(atlas)
    assert batch % 2 == 0 or merged > 3


def test_labels_count_up_by_first_cell():
    for seed in range(40):
        _, atlas = unfolded(seed)
        regions = pf.regions(atlas)
        assert regions.label.shape == (len(atlas),)
        firsts = [int(np.flatnonzero(regions.label == k)[0]) for k in range(len(regions))]
        assert firsts == sorted(firsts)
        assert regions.first_cell.tolist() == firsts
        assert np.concatenate(regions.cells).size == len(atlas)
        assert all((regions.label[cells] == k).all() for k, cells in enumerate(regions.cells))
        A, c = regions.maps()
        B, e = atlas.maps()
        assert np.allclose(A[regions.label], B, rtol=1e-9, atol=1e-9)
        assert np.allclose(c[regions.label], e, rtol=1e-9, atol=1e-9)


def test_a_gate_that_no_output_hears():
    atlas = pf.unfold(layers((np.eye(2), [0, 0]), ([[1, 0]], [0])))
    regions = pf.regions(atlas)
    assert (len(atlas), len(regions)) == (4, 2)
    assert repr(regions) == "Regions: 2 of 4 cells; checked, complete"


def test_a_network_that_is_linear_after_all():
    """relu(z) - relu(-z) = z: two cells, one region; floats alone must not tell them apart."""
    for w in (1.0, 0.1, 1 / 3):
        atlas = pf.unfold(layers(([[w, 0.7], [-w, -0.7]], [0.3, -0.3]), ([[1, -1]], [0])))
        assert (len(atlas), len(pf.regions(atlas))) == (2, 1)


def test_maps_that_floats_can_hardly_tell_apart_are_two_regions():
    almost = np.nextafter(1.0, 2.0)
    atlas = pf.unfold(layers(([[1, 0], [-1, 0]], [0, 0]), ([[1, -almost]], [0])))
    assert (len(atlas), len(pf.regions(atlas))) == (2, 2)


def test_duplicate_and_dead_neurons():
    """A neuron and its double cancel; a dead one adds nothing; an output that is constant joins all."""
    atlas = pf.unfold(layers(([[1, 0], [1, 0], [0, 1], [0, 0]], [0, 0, 0, -1]), ([[2, -2, 1, 5]], [0])))
    assert (len(atlas), len(pf.regions(atlas))) == (4, 2)
    silent = pf.unfold(layers((np.eye(2), [0, 0]), ([[0, 0]], [1])))
    assert (len(silent), len(pf.regions(silent))) == (4, 1)


def test_xor_like_network_with_a_useless_gate():
    """relu(x + y) - 2 relu(x + y - 1): three strips; a third gate that nothing reads cuts them in two."""
    strips = pf.unfold(layers(([[1, 1], [1, 1]], [0, -1]), ([[1, -2]], [0])))
    assert (len(strips), len(pf.regions(strips))) == (3, 3)
    cut = pf.unfold(layers(([[1, 1], [1, 1], [1, -1]], [0, -1, 0]), ([[1, -2, 0]], [0])))
    assert (len(cut), len(pf.regions(cut))) == (6, 3)


def test_a_region_need_not_be_convex():
    """min(relu x, relu y) is zero on three quadrants: an L-shaped region of several cells."""
    atlas = pf.unfold(layers((np.eye(2), [0, 0]), ([[1, 0], [1, -1]], [0, 0]), ([[1, -1]], [0])))
    regions = pf.regions(atlas)
    labels = regions.label[atlas.locate([[-1, -2], [-1, 2], [2, -1], [2, 1], [1, 2]])]
    assert labels[0] == labels[1] == labels[2]
    assert len({labels[0], labels[3], labels[4]}) == 3
    assert len(regions) == 3


def test_two_areas_with_one_map_are_two_regions():
    """A hat on the line: zero left of it and zero right of it, and the two do not touch."""
    hat = pf.unfold(layers(([[1], [1], [1]], [1, 0, -1]), ([[1, -2, 1]], [0])))
    regions = pf.regions(hat)
    assert (len(hat), len(regions)) == (4, 4)
    left, right = hat.locate([[-5.0], [5.0]])
    assert all(np.array_equal(a[left], a[right]) for a in hat.maps())
    assert regions.label[left] != regions.label[right]


def test_areas_that_touch_in_a_corner_only_are_two_regions():
    """relu(x) + relu(y) - relu(x + y) is zero on two opposite quadrants, which share the origin and no more."""
    atlas = pf.unfold(layers(([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, -1]], [0])))
    regions = pf.regions(atlas)
    first, third = atlas.locate([[1.0, 1.0], [-1.0, -1.0]])
    A, c = atlas.maps([first, third])
    assert not A.any() and not c.any()
    assert regions.label[first] != regions.label[third]
    assert len(regions) == len(atlas) == 6


def test_on_a_slice_maps_are_compared_along_the_slice():
    """Across x = 0 only the y-slope of f changes; along y = 0 nothing does."""
    network = layers(([[1, 1], [1, -1]], [0, 0]), ([[1, -1]], [0]))
    plane = pf.unfold(network, pf.box(-1, 1))
    line = pf.unfold(network, pf.slice_of([0, 0], [1, 0], within=pf.box(-1, 1)))
    assert len(pf.regions(plane)) > 1
    assert (len(line), len(pf.regions(line))) == (2, 1)


def test_an_incomplete_atlas_and_one_without_gates():
    part = pf.unfold(layers((np.eye(2), [0, 0]), ([[1, 0]], [0])), max_cells=3)
    assert len(pf.regions(part)) == 2
    assert len(pf.regions(pf.unfold(layers(([[1, 2]], [0]))))) == 1


def test_huge_weights_do_not_break_the_comparison():
    """Products overflow to infinity in floats; the maps are equal all the same."""
    big = 1e200
    network = layers(([[big, 0], [0, 1]], [0, 0]), ([[big, 0], [-big, 0]], [0, 0]), ([[1, 1]], [0]))
    atlas = pf.unfold(network)
    with np.errstate(all="ignore"):
        regions = pf.regions(atlas)
    reference = reference_unfold(atlas.program)
    assert len(regions) == len(brute_force(reference)) < len(atlas)


def test_tiny_weights_do_not_vanish():
    """The factor 1e-200 * 1e-200 before relu(x) is zero in floats; the maps differ all the same."""
    tiny = 1e-200
    atlas = pf.unfold(layers(([[1]], [0]), ([[tiny]], [1]), ([[tiny]], [0])))
    assert (len(atlas), len(pf.regions(atlas))) == (2, 2)


def test_what_underflows_is_not_nothing():
    """Behind four layers of 2^-1000 errors themselves underflow; the map is still another one than zero."""
    tiny = ([[2.0**-1000]], [2.0**-1000])
    atlas = pf.unfold([tiny] * 4 + [([[1.0]], [0.0])])
    assert len(atlas) == 2 and len(pf.regions(atlas)) == 2


def test_a_product_that_underflows_backwards_does_not_tear_a_region():
    """relu(x) - relu(-x) is x, also if the first relu passes 2**700, 2**650, 2**-700 and 2**-650 on its way."""
    first = ([[2.0**700], [-1.0]], [0.0, 0.0])
    inner = [(np.diag([factor, 1.0]), np.zeros(2)) for factor in (2.0**650, 2.0**-700)]
    atlas = pf.unfold([first, *inner, ([[2.0**-650, -1.0]], [0.0])], pf.box(-1, 1))
    assert len(atlas) == 2 and len(pf.regions(atlas)) == 1
