"""Many cells: one image, few traces, little text, and notes that say so."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import polyfold as pf
from helpers.plotted_networks import forward, random_layers
from helpers.read_back import holds, image, notes
from polyfold.plotting.geometry.raster import raster
from polyfold.plotting.geometry.view import View
from polyfold.plotting.render.plotly import IMAGE_FROM, IMAGE_SIDE
from polyfold.plotting.render.style import class_colour, soft
from polyfold.plotting.scene.plane import MOST_TEXTS


@pytest.mark.parametrize("width", [88, pytest.param(290, marks=pytest.mark.slow)])
def test_many_cells_are_an_image_in_the_right_colours(width: int) -> None:
    layers = random_layers(0, width, width, outputs=4)
    atlas = pf.unfold(layers, pf.box([-2, -1], [2, 1]))
    assert len(atlas) > (IMAGE_FROM if width == 88 else 50_000)
    figure = pf.plot(atlas, colour="class")
    pixels = image(figure)
    assert pixels.shape == (IMAGE_SIDE // 2, IMAGE_SIDE, 4)
    assert (pixels[..., 3] == 255).all()
    rng = np.random.default_rng(0)
    column, row = rng.integers(IMAGE_SIDE, size=500), rng.integers(IMAGE_SIDE // 2, size=500)
    middles = np.stack([column + 0.5, row + 0.5], axis=1) * 4 / IMAGE_SIDE - [2, 1]
    values = np.sort(forward(layers, middles), axis=1)
    clear = values[:, -1] - values[:, -2] > 1e-9
    assert clear.sum() > 450
    winners = forward(layers, middles).argmax(axis=1)
    for k, pixel in zip(winners[clear].tolist(), pixels[row, column][clear], strict=True):
        assert "#" + bytes(pixel[:3]).hex() == soft(class_colour(k))
    assert len(figure.data) < 70 and len(figure.to_json()) < 4e6
    said = notes(figure)
    assert f"as an image of {IMAGE_SIDE:,} points" in said
    assert f"Only the {MOST_TEXTS:,} largest" in said
    (texts,) = [t for t in figure.data if t.mode == "markers" and t.marker.opacity == 0]
    assert texts.type == "scattergl" and MOST_TEXTS <= len(texts.x) < 2 * MOST_TEXTS


def test_a_smaller_view_shows_polygons() -> None:
    atlas = pf.unfold(random_layers(0, 80, 80), pf.box(-2, 2))
    figure = pf.plot(atlas, view=(-0.5, 0.5, -0.5, 0.5))
    assert not figure.layout.images and any(trace.fill == "toself" for trace in figure.data)
    assert "image" not in notes(figure)


def test_no_trace_for_each_cell() -> None:
    atlas = pf.unfold(random_layers(1, 25, 25), pf.box(-2, 2))
    assert len(atlas) > 500
    for colour, most in (("output", 66), ("class", 8), ("facets", 20), ("region", 12)):
        figure = pf.plot(atlas, colour=colour)
        assert len(figure.data) <= most
        assert len(json.dumps(json.loads(figure.to_json()))) < 1.5e6


@pytest.mark.slow
def test_many_cells_are_drawn_in_seconds() -> None:
    atlas = pf.unfold(random_layers(0, 290, 290, outputs=2), pf.box(-2, 2))
    start = time.perf_counter()
    pf.plot(atlas)
    assert time.perf_counter() - start < 60


def test_rasters_by_hand() -> None:
    rng = np.random.default_rng(3)
    atlas = pf.unfold(random_layers(2, 9), pf.polytope([[-1.0, 0], [0, -1.0], [1.0, 1.0]], [1.0, 1.0, 1.0]))
    corners = [v[np.argsort(np.arctan2(*(v - v.mean(axis=0)).T))] for v in atlas.vertices()]
    start = np.cumsum([0, *map(len, corners)])
    view = View(np.array([-1.5, -1.2]), np.array([1.7, 1.9]))
    owner = raster(start, np.concatenate(corners), view, 37, 23)
    assert owner.shape == (23, 37)
    for row, column in rng.integers([23, 37], size=(200, 2)):
        middle = view.lo + (np.array([column, row]) + 0.5) / [37, 23] * (view.hi - view.lo)
        inside = [k for k, ring in enumerate(corners) if holds(ring, middle)]
        assert [k for k in [owner[row, column]] if k >= 0] == inside
