"""Graphs over one input, read as data: pieces have the network's values, kinks are where slopes change."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.network.load import load
from polyfold.plotting.scene.line_graph import line_graph_scene
from polyfold.plotting.scene.shapes import Points, Polygons, Scene, Segments

RNG = np.random.default_rng(0)
NETWORK = [
    (RNG.normal(size=(6, 1)), RNG.normal(size=6)),
    (RNG.normal(size=(5, 6)), RNG.normal(size=5)),
    (RNG.normal(size=(3, 5)), RNG.normal(size=3)),
]


def parts(scene: Scene, kind: type) -> list:
    return [part for part in scene.parts if isinstance(part, kind)]


def test_pieces_have_the_networks_values() -> None:
    atlas = pf.unfold(NETWORK)
    (pieces,) = parts(line_graph_scene(atlas, view=(-3, 3)), Segments)
    share = RNG.uniform(size=(len(pieces.ends), 1))
    samples = pieces.ends[:, 0] * (1 - share) + pieces.ends[:, 1] * share
    output = pieces.colouring.values.astype(int)
    values = load(NETWORK)(samples[:, :1])[np.arange(len(samples)), output]
    np.testing.assert_allclose(values, samples[:, 1], atol=1e-9)
    for k in range(3):
        assert np.ptp(pieces.ends[output == k][..., 0], axis=1).sum() == pytest.approx(6.0, rel=1e-12)
    assert pieces.colouring.names == ("y0", "y1", "y2")


def test_kinks_are_where_slopes_change() -> None:
    atlas = pf.unfold(NETWORK)
    scene = line_graph_scene(atlas, view=(-3, 3), output=1)
    (points,) = parts(scene, Points)
    network, step = load(NETWORK), 1e-7
    x = points.points[:, :1]
    left, middle, right = (network(x + move)[:, 1] for move in (-step, 0.0, step))
    np.testing.assert_allclose(middle, points.points[:, 1], atol=1e-9)
    # Where the output itself has a kink, the slopes on both sides differ; elsewhere they do not.
    (pieces,) = parts(scene, Segments)
    slopes = np.diff(pieces.ends[..., 1], axis=1).ravel() / np.diff(pieces.ends[..., 0], axis=1).ravel()
    np.testing.assert_allclose((right - 2 * middle + left) / step, np.diff(slopes), atol=1e-4)
    assert all("is zero" in text for text in points.hover)


def test_the_strip_says_who_wins() -> None:
    atlas = pf.unfold(NETWORK)
    (strip,) = parts(line_graph_scene(atlas, view=(-3, 3)), Polygons)
    corners = strip.points.reshape(-1, 4, 2)
    left, right = corners[..., 0].min(axis=1), corners[..., 0].max(axis=1)
    assert (right - left).sum() == pytest.approx(6.0, rel=1e-12)
    middles = (left + right) / 2
    assert (strip.colouring.values == load(NETWORK)(middles[:, None]).argmax(axis=1)).all()
    assert not parts(line_graph_scene(atlas, strip=False), Polygons)
    one = pf.unfold([([[1.0]], [0.0]), ([[1.0]], [-1.0])], pf.box(-3, 3))
    assert not parts(line_graph_scene(one), Polygons)
    (strip,) = parts(line_graph_scene(one, strip=True), Polygons)
    ends = dict(zip(strip.colouring.values.tolist(), strip.points[2::4, 0].round(9).tolist(), strict=True))
    assert ends == {0: 1.0, 1: 3.0}


def test_what_lies_beyond_is_said() -> None:
    atlas = pf.unfold(NETWORK)
    notes = " ".join(line_graph_scene(atlas, view=(-0.01, 0.01)).notes)
    assert "outside the view" in notes
    whole = line_graph_scene(pf.unfold(NETWORK, pf.box(-1, 1)))
    assert not whole.notes and whole.axes.limits[0] == (-1.0, 1.0)
    assert "go on beyond" in " ".join(line_graph_scene(atlas).notes)


def test_data_lie_on_the_graph() -> None:
    scene = line_graph_scene(pf.unfold(NETWORK, pf.box(-1, 1)), X=[[0.5], [-0.25], [7.0]], output=[2])
    data = next(part for part in parts(scene, Points) if part.name == "data")
    np.testing.assert_allclose(data.points[:, 1], load(NETWORK)(data.points[:, :1])[:, 2], atol=1e-12)
    assert data.points[:, 0].tolist() == [0.5, -0.25]
