"""What cells are coloured by, and where data lie beside them, against the network itself."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.plotting.geometry.cell_columns import cell_columns
from polyfold.plotting.geometry.samples import cells_of_inputs, in_parameters

RNG = np.random.default_rng(11)
LAYERS = [(RNG.normal(size=(b, a)), RNG.normal(size=b)) for a, b in ((3, 7), (7, 6), (6, 2))]


def values(x: np.ndarray) -> np.ndarray:
    for number, (W, b) in enumerate(LAYERS):
        x = (np.maximum(x, 0) if number else x) @ W.T + b
    return x


@pytest.mark.parametrize("domain", [pf.plane([0.1, 0.2, 0.3], [1, 0, 1], [0, 1, -1], pf.box(-2, 2)), pf.box(-1, 1)])
def test_columns_are_the_network_s(domain: object) -> None:
    atlas = pf.unfold(LAYERS, domain)
    found = cell_columns(atlas)
    inputs = atlas.lift(found.centres)
    assert np.array_equal(atlas.locate(found.centres), np.arange(len(atlas)))
    assert np.allclose(found.values, values(inputs))
    assert np.array_equal(found.label, values(inputs).argmax(axis=1))
    step = 1e-7 * np.eye(atlas.dim)
    slopes = [(values(atlas.lift(found.centres + side)) - values(inputs)) / 1e-7 for side in step]
    assert np.allclose(found.slopes, np.linalg.norm(slopes, axis=0), rtol=1e-4, atol=1e-5)
    some = cell_columns(atlas, [3, 1])
    for name in ("centres", "values", "slopes", "label", "layer", "facets"):
        assert np.allclose(getattr(some, name), getattr(found, name)[[3, 1]]), name
    # The last layer is that of the walls between cells; gates 0 to 6 are the first one's.
    for cell in range(0, len(atlas), 5):
        walls = [wall for facet in atlas.facets(cell) for wall in atlas.walls(facet) if wall < atlas.gates]
        assert found.layer[cell] == (0 if not walls else 1 if max(walls) < 7 else 2)


def test_inputs_belong_to_the_piece_that_they_are_in() -> None:
    atlas = pf.unfold(LAYERS, pf.plane([0.1, 0.2, 0.3], [1, 0, 1], [0, 1, -1], pf.box(-2, 2)))
    inputs = RNG.uniform(-2, 2, size=(200, 3))
    cells = cells_of_inputs(atlas, inputs)
    assert (cells >= 0).any() and (cells < 0).any()
    A, c = atlas.maps(cells[cells >= 0])
    assert np.allclose(np.einsum("nmi,ni->nm", A, inputs[cells >= 0]) + c, values(inputs[cells >= 0]))
    # A point of the slice is in the cell that has it, and is drawn where it is.
    points = RNG.uniform(-2, 2, size=(50, 2))
    assert np.array_equal(cells_of_inputs(atlas, atlas.lift(points)), atlas.locate(points))
    assert np.allclose(in_parameters(atlas.domain, atlas.lift(points)), points)
    # The nearest point of the slice: what is left is across both directions.
    left = inputs - atlas.lift(in_parameters(atlas.domain, inputs))
    assert np.allclose(left @ atlas.domain.basis, 0, atol=1e-12)
