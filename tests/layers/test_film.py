"""The frames of a film strip: one plane for all, and parts of the plane that are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.random_layers import layers_of, points_in
from polyfold.datasets.blobs import blobs, blobs_data
from polyfold.layers.film_frames import film


def inside(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Whether points lie in a convex polygon: on one side of all its edges."""
    if len(corners) < 3:
        return np.zeros(len(points), dtype=bool)
    edges = np.roll(corners, -1, axis=0) - corners
    away = points[:, None] - corners
    cross = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
    return (cross >= 0).all(axis=1) | (cross <= 0).all(axis=1)


def test_frames_in_the_plane() -> None:
    X, y = blobs_data()
    found = pf.layers.truncation(blobs())
    seen = found.interpret(X, y)
    strip = film(found, seen)
    assert [frame.title for frame in strip.frames][:2] == ["input", "behind layer 1, 'relu1'"]
    assert len(strip.frames) == 4 and strip.share == 1.0
    rng = np.random.default_rng(0)
    x0, x1, y0, y1 = strip.extent
    grid = rng.uniform([x0, y0], [x1, y1], (2000, 2))
    for k, frame in enumerate(strip.frames):
        assert np.array_equal(frame.points, seen.states[k])
        assert ((frame.points >= [x0, y0]) & (frame.points <= [x1, y1])).all()
        if k == 3:
            best = (grid @ found.output_weight.T + found.output_bias).argmax(axis=1)
            for j, corners in enumerate(frame.winners):
                assert np.array_equal(inside(corners, grid), best == j)
            assert frame.base is None and len(frame.walls) == 0
            continue
        tau = found.maps[k]
        assert np.array_equal(frame.base, tau.base) and frame.winners == ()
        a = tau.coordinates(grid)
        assert np.array_equal(inside(frame.kept, grid), (a > 0).all(axis=1))
        assert np.array_equal(inside(frame.collapsed, grid), (a < 0).all(axis=1))
        for start, end in frame.walls:
            on_a_wall = np.abs(tau.coordinates(np.stack([start, end]))).min(axis=1)
            np.testing.assert_allclose(on_a_wall, 0, rtol=0, atol=1e-9)


def test_outputs_have_the_colours_of_their_classes() -> None:
    """Labels are sorted, outputs are not: who wins where decides which is which."""
    X, y = blobs_data()
    found = pf.layers.truncation(blobs())
    names = np.array(["top", "left", "right"])[y]
    seen = found.interpret(X, names)
    assert seen.classes == ("left", "right", "top")
    assert film(found, seen).class_of_output == (2, 0, 1)
    some = y != 1
    assert film(found, found.interpret(X[some], y[some])).class_of_output == (0, -1, 1)


def test_principal_components_in_more_dimensions() -> None:
    rng = np.random.default_rng(0)
    layers = layers_of(rng, [5, 4, 3, 2])
    found = pf.layers.truncation(layers)
    seen = found.interpret(points_in(rng, 40, 5))
    strip = film(found, seen)
    everything = np.concatenate(seen.states)
    values, vectors = np.linalg.eigh(np.cov(everything.T))
    assert strip.share == pytest.approx(values[-2:].sum() / values.sum())
    np.testing.assert_allclose(strip.basis.T @ strip.basis, np.eye(2), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.abs(vectors[:, [-1, -2]].T @ strip.basis), np.eye(2), rtol=0, atol=1e-9)
    for frame, state in zip(strip.frames, seen.states, strict=True):
        np.testing.assert_allclose(frame.points, (state - everything.mean(axis=0)) @ strip.basis, rtol=0, atol=1e-12)
        assert len(frame.walls) == 0 and not frame.winners


def test_one_input_one_output_and_one_point() -> None:
    found = pf.layers.truncation([(np.array([[2.0]]), np.array([1.0])), (np.array([[1.0]]), np.array([-1.0]))])
    strip = film(found, found.interpret([[1.0], [-3.0]]))
    assert strip.frames[0].points.tolist() == [[1.0, 0.0], [-3.0, 0.0]] and strip.extent[2] < 0 < strip.extent[3]
    flat = pf.layers.truncation([(np.eye(2), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([-1.0]))])
    strip = film(flat, flat.interpret([[1.0, 3.0]]))
    last = strip.frames[-1]
    assert strip.class_of_output == (-1, 0)
    assert len(last.winners) == 2 and inside(last.winners[1], np.array([[1.0, 3.0]])).all()
    three = pf.layers.truncation([(np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3))])
    strip = film(three, three.interpret([[1.0, 2.0, 3.0]]))
    assert strip.share == 1.0 and np.isfinite(strip.frames[0].points).all()


def test_the_picture(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    X, y = blobs_data()
    found = pf.layers.truncation(blobs())
    for ending, begins in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        path = tmp_path / f"strip{ending}"
        figure = pf.layers.film_strip(found, X, y, out=path)
        assert path.read_bytes().startswith(begins)
        assert figure.axes[0].get_title() == "input" and len(figure.axes) == 4
        again = tmp_path / f"again{ending}"
        pf.layers.film_strip(found, X, y, out=again)
        assert again.read_bytes() == path.read_bytes()
    shown = figure.axes[3].collections
    assert sum(len(part.get_offsets()) for part in shown if part.get_label() in "012") == 180
    with pytest.raises(pf.PolyfoldError, match=r"must end in \.png, \.svg, \.pdf"):
        pf.layers.film_strip(found, X, y, out=tmp_path / "strip.bmp")
    assert len(list(tmp_path.iterdir())) == 6


def test_a_picture_in_more_dimensions() -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(1)
    found = pf.layers.truncation(layers_of(rng, [4, 3, 20]))
    X = points_in(rng, 50, 4)
    figure = pf.layers.film_strip(found, X, [f"c{k % 15}" for k in range(50)])
    assert "of their variance" in figure.get_supxlabel()
