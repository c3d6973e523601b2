"""Histograms and lines over training, read as data against plain counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError
from polyfold.plotting.scene.histograms import (
    column_histogram,
    face_bars,
    facet_histogram,
    histogram,
    layer_bars,
    size_histogram,
)
from polyfold.plotting.scene.shapes import Bars, Curve, Scene
from polyfold.plotting.scene.training_curves import count_curve, drift_curves, metric_curves, movement_curves

RNG = np.random.default_rng(3)
NETWORK = [
    (RNG.normal(size=(6, 2)), RNG.normal(size=6)),
    (RNG.normal(size=(4, 6)), RNG.normal(size=4)),
    (RNG.normal(size=(1, 4)), RNG.normal(size=1)),
]
ATLAS = pf.unfold(NETWORK, pf.box(-1, 1))


def bars_of(scene: Scene) -> dict[str, float]:
    (bars,) = scene.parts
    assert isinstance(bars, Bars)
    return dict(zip(bars.labels, bars.heights.tolist(), strict=True))


def test_facets_are_counted() -> None:
    found = facet_histogram(pf.stats.facets(ATLAS))
    counted = Counter(str(len(cell.facets)) for cell in ATLAS)
    assert {label: height for label, height in bars_of(found).items() if height} == counted
    assert bars_of(column_histogram(ATLAS)) == bars_of(found)
    assert "facets per cell" in found.notes[0]


def test_faces_by_dimension_are_those_of_the_vertices() -> None:
    scene = face_bars(ATLAS)
    vertices = {tuple(row) for corners in ATLAS.vertices() for row in np.round(corners, 9).tolist()}
    edges = ATLAS.inner_facets + ATLAS.boundary_facets
    assert bars_of(scene) == {"vertices": len(vertices), "edges": edges, "cells": len(ATLAS)}
    assert "add up to 1," in scene.notes[0]


def test_layers_form_facets() -> None:
    statistics = pf.stats.facets(ATLAS)
    found = bars_of(layer_bars(statistics))
    assert sum(found.values()) == ATLAS.inner_facets and len(found) == 2


def test_sizes_of_cells() -> None:
    statistics = pf.stats.facets(ATLAS)
    assert sum(bars_of(size_histogram(statistics, bins=7)).values()) == len(ATLAS)
    assert len(bars_of(size_histogram(statistics, of="volume", bins=7))) == 7
    unbounded = size_histogram(pf.stats.facets(pf.unfold(NETWORK)))
    endless = int((~pf.unfold(NETWORK).bounded).sum())
    assert f"{endless} cells left out" in unbounded.notes[0]


def test_words_and_arrays_are_counted() -> None:
    assert bars_of(column_histogram(ATLAS, of="bounded")) == {"not bounded": 0.0, "bounded": float(len(ATLAS))}
    values = np.where(np.arange(len(ATLAS)) < 3, 0.25, 1.75)
    assert bars_of(column_histogram(ATLAS, of=values, bins=2)) == {"0.25 to 1": 3.0, "1 to 1.75": len(ATLAS) - 3.0}


@pytest.mark.parametrize(("values", "bins", "said"), [([1.5], 0, "bins=0"), ([np.inf], 3, "none of its 1 value")])
def test_no_histogram(values: list[float], bins: int, said: str) -> None:
    with pytest.raises(PolyfoldError, match=said):
        histogram(values, "size", bins=bins)


def recorded() -> pf.training.Recording:
    layers = [(np.array([[1.0, 0.0]]), np.array([0.0]))]  # class 1 where x > 0
    recorder = pf.training.record(layers)
    for step in range(4):
        layers[0][1][:] -= 0.25
        recorder.step(loss=1.0 / (step + 1))
    return recorder.recording


def lines(scene: Scene) -> dict[str, list[list[float]]]:
    return {part.name: part.points.round(9).tolist() for part in scene.parts if isinstance(part, Curve)}


def test_curves_of_a_boundary_that_moves_evenly() -> None:
    moved = pf.training.boundary_movement(recorded(), pf.box(-2, 2))
    assert list(lines(movement_curves(moved)).values()) == [[[1, 0.25], [2, 0.25], [3, 0.25], [4, 0.25]]]
    assert list(lines(movement_curves(moved, of="changed")).values()) == [[[k, 1.0] for k in (1, 2, 3, 4)]]
    assert list(lines(movement_curves(moved, of="length")).values()) == [[[k, 4.0] for k in range(5)]]
    areas = lines(movement_curves(moved, of="areas"))
    assert areas == {"class 0": [[k, 8.0 + k] for k in range(5)], "class 1": [[k, 8.0 - k] for k in range(5)]}
    with pytest.raises(PolyfoldError, match=r"of must be .*, got 'speed'"):
        movement_curves(moved, of="speed")


def test_curves_of_maps_that_drift() -> None:
    drift = pf.training.map_drift(recorded(), [[1.0, 0.0], [0.0, 1.0]])
    found = lines(drift_curves(drift, of="distance"))
    assert found == {f"input {i}": [[k, 0.25] for k in (1, 2, 3, 4)] for i in range(2)}
    assert list(lines(drift_curves(drift, inputs=[1], of="norm"))) == ["input 1"]
    many = pf.training.map_drift(recorded(), np.zeros((20, 2)))
    scene = drift_curves(many)
    assert list(lines(scene)) == ["largest tenth", "median", "smallest tenth"] and "20 inputs" in scene.notes[0]
    for options in ({"of": "speed"}, {"inputs": [2]}):
        with pytest.raises(PolyfoldError, match=r"speed|input 2"):
            drift_curves(drift, **options)  # type: ignore[arg-type]


def test_curves_of_counts_and_losses() -> None:
    recording = recorded()
    counts = pf.training.cell_counts(recording, pf.box(-2, 2))
    assert lines(count_curve(recording, counts=counts)) == {"": [[k, 1.0] for k in range(5)]}
    assert lines(count_curve(recording, domain=pf.box(-2, 2), snapshots=[0, 4])) == {"": [[0, 1.0], [4, 1.0]]}
    assert lines(metric_curves(recording)) == {"loss": [[k, round(1.0 / k, 9)] for k in (1, 2, 3, 4)]}
    with pytest.raises(PolyfoldError, match="accuracy"):
        metric_curves(recording, ["accuracy"])
    with pytest.raises(PolyfoldError, match="each of the 5 snapshots"):
        count_curve(recording, counts=[1, 2])
