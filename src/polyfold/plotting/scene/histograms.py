"""Histograms over cells as scenes: facets per cell, faces by dimension, and any column of a table of cells."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from polyfold._base.inputs import one_output
from polyfold.atlas.atlas import Atlas
from polyfold.errors import PolyfoldError, how_many
from polyfold.explain.shapley.result import LocalShapley
from polyfold.plotting.geometry.columns import column
from polyfold.plotting.scene.shapes import Axes, Bars, Scene
from polyfold.stats.facets.statistics import FacetStatistics

# Whole numbers in a range up to this have a bar each.
_MOST_BARS = 40
# Colours that are no columns of cells.
_NO_COUNT = {
    "class": "a cell may lie in several classes; pf.stats.class_areas says how large these are",
    "region": "every region has a number of its own; pf.regions says how many cells it has",
}
_DIMENSIONS = {0: "vertices", 1: "edges", 2: "2-faces"}


def facet_histogram(found: FacetStatistics, *, title: str | None = None) -> Scene:
    """How many cells have how many facets, beside the mean and what a theorem says of it."""
    scene = histogram(found.counts, "facets of a cell")
    words = f"Facets of {how_many(len(found), 'cell')}" if title is None else title
    return replace(scene, title=words, notes=(f"{found.mean_bound}.",))


def layer_bars(found: FacetStatistics, *, title: str | None = None) -> Scene:
    """How many facets each layer forms, each counted once."""
    bars = Bars(found.layers, found.layer_facets.astype(np.float64))
    return Scene((bars,), Axes(("layer", "facets")), "Facets by the layer that forms them" if title is None else title)


def size_histogram(found: FacetStatistics, *, of: str = "diameter", bins: int = 20) -> Scene:
    """How large cells are, on a logarithmic scale: `of` is "diameter" or "volume"."""
    if of not in ("diameter", "volume"):
        raise PolyfoldError(f"of must be 'diameter' or 'volume', got {of!r}")
    with np.errstate(divide="ignore"):
        values = np.log10(found.diameters if of == "diameter" else found.volumes)
    return histogram(values, f"log10 of the {of}", bins=bins)


def column_histogram(atlas: Atlas, *, of: Any = "facets", output: int = 0, bins: int = 20) -> Scene:
    """How many cells have which value of a column: those that colours can show, or an array with one value per cell."""
    if isinstance(of, str) and of in _NO_COUNT:
        raise PolyfoldError(f"of={of!r} is no column to count cells by: {_NO_COUNT[of]}")
    found = column(atlas, of, atlas.ids(), atlas.witnesses, output, f"y{output}")
    if found.names is None:
        return histogram(found.values, found.label, bins=bins)
    number = found.values.astype(np.int64)
    bars = Bars(found.names, np.array([(number == k).sum() for k in range(len(found.names))], dtype=np.float64))
    left = int((number < 0).sum())
    notes = (f"{how_many(left, 'cell')} left out: {found.label} says nothing of them.",) if left else ()
    return Scene((bars,), Axes((found.label, "cells")), f"{found.label} of {how_many(len(atlas), 'cell')}", notes)


def share_bars(found: LocalShapley, *, output: int = 0, title: str | None = None) -> Scene:
    """How much each feature adds on average, as a size, within the inputs' own cells or regions."""
    output = one_output(output, found.values.shape[2])
    if not len(found):
        raise PolyfoldError("bars of Shapley values need at least one input, and there are none")
    bars = Bars(found.feature_names, np.abs(found.values[:, :, output]).mean(axis=0))
    words = f"Shares of features within the {found.scope}s of {how_many(len(found), 'input')}"
    note = f"Shapley values of the affine model of each {found.scope}, against {found.background}: not SHAP values."
    axes = Axes(("feature", f"mean size of its share in output {output}"))
    return Scene((bars,), axes, words if title is None else title, (note,))


def face_bars(atlas: Atlas, *, title: str | None = None) -> Scene:
    """The f-vector: how many faces of each dimension the cells have, each counted once."""
    counts = atlas.f_vector()
    labels = tuple("cells" if k == atlas.dim else _DIMENSIONS.get(k, f"{k}-faces") for k in range(len(counts)))
    note = f"With alternating signs they add up to {atlas.euler_characteristic()}, the Euler characteristic."
    bars = Bars(labels, np.array(counts, dtype=np.float64))
    return Scene((bars,), Axes(("dimension", "faces")), "Faces by dimension" if title is None else title, (note,))


def histogram(values: Any, label: str, *, bins: int = 20, thing: str = "cell") -> Scene:
    """How many cells have which value: a bar a value if there are few whole numbers, else `bins` intervals.

    What is not finite is left out, and a note says so.
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise PolyfoldError(f"bins={bins!r} must be a positive whole number")
    given = np.asarray(values, dtype=np.float64).ravel()
    known = given[np.isfinite(given)]
    left = len(given) - len(known)
    notes = (f"{how_many(left, thing)} left out: the {label} there is not finite.",) if left else ()
    if not len(known):
        raise PolyfoldError(
            f"there is no histogram of {label!r}: none of its {how_many(len(given), 'value')} is finite"
        )
    lo, hi = float(known.min()), float(known.max())
    if (known == np.round(known)).all() and hi - lo < _MOST_BARS:
        whole = np.arange(lo, hi + 1)
        bars = Bars(
            tuple(f"{number:.0f}" for number in whole), np.array([(known == k).sum() for k in whole], dtype=float)
        )
    elif (np.diff(edges := np.linspace(lo, hi, bins + 1)) > 0).all():
        heights, _ = np.histogram(known, bins=edges)
        bars = Bars(tuple(f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges)), heights.astype(float), edges=edges)
    else:
        # Values that differ by no more than rounding leave no room for intervals.
        bars = Bars((f"{lo:.6g}",), np.array([len(known)], dtype=float))
    return Scene((bars,), Axes((label, f"{thing}s")), f"{label} of {how_many(len(given), thing)}", notes)
