"""Slopes as pictures, against differences of the network's values."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError, ShapeError
from polyfold.network.load import load
from polyfold.plotting.scene.image_grids import centre_grid, gradient_grid, picture_of

RNG = np.random.default_rng(4)
NETWORK = [(RNG.normal(size=(8, 16)), RNG.normal(size=8)), (RNG.normal(size=(3, 8)), RNG.normal(size=3))]
X = RNG.uniform(size=(10, 16))


@pytest.mark.parametrize("bulk", [False, True])
def test_pictures_are_slopes(bulk: bool) -> None:
    maps = pf.maps.matrices(NETWORK, X) if bulk else pf.local(NETWORK, X)
    grid = gradient_grid(maps, rows=[3, 7])
    assert grid.row_names == ("input 3", "input 7") and len(grid.rows) == 2
    network, step = load(NETWORK), 1e-6
    for i, row in zip((3, 7), grid.rows, strict=True):
        shown, *slopes = row
        assert shown is not None and not shown.signed
        np.testing.assert_allclose(shown.pixels, X[i].reshape(4, 4), rtol=1e-6)
        moves = step * np.eye(16)
        expected = (network(X[i] + moves) - network(X[i] - moves)) / (2 * step)
        for j, picture in enumerate(slopes):
            assert picture is not None and picture.signed
            np.testing.assert_allclose(picture.pixels.ravel(), expected[:, j], atol=1e-4)


def test_of_many_inputs_the_first_are_shown() -> None:
    grid = gradient_grid(pf.local(NETWORK, X))
    assert len(grid.rows) == 8 and "2 inputs more" in " ".join(grid.notes)


def test_centres_are_pictures_too() -> None:
    clusters = pf.maps.cluster(pf.maps.matrices(NETWORK, X), 2)
    grid = centre_grid(clusters, image_shape=(2, 8))
    assert grid.row_names == ("output 0", "output 1", "output 2")
    for j, row in enumerate(grid.rows):
        for k, picture in enumerate(row):
            if k < len(clusters.of(j)):
                assert picture is not None
                np.testing.assert_array_equal(picture.pixels, clusters.images(j)[k].reshape(2, 8))
            else:
                assert picture is None


def test_channels_are_added_up() -> None:
    grid = gradient_grid(pf.local(NETWORK, X[:1]), image_shape=(4, 2, 2))
    picture = grid.rows[0][1]
    assert picture is not None and "4 channels" in " ".join(grid.notes)
    np.testing.assert_allclose(picture.pixels, pf.local(NETWORK, X[:1]).A[0, 0].reshape(4, 4).sum(axis=0).reshape(2, 2))


def test_wrong_shapes() -> None:
    maps = pf.local(NETWORK, X)
    with pytest.raises(ShapeError, match=r"\(3, 3\)"):
        gradient_grid(maps, image_shape=(3, 3))
    with pytest.raises(ShapeError, match="no square picture"):
        gradient_grid(pf.local([(np.ones((1, 3)), [0.0])], [[1, 2, 3]]))
    with pytest.raises(PolyfoldError, match="there is no input 10"):
        gradient_grid(maps, rows=[10])
    with pytest.raises(ShapeError, match="rows and columns"):
        picture_of(np.zeros(4))
