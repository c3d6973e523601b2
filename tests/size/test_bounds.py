"""Bounds on numbers of cells: by hand, by brute force over the formulas, and never below the real number."""

from __future__ import annotations

from itertools import pairwise, product
from math import comb, prod

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import unfolded
from polyfold.engine.bounds import formulas
from polyfold.engine.bounds.formulas import in_short


def layers(widths, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in pairwise(widths)]


def test_values_by_hand():
    # Three lines in general position make seven parts of a plane, five planes 26 of space, and so on.
    assert [formulas.zaslavsky(n, 2) for n in range(6)] == [1, 2, 4, 7, 11, 16]
    assert formulas.zaslavsky(5, 3) == 26 and formulas.zaslavsky(4, 9) == 16
    assert formulas.raghu([3, 3], 2) == 49
    # The second layer sees an image in one dimension.
    assert formulas.montufar_2017([1, 3], 2) == 2 * 4
    assert formulas.montufar_2017([3, 3], 2) == 49
    # With j_1 gates off, 2 - j_1 dimensions are left: 1 * (1 + 2 + 1) + 2 * (1 + 2) + 1 * 1.
    assert formulas.serra_2018([2, 2], 2) == 11
    # Two layers of four in the plane: each of the first folds the plane 2^2 times onto itself.
    assert formulas.montufar_2014([4, 4], 2) == 4 * 11
    assert formulas.hanin_rolnick(10, 2) == 50 and formulas.hanin_rolnick(2, 5) == 4
    assert formulas.segment_bound([3, 2]) == 11 and formulas.segment_bound([]) == 0


def test_serra_is_its_own_sum():
    for widths in product(range(1, 5), repeat=3):
        for dim in range(1, 5):
            total = 0
            for j in product(*(range(n + 1) for n in widths)):
                caps = [min([dim, widths[k], *(widths[i] - j[i] for i in range(k))]) for k in range(3)]
                if all(j[k] <= caps[k] for k in range(3)):
                    total += prod(comb(n, i) for n, i in zip(widths, j, strict=True))
            assert formulas.serra_2018(widths, dim) == total


def test_bounds_are_ordered():
    for widths in product((1, 2, 5, 9), repeat=3):
        for dim in (1, 2, 4, 7):
            least = formulas.serra_2018(widths, dim)
            assert least <= formulas.montufar_2017(widths, dim) <= formulas.raghu(widths, dim) <= 2 ** sum(widths)
            if min(widths) >= dim:
                assert formulas.montufar_2014(widths, dim) <= least


@pytest.mark.parametrize("batch", range(4))
def test_no_network_has_more_cells(batch):
    """Also with max gates, skips, leaky slopes, on slices and on degenerate networks."""
    tight = 0
    for seed in range(batch, 240, 4):
        case, atlas = unfolded(seed)
        found = pf.size.bounds(atlas)
        assert found.cells == len(atlas)
        for entry in found:
            if entry.kind == "upper" and entry.value is not None:
                assert len(atlas) <= entry.value, (case, entry)
        tight += len(atlas) == found.upper
        assert pf.graph.diameter(atlas).diameter <= found["segment"].value, case
    assert batch % 2 == 1 or tight > 2


def test_random_deep_networks_have_fewer():
    for seed in range(10):
        found = pf.size.bounds(pf.count(layers([3, 8, 7, 6, 1], seed)))
        assert found.cells is not None and found.cells <= found["Serra 2018"].value == found.upper


def test_a_fold_reaches_the_lower_construction():
    """|x| doubled: two layers that fold a line twice have four regions, as the construction of 2014 promises."""
    tent = ([[1.0], [1.0]], [1.0, 0.0])  # relu(x + 1) - 2 relu(x) is a tent over [-1, 1]
    again = ([[2.0, -4.0], [2.0, -4.0]], [-0.0, -1.0])
    atlas = pf.unfold([tent, again, ([[1.0, -2.0]], [0.0])])
    assert len(pf.regions(atlas)) >= formulas.montufar_2014([2, 2], 1) - 2
    assert len(atlas) <= pf.size.bounds(atlas).upper


def test_what_does_not_hold_says_why():
    deep = pf.size.bounds(layers([2, 4, 4, 1]))
    assert deep["Zaslavsky"].value is None and "one layer" in deep["Zaslavsky"].reason
    narrow = pf.size.bounds(layers([3, 4, 2, 1]))
    assert "at least 3 gates" in narrow["Montufar 2014"].reason
    torch = pytest.importorskip("torch")

    class Residual(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = (torch.nn.Linear(2, 2) for _ in range(3))

        def forward(self, x):
            y = torch.relu(self.a(x))
            return self.c(torch.relu(x + self.b(y)))

    skip = pf.size.bounds(pf.load(Residual(), input_shape=(2,)))
    assert "reads others" in skip["Serra 2018"].reason and skip["Serra 2018"].value is None
    assert skip["Raghu 2017"].value is not None
    leaky = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LeakyReLU(), torch.nn.Linear(3, 1))
    found = pf.size.bounds(pf.load(leaky))
    assert "zero where they are off" in found["Serra 2018"].reason and found["Montufar 2017"].value == 7
    conv = torch.nn.Sequential(torch.nn.Conv1d(1, 2, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(6, 1))
    found = pf.size.bounds(pf.load(conv, input_shape=(1, 4)))
    assert "fully connected" in found["Montufar 2014"].reason and found["Serra 2018"].value is not None


def test_slices_have_their_own_dimension():
    network = layers([6, 8, 1])
    found = pf.size.bounds(network, pf.plane(np.zeros(6), np.eye(6)[0], np.eye(6)[1]))
    assert found.dim == 2 and found["Zaslavsky"].value == 37
    assert pf.size.bounds(network)["Zaslavsky"].value == formulas.zaslavsky(8, 6)


def test_incomplete_counts_are_no_counts():
    atlas = pf.unfold(layers([3, 9, 1]), max_cells=5)
    assert not atlas.complete and pf.size.bounds(atlas).cells is None
    with pytest.raises(pf.PolyfoldError, match="its own"):
        pf.size.bounds(atlas, pf.box(0, 1))
    with pytest.raises(pf.PolyfoldError, match="there is no bound 'Serra'"):
        pf.size.bounds(atlas)["Serra"]


def test_no_gates():
    found = pf.size.bounds([(np.ones((1, 2)), np.zeros(1))])
    assert found.upper == 1 and found["segment"].value == 0


@pytest.mark.parametrize("value", [0, 9, 10**12 - 1, 10**12, 10**15 - 1, 10**15, 10**16 - 1, 2**64, 2**1000, 7**5000])
def test_long_numbers_in_short(value):
    said = in_short(value)
    if value < 10**12:
        assert said == f"{value:,}"
    else:
        lead, power = said.split("e+")
        scaled = value * 100 // 10 ** int(power)
        assert 100 <= scaled < 1000 and lead == f"{scaled / 100:.2f}"


def test_bounds_of_a_large_network_take_no_time():
    found = pf.size.bounds(layers([784, 300, 300, 10]))
    assert found["all patterns"].value == 2**600
    assert found.to_json()["bounds"][0]["value"] == 2**600
    wide = pf.size.bounds(layers([2, 6000, 1]))
    assert wide.to_json()["bounds"][0]["value"] is None and wide.to_json()["bounds"][0]["short"].endswith("e+1806")
