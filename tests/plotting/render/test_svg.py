"""Scenes as SVG: what is drawn lies where the scene says, in the colours it says, and texts are texts."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import polyfold as pf
from polyfold.datasets import iris
from polyfold.errors import PolyfoldError
from polyfold.plotting.geometry.polygons import polygons
from polyfold.plotting.geometry.view import view_of
from polyfold.plotting.render.style import CLASS_COLOURS
from polyfold.plotting.render.svg import draw, style
from polyfold.plotting.scene.cells import cells_scene, classes_scene
from polyfold.plotting.scene.shapes import Axes, Bars, Colouring, Curve, Mesh, Points, Polygons, Scene, Segments

SVG = "{http://www.w3.org/2000/svg}"


def drawn(scene, **options):
    """The picture as a tree; it must be well-formed XML."""
    return ElementTree.fromstring(draw(scene, standalone=True, **options))


def frame(tree):
    """From the picture back to coordinates in parts of the frame: (0, 0) is its lower left corner."""
    box = next(rect for rect in tree.iter(f"{SVG}rect") if rect.get("class") == "plot")
    x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
    return lambda places: (places - [x, y + height]) / [width, -height]


def corners(path):
    return np.array([[float(a), float(b)] for a, b in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)])


def area(points):
    after = np.roll(points, -1, axis=0)
    return abs((points[:, 0] * after[:, 1] - points[:, 1] * after[:, 0]).sum()) / 2


@pytest.fixture(scope="module")
def atlas():
    return pf.unfold(iris(), pf.box(0, 8))


def test_cells_cover_the_frame_once(atlas):
    tree = drawn(cells_scene(atlas, colour="slope"))
    place = frame(tree)
    group = next(g for g in tree.iter(f"{SVG}g") if g.get("class") == "cell")
    areas = [area(place(corners(path.get("d")))) for path in group.iter(f"{SVG}path")]
    assert len(areas) == len(atlas) and sum(areas) == pytest.approx(1.0, abs=2e-3)
    exact = polygons(atlas, view_of(atlas)).areas / 64
    assert np.allclose(areas, exact, atol=2e-3)


def test_colours_are_those_of_the_classes(atlas):
    """At the middle of every piece drawn, the network gives the class whose colour the piece has."""
    tree = drawn(classes_scene(pf.stats.classes(atlas)))
    place, network = frame(tree), pf.load(iris())
    group = next(
        g for g in tree.iter(f"{SVG}g") if g.get("class") == "patch" and g.find(f"{SVG}path/{SVG}title") is not None
    )
    pieces = list(group.iter(f"{SVG}path"))
    for path in pieces:
        middle = 8 * place(corners(path.get("d"))).mean(axis=0)
        assert path.get("class") == f"k{network(middle[None])[0].argmax()}"
    assert {path.get("class") for path in pieces} == {"k0", "k1", "k2"}
    assert all(f"--c{k}: {colour};" in style() for k, colour in enumerate(CLASS_COLOURS))


def test_points_and_curves_lie_where_they_should():
    points = np.array([[0.0, 0.0], [1.0, 2.0], [4.0, 1.0]])
    scene = Scene((Curve(points, name="f"), Points(points, name="data")), Axes(("x", "y"), ((0.0, 4.0), (0.0, 2.0))))
    tree = drawn(scene)
    place = frame(tree)
    line = next(path for path in tree.iter(f"{SVG}path") if "curve" in path.get("class", ""))
    assert np.allclose(place(corners(line.get("d"))), points / [4, 2], atol=1e-3)
    marks = next(
        g
        for g in tree.iter(f"{SVG}g")
        if g.get("class") == "data" and len(g) and "L" in g[0].get("d") and g[0].get("d").count("M") == 3
    )
    middles = [place(corners("M" + d)).mean(axis=0) for d in marks[0].get("d").split("M")[1:]]
    assert np.allclose(middles, points / [4, 2], atol=2e-3)


def test_bars_have_their_heights_and_labels_room():
    labels = tuple(f"from {k} to {k + 1}" for k in range(12))
    tree = drawn(Scene((Bars(labels, np.arange(12.0)),), Axes(("size", "cells"))))
    bars = [float(rect.get("height")) for rect in tree.iter(f"{SVG}rect") if rect.get("class") == "bar"]
    assert np.allclose(np.array(bars) / bars[-1], np.arange(12) / 11, atol=2e-3)
    places = sorted(float(text.get("x")) for text in tree.iter(f"{SVG}text") if text.text in labels)
    assert len(places) > 1 and np.diff(places).min() > 12 * 6


def test_texts_are_escaped_and_lines_of_tooltips_broken():
    bad = "<b>&\"'<br>"
    polygon = Polygons(
        np.array([0, 3]), np.eye(3)[:, :2], Colouring(np.zeros(1), bad, (bad,)), [f"{bad}\nnext"], name=bad
    )
    tree = drawn(Scene((polygon,), Axes((bad, bad)), bad, (bad,)), description=bad)
    tips = [title.text for title in tree.iter(f"{SVG}title")]
    assert tips == [bad, f"{bad}\nnext"]
    assert sum(text.text == bad for text in tree.iter(f"{SVG}text")) >= 3


def test_many_shapes_are_few_paths():
    rng = np.random.default_rng(0)
    small = rng.random((6000, 1, 2)) + np.array([[0, 0], [0.002, 0], [0, 0.002]])
    large = np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    points = np.concatenate([large, small]).reshape(-1, 2)
    scene = Scene((Polygons(np.arange(0, len(points) + 1, 3), points, None, ["text"] * 6001),))
    text = draw(scene)
    assert "text</title>" not in text and text.count("<path") < 10
    many = np.concatenate([large] * 3 + [small / 100]).reshape(-1, 2)
    scene = Scene((Polygons(np.arange(0, len(many) + 1, 3), many),), Axes(limits=((0.0, 1.0), (0.0, 1.0))))
    assert "6,000 pieces too small to be seen are not drawn." in draw(scene)


def test_classes_differ_in_shape_too():
    points = np.zeros((3, 2))
    scene = Scene((Points(points, Colouring(np.arange(3.0), "", ("a", "b", "c")), ["1", "2", "3"]),))
    group = [g for g in drawn(scene).iter(f"{SVG}g") if g.get("class") == "data"][-1]
    shapes = [corners(path.get("d")) for path in group]
    assert len({len(shape) for shape in shapes}) == 3


def test_a_scene_in_space_is_refused():
    mesh = Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]), np.zeros(1, dtype=np.int64), name="a surface")
    with pytest.raises(PolyfoldError, match="a surface of this scene is not"):
        draw(Scene((mesh,)))
    with pytest.raises(PolyfoldError, match="flat"):
        draw(Scene((Segments(np.zeros((1, 2, 3))),)))


def test_nothing_to_draw_is_an_empty_frame():
    tree = drawn(Scene(()))
    assert [rect.get("class") for rect in tree.iter(f"{SVG}rect")].count("plot") == 1
