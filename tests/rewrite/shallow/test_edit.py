"""Model surgery: what is changed, what is not, and where the network tears."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError, ShapeError

RNG = np.random.default_rng(0)
LAYERS = [(RNG.normal(size=(5, 2)), RNG.normal(size=5)), (RNG.normal(size=(2, 5)), RNG.normal(size=2))]
ATLAS = pf.unfold(LAYERS, pf.box(-2, 2))
NETWORK = pf.rewrite.shallow(ATLAS)
CORNER = pf.rewrite.shallow([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])


def test_only_the_chosen_pieces_change() -> None:
    found = pf.rewrite.edit(NETWORK, region=[3, 5], map=(np.zeros((2, 2)), np.ones(2)))
    points = RNG.uniform(-2, 2, size=(3000, 2))
    chosen = np.isin(NETWORK.piece(points), [3, 5])
    assert chosen.any()
    assert np.array_equal(found.network(points)[chosen], np.ones((chosen.sum(), 2)))
    assert np.array_equal(found.network(points)[~chosen], NETWORK(points)[~chosen])
    assert found.network.exactly(ATLAS.witnesses[3]).outputs == (1, 1)
    assert np.array_equal(NETWORK.alpha, pf.rewrite.shallow(ATLAS).alpha)  # the old one is as it was


def test_jumps_are_what_sampling_sees() -> None:
    """On every facet of a changed piece the outputs differ by what is reported at most, and somewhere by that."""
    found = pf.rewrite.edit(NETWORK, region=4, map=(np.array([[1.0, 0.5], [0.0, 2.0]]), np.array([0.1, -3.0])))
    assert not found.continuous and found.largest == max(jump.largest for jump in found.jumps)
    seen = {jump.pieces: jump for jump in found.jumps}
    torn = {tuple(sorted(pair)) for pair in seen}
    assert torn == {tuple(sorted((4, int(j)))) for j in ATLAS.neighbour[list(ATLAS.facets(4))] if j >= 0}
    for (near, far), jump in seen.items():
        corners = np.concatenate(ATLAS.vertices([near, far]))
        shared = corners[np.abs(NETWORK.H[jump.hyperplane] @ corners.T - NETWORK.c[jump.hyperplane]) < 1e-9]
        values = [shared @ found.network.alpha[piece].T + found.network.beta[piece] for piece in (near, far)]
        ends = np.abs(values[0] - values[1])
        # All corners of the two cells on this hyperplane are corners of the facet here.
        assert np.allclose(ends.max(axis=0), jump.size, rtol=1e-9, atol=1e-12)
        at = np.array(jump.point)
        apart = (
            (found.network.alpha[near] - found.network.alpha[far]) @ at
            + found.network.beta[near]
            - found.network.beta[far]
        )
        assert np.isclose(np.abs(apart).max(), jump.largest)


def test_interpolating() -> None:
    other = (np.ones((2, 2)), np.zeros(2))
    half = pf.rewrite.edit(NETWORK, region=2, towards=other, share=0.25).network
    assert np.allclose(half.alpha[2], 0.75 * NETWORK.alpha[2] + 0.25, rtol=1e-15)
    assert pf.rewrite.edit(NETWORK, region=2, towards=other, share=0).continuous
    assert np.array_equal(pf.rewrite.edit(NETWORK, region=2, towards=other, share=1).network.alpha[2], other[0])
    exact = CORNER.piece([[1.0, 1.0]])
    mixed = pf.rewrite.edit(CORNER, region=exact, towards=([[3, 3]], [0]), share=Fraction(1, 3)).network
    assert mixed.exactly([1, 1]).outputs == (2 * (Fraction(2, 3) + 1),)


def test_a_change_that_keeps_the_walls_tears_nothing() -> None:
    corner = CORNER.piece([[-1.0, 1.0]])
    assert pf.rewrite.edit(CORNER, region=corner, map=([[0.0, 1.0]], [0.0])).continuous
    # x_2 - 5 x_1 still meets x_1 + x_2 on x_1 = 0, but not 0 on x_2 = 0, where the jump grows for ever.
    torn = pf.rewrite.edit(CORNER, region=corner, map=([[-5.0, 1.0]], [0.0]))
    (jump,) = torn.jumps
    assert jump.size == (np.inf,) and jump.point[1] == 0 and jump.point[0] < 0
    assert "1 facet torn, by inf at most" in repr(torn)


def test_a_whole_region() -> None:
    regions = pf.regions(ATLAS)
    cells = regions.cells[0]
    found = pf.rewrite.edit(NETWORK, region=cells, map=(np.zeros((2, 2)), np.zeros(2)))
    assert set(found.pieces.tolist()) == set(cells.tolist())
    assert all(not set(jump.pieces) <= set(cells.tolist()) for jump in found.jumps)
    mask = regions.label == 0
    assert np.array_equal(
        pf.rewrite.edit(NETWORK, region=mask, map=(np.zeros((2, 2)), np.zeros(2))).network.alpha, found.network.alpha
    )


def test_frozen_pieces_are_not_trained() -> None:
    torch = pytest.importorskip("torch")
    kept = int(CORNER.piece([[1.0, 1.0]])[0])
    found = pf.rewrite.edit(CORNER, region=kept, freeze=True)
    assert found.continuous and found.network.frozen.tolist() == [i == kept for i in range(4)]
    module = found.network.to_torch()
    points = torch.tensor([[1.0, 1.0], [-1.0, 1.0]], dtype=torch.float64)
    module(points).sum().backward()
    moving = {i for i in range(4) if module.alpha.grad[i].any() or module.beta.grad[i].any()}
    assert moving == {int(CORNER.piece([[-1.0, 1.0]])[0])}


def test_weight_decay_leaves_frozen_pieces_alone() -> None:
    torch = pytest.importorskip("torch")
    kept = int(CORNER.piece([[1.0, 1.0]])[0])
    module = pf.rewrite.edit(CORNER, region=kept, freeze=True).network.to_torch()
    optimiser = torch.optim.AdamW(module.parameters(), lr=0.1, weight_decay=0.1)
    points = torch.tensor([[1.0, 2.0], [-1.0, 1.0]], dtype=torch.float64)
    for _ in range(5):
        optimiser.zero_grad()
        module(points).square().sum().backward()
        optimiser.step()
    assert module(points)[0].item() == 3 and module(points)[1].item() != 1


def test_earlier_tears_stay_listed() -> None:
    torn = pf.rewrite.edit(CORNER, region=CORNER.piece([[1.0, 1.0]]), map=([[1, 1]], [5])).network
    again = pf.rewrite.edit(torn, region=CORNER.piece([[-1.0, -1.0]]), freeze=True)
    assert not again.continuous and again.largest == 5 and len(again.jumps) == 2


def test_the_smallest_tear_is_one() -> None:
    torn = pf.rewrite.edit(CORNER, region=0, map=([[0, 0]], [Fraction(1, 10**400)]))
    assert not torn.continuous


def test_pieces_given_with_a_tolerance_are_not_known_to_meet() -> None:
    pieces = [(([[1.0]], [0.0]), ([[0.0]], [0.0])), (([[-1.0]], [1e-9]), ([[0.0]], [0.0]))]
    network = pf.rewrite.from_pieces(pieces, pf.box(-1, 1), tolerance=1e-6)
    with pytest.raises(PolyfoldError, match="it is not known which of them meet"):
        pf.rewrite.edit(network, region=1, map=([[0.0]], [100.0]))
    assert pf.rewrite.edit(network, region=1, freeze=True).network.frozen.tolist() == [False, True]


@pytest.mark.parametrize(
    ("region", "options", "error", "message"),
    [
        (0, {}, PolyfoldError, "nothing to do"),
        (0, {"map": ([[1, 1]], [0]), "towards": ([[1, 1]], [0])}, PolyfoldError, "give one of the two"),
        (9, {"freeze": True}, IndexError, "there is no piece 9: the network has 4"),
        ([], {"freeze": True}, ShapeError, "must be one or more numbers"),
        ("first", {"freeze": True}, ShapeError, "region='first'"),
        (0, {"map": ([[1]], [0])}, ShapeError, r"map must have A of shape \(1, 2\)"),
        (0, {"map": 3}, ShapeError, r"map must be \(A, c\)"),
        (0, {"map": ([[np.inf, 1]], [0])}, ShapeError, "finite"),
        (0, {"towards": ([[1, 1]], [0]), "share": np.nan}, PolyfoldError, "share=nan"),
        (0, {"map": ([[1, 1]], [0]), "share": 0.3}, PolyfoldError, "share=0.3 means nothing without towards"),
        (0, {"map": ([[10**400, 1]], [0])}, PolyfoldError, "the map of piece 0 has numbers that are too large"),
    ],
)
def test_bad_input(region: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pf.rewrite.edit(CORNER, region=region, **options)


def test_only_shallow_networks_are_edited() -> None:
    with pytest.raises(PolyfoldError, match="edit takes a shallow network"):
        pf.rewrite.edit(ATLAS, region=0, freeze=True)  # type: ignore[arg-type]
