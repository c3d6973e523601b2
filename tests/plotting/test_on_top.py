"""What is drawn over cells: boundaries, folds, boxes, data; and what cells say when pointed at."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.plotted_networks import DEGENERATE, before_layer, forward, random_layers
from helpers.read_back import lines, notes
from polyfold.plotting.render.style import CLASS_COLOURS, LOOKS, class_colour

LAYERS = random_layers(4, 10, 9)
VIEW = (-2.0, 2.0, -1.5, 1.5)
ATLAS = pf.unfold(LAYERS, pf.box([-2, -1.5], [2, 1.5]))


def distances(points: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """From each point to the nearest of the segments."""
    a, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    away = points[:, None] - a
    t = np.clip((away * along).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-300), 0, 1)
    return np.linalg.norm(away - t[..., None] * along, axis=2).min(axis=1)


def crossings(value: object, count: int = 25) -> np.ndarray:
    """Points where a function of points changes sign along horizontal lines of the view, by bisection."""
    found = []
    for y in np.linspace(-1.45, 1.45, count):
        x = np.linspace(-2, 2, 401)
        signs = value(np.stack([x, np.full_like(x, y)], axis=1)) > 0
        for k in np.flatnonzero(signs[1:] != signs[:-1]):
            lo, hi = x[k], x[k + 1]
            for _ in range(50):
                mid = (lo + hi) / 2
                lo, hi = (mid, hi) if (value(np.array([[mid, y]]))[0] > 0) == signs[k] else (lo, mid)
            found.append([lo, y])
    return np.array(found)


@pytest.mark.parametrize("domain", [None, pf.box([-2, -1.5], [2, 1.5])])
def test_the_boundary_is_where_classes_tie_and_all_of_that(domain: object) -> None:
    drawn = lines(pf.plot(pf.unfold(LAYERS, domain), boundary=True, view=VIEW), LOOKS["boundary"].colour)
    ordered = np.sort(forward(LAYERS, drawn.mean(axis=1)), axis=1)
    assert len(drawn) > 5 and ordered[:, -1] == pytest.approx(ordered[:, -2], abs=1e-9)
    for k in range(3):
        tie = crossings(lambda X, k=k: (forward(LAYERS, X).argmax(axis=1) == k) - 0.5)
        assert not len(tie) or distances(tie, drawn).max() < 1e-9


@pytest.mark.parametrize("domain", [None, pf.box([-2, -1.5], [2, 1.5])])
@pytest.mark.parametrize("layer", [0, 1])
def test_folds_are_the_zero_sets_of_a_layer_and_all_of_them(layer: int, domain: object) -> None:
    figure = pf.plot(pf.unfold(LAYERS, domain), kind="folds", layer=layer, view=VIEW)
    # A colour for all, or one for each of a few neurons.
    drawn = np.concatenate([lines(figure, c) for c in (LOOKS["wall"].colour, *CLASS_COLOURS)])
    values = np.abs(before_layer(LAYERS, layer, drawn.mean(axis=1))).min(axis=1)
    assert len(drawn) > 5 and values.max() < 1e-9
    for neuron in range(len(LAYERS[layer][1])):
        zero = crossings(lambda X, n=neuron: before_layer(LAYERS, layer, X)[:, n], count=9)
        assert not len(zero) or distances(zero, drawn).max() < 1e-9
    earlier = lines(figure, LOOKS["earlier"].colour)
    assert (len(earlier) == 0) == (layer == 0)
    if layer:
        assert np.abs(before_layer(LAYERS, 0, earlier.mean(axis=1))).min(axis=1).max() < 1e-9


def test_folds_of_few_neurons_have_colours_of_their_own() -> None:
    figure = pf.plot(pf.unfold(DEGENERATE["three walls through a point"], pf.box(-1, 1)), kind="folds")
    for number in range(3):
        (values,) = (DEGENERATE["three walls through a point"][0][0][number],)
        assert np.abs(lines(figure, class_colour(number)) @ values).max() < 1e-12


def test_folds_as_panels_end_with_the_boundary() -> None:
    figure = pf.plot(ATLAS, kind="folds", boundary=True)
    assert [a.text for a in figure.layout.annotations[:3]] == ["layer relu1", "layer relu2", "output"]
    axes = {trace.xaxis for trace in figure.data}
    assert axes == {"x", "x2", "x3"}


def test_boxes() -> None:
    cells = [0, 5, 7]
    found = pf.stats.boxes(ATLAS, ids=cells)
    drawn = lines(pf.plot(ATLAS, boxes=found), LOOKS["box"].colour)
    assert len(drawn) == 4 * len(cells)
    for k, cell in enumerate(cells):
        corners = ATLAS.vertices([cell])[0]
        side = drawn.reshape(len(cells), 8, 2)[k]
        assert side.min(axis=0) == pytest.approx(corners.min(axis=0))
        assert side.max(axis=0) == pytest.approx(corners.max(axis=0))


def test_a_box_without_end_is_open_at_the_view() -> None:
    atlas = pf.unfold(DEGENERATE["parallel walls"])
    cell = int(atlas.locate([[-0.25, 0.0]])[0])  # the strip -0.5 <= x <= 0
    drawn = lines(pf.plot(pf.stats.boxes(atlas, ids=[cell]), view=(-1, 1, -1, 1)), LOOKS["box"].colour)
    assert sorted(drawn.reshape(-1, 4).tolist()) in (
        [[-0.5, 1.0, -0.5, -1.0], [0.0, -1.0, 0.0, 1.0]],
        [[-0.5, -1.0, -0.5, 1.0], [0.0, 1.0, 0.0, -1.0]],
    )


def test_data_have_the_colours_of_their_classes() -> None:
    points = np.array([[0.5, 0.5], [-1.0, 0.0], [1.0, -1.0]])
    figure = pf.plot(ATLAS, colour="class", X=points, y=["b", "c", "a"], output_names=("a", "b", "c"))
    seen = {t.name: (t.marker.color, t.x[0], t.y[0]) for t in figure.data if t.name and t.name.startswith("data")}
    assert seen == {
        "data: a": (class_colour(0), 1.0, -1.0),
        "data: b": (class_colour(1), 0.5, 0.5),
        "data: c": (class_colour(2), -1.0, 0.0),
    }
    numbered = pf.plot(ATLAS, colour="class", X=points, y=[2, 0, 2])
    assert {t.name: t.marker.color for t in numbered.data if t.name and t.name.startswith("data")} == {
        "data: 0": class_colour(0),
        "data: 2": class_colour(2),
    }


def texts(figure: object) -> list[tuple[np.ndarray, str]]:
    """Where a figure says what."""
    (trace,) = [t for t in figure.data if t.mode == "markers" and t.marker.opacity == 0]
    return list(zip(np.stack([trace.x, trace.y], axis=1), trace.text, strict=True))


def test_cells_say_what_they_are() -> None:
    data = np.random.default_rng(0).uniform([-2, -1.5], [2, 1.5], size=(50, 2))
    holder = ATLAS.locate(data)
    said = texts(pf.plot(ATLAS, X=data))
    assert {int(ATLAS.locate([at])[0]) for at, _ in said} == set(range(len(ATLAS)))
    for at, text in said:
        cell = ATLAS[int(ATLAS.locate([at])[0])]
        first, pattern, *maps, support = text.split("<br>")
        assert first == f"cell {cell.id}" and pattern == f"pattern {cell.pattern}"
        assert len(maps) == 3 and maps[0].startswith("y0 = ")
        held = int((holder == cell.id).sum())
        assert support == f"{len(cell.facets)} facets; {held} data point{'' if held == 1 else 's'}"


def test_wherever_one_points_a_text_is_near_and_from_the_right_cell() -> None:
    said = texts(pf.plot(ATLAS))
    places = np.array([at for at, _ in said])
    step = np.array([4.0, 3.0]) / 24
    points = np.random.default_rng(1).uniform([-2, -1.5], [2, 1.5], size=(300, 2))
    nearest = np.linalg.norm((points[:, None] - places) / step, axis=2)
    assert nearest.min(axis=1).max() < 1.0
    right = ATLAS.locate(points) == ATLAS.locate(places[nearest.argmin(axis=1)])
    assert right.mean() > 0.7


def test_parts_of_classes_say_their_class_and_cell() -> None:
    atlas = pf.unfold(random_layers(5, 5), pf.box(-1, 1))
    for at, text in texts(pf.plot(atlas, colour="class")):
        winner = int(forward(random_layers(5, 5), at[None])[0].argmax())
        cell = int(atlas.locate([at])[0])
        assert text.startswith(f"class {winner}<br>part ") and f" of cell {cell}<br>" in text


def test_the_view_is_said_to_leave_cells_out() -> None:
    atlas = pf.unfold(LAYERS)
    figure = pf.plot(atlas, view=(0, 0.1, 0, 0.1))
    seen = notes(figure)
    assert "outside the view" in seen and "go on beyond the view" in seen
    assert "beyond" not in notes(pf.plot(ATLAS)) and "outside" not in notes(pf.plot(ATLAS))


def test_what_is_missing_is_said() -> None:
    some = pf.unfold(LAYERS, pf.box(-2, 2), max_cells=20)
    assert not some.complete
    assert "incomplete" in notes(pf.plot(some))


def test_a_view_of_data_on_all_of_the_plane() -> None:
    data = np.array([[0.0, 0.0], [1.0, 2.0]])
    figure = pf.plot(pf.unfold(LAYERS), X=data)
    assert figure.layout.xaxis.range == (-0.25, 1.25) and figure.layout.yaxis.range == (-0.5, 2.5)


def test_a_slider_shows_one_layer_at_a_time() -> None:
    side_by_side = pf.plot(ATLAS, kind="folds", boundary=True)
    figure = pf.plot(ATLAS, kind="folds", boundary=True, slider=True)
    (slider,) = figure.layout.sliders
    assert [step.label for step in slider.steps] == ["layer relu1", "layer relu2", "output"]
    for number, step in enumerate(slider.steps):
        panel = [t for t in side_by_side.data if (t.xaxis or "x") == f"x{number + 1 if number else ''}"]
        seen = [t for t, visible in zip(figure.data, step.args[0]["visible"], strict=True) if visible]
        assert len(seen) == len(panel)
        for one, other in zip(seen, panel, strict=True):
            np.testing.assert_array_equal(one.x, other.x)
    assert [t.visible for t in figure.data] == list(slider.steps[0].args[0]["visible"])
