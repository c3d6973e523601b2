"""Colours by columns: the scale says the value that the network itself has there."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.plotted_networks import forward, random_layers
from helpers.read_back import notes, shown
from polyfold.errors import PolyfoldError
from polyfold.plotting.render.style import MOST_COLOURS, SCALE, class_colour, scale_colours, soft

LAYERS = random_layers(3, 8, 8, outputs=2)
ATLAS = pf.unfold(LAYERS, pf.box(-4, 4))
STEPS = np.linspace(0, 1, 2049)
STOPS = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in scale_colours(STEPS)])


def share_of(colour: str) -> float:
    """Where on the scale a colour is."""
    here = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return float(STEPS[np.abs(STOPS - here).sum(axis=1).argmin()])


def matches(figure: object, values: np.ndarray, middles: np.ndarray) -> None:
    """Each polygon's colour is its value's place between the least and the greatest one, to a step of the scale."""
    found = shown(figure)
    lo, hi = values.min(), values.max()
    assert hi > lo
    for middle, value in zip(middles, values, strict=True):
        (colour,) = found.at(middle)
        assert share_of(colour) == pytest.approx((value - lo) / (hi - lo), abs=1 / MOST_COLOURS)


@pytest.fixture(scope="module")
def middles() -> np.ndarray:
    return np.array([vertices.mean(axis=0) for vertices in ATLAS.vertices()])


@pytest.mark.parametrize("renderer", ["plotly", "matplotlib"])
def test_output(middles: np.ndarray, renderer: str) -> None:
    figure = pf.plot(ATLAS, output=1, renderer=renderer)
    matches(figure, forward(LAYERS, middles)[:, 1], middles)


def test_slope(middles: np.ndarray) -> None:
    """By differences of the network within each cell, on steps that are small beside its size."""
    step = 1e-6 * np.eye(2)
    sides = [(forward(LAYERS, middles + s) - forward(LAYERS, middles - s))[:, 0] / 2e-6 for s in step]
    matches(pf.plot(ATLAS, colour="slope"), np.hypot(*sides), middles)


def test_volume_and_facets_and_any_array(middles: np.ndarray) -> None:
    matches(pf.plot(ATLAS, colour="volume"), np.log10(ATLAS.volumes()), middles)
    facets = np.array([len(cell.facets) for cell in ATLAS], dtype=float)
    matches(pf.plot(ATLAS, colour="facets"), facets, middles)
    own = np.random.default_rng(0).normal(size=len(ATLAS))
    matches(pf.plot(ATLAS, colour=own), own, middles)
    matches(pf.plot(ATLAS, colour="A_1_0"), ATLAS.maps()[0][:, 1, 0], middles)


def test_layers_are_those_of_the_walls_around_a_cell(middles: np.ndarray) -> None:
    found = shown(pf.plot(ATLAS, colour="layer"))
    for cell, middle in zip(ATLAS, middles, strict=True):
        gates = [wall for facet in cell.facets for wall in ATLAS.walls(facet) if wall < ATLAS.gates]
        deepest = max((0 if gate < 8 else 1 for gate in gates), default=-1)
        (colour,) = found.at(middle)
        assert colour == (soft(class_colour(deepest)) if deepest >= 0 else class_colour(-1))


def test_words_and_flags() -> None:
    words = np.where(ATLAS.witnesses[:, 0] > 0, "right", "left")
    figure = pf.plot(ATLAS, colour=words)
    assert {trace.name for trace in figure.data if trace.showlegend} == {"left", "right"}
    found = shown(figure)
    for witness, word in zip(ATLAS.witnesses, words, strict=True):
        assert found.at(witness) == [soft(class_colour(["left", "right"].index(word)))]
    assert {t.name for t in pf.plot(ATLAS, colour="bounded").data if t.showlegend} == {"bounded"}


def test_unknown_values_are_grey_and_equal_ones_no_error() -> None:
    values = np.ones(len(ATLAS))
    values[3] = np.nan
    found = shown(pf.plot(ATLAS, colour=values))
    assert found.at(ATLAS.witnesses[3]) == [class_colour(-1)]
    assert len(set(found.colours)) == 2
    assert set(shown(pf.plot(ATLAS, colour=np.full(len(ATLAS), np.nan))).colours) == {class_colour(-1)}


def test_infinite_areas_are_grey() -> None:
    atlas = pf.unfold(LAYERS)
    found = shown(pf.plot(atlas, colour="volume", view=(-50, 50, -50, 50)))
    cell = int(np.flatnonzero(~atlas.bounded)[0])
    seen = found.at(atlas.witnesses[cell])
    assert seen == [class_colour(-1)]


def test_few_colours_are_said() -> None:
    assert len(ATLAS) > MOST_COLOURS
    figure = pf.plot(ATLAS)
    assert f"Colours are in {MOST_COLOURS} steps" in notes(figure)
    assert len({trace.fillcolor for trace in figure.data if trace.fill}) <= MOST_COLOURS
    assert "steps" not in notes(pf.plot(ATLAS, colour="facets"))


def test_the_scale_is_that_of_the_colour_bar() -> None:
    figure = pf.plot(ATLAS, output=1)
    (bar,) = [trace.marker for trace in figure.data if trace.marker.showscale]
    assert [colour for _, colour in bar.colorscale] == list(SCALE)
    middles = np.array([vertices.mean(axis=0) for vertices in ATLAS.vertices()])
    values = forward(LAYERS, middles)[:, 1]
    assert (bar.cmin, bar.cmax) == pytest.approx((values.min(), values.max()), rel=1e-9)


@pytest.mark.parametrize(
    ("colour", "said"),
    [
        ("colour", "is no column: use one of output, slope"),
        ([1.0, 2.0], "a value for each of the"),
        (np.zeros((3, 3)), "not one of shape"),
        ("pattern", "different words"),
    ],
)
def test_no_column(colour: object, said: str) -> None:
    with pytest.raises(PolyfoldError, match=said):
        pf.plot(ATLAS, colour=colour)


def test_no_output() -> None:
    with pytest.raises(PolyfoldError, match="output 2"):
        pf.plot(ATLAS, output=2)
