"""Figures of pf.plot in one and three dimensions, of duals, bars, curves, images and what others draw, read as data."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError
from polyfold.network.load import load
from polyfold.plotting.api import KINDS, kinds_of, scene_of
from polyfold.plotting.render.style import class_colour, soft

Array = npt.NDArray[np.float64]
CUBE = (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0)


def random_network(seed: int, *sizes: int) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(sizes)]


NETWORK = random_network(0, 3, 5, 3, 3)
SOLID = pf.unfold(NETWORK)
PLANE = pf.unfold(random_network(1, 2, 6, 3), pf.box(-1, 1))
X = np.random.default_rng(2).uniform(-1, 1, size=(12, 2))


def recording() -> pf.training.Recording:
    layers = [(w.copy(), b.copy()) for w, b in random_network(1, 2, 4, 2)]
    recorder = pf.training.record(layers)
    for step in range(3):
        layers[0][1][:] += 0.1
        recorder.step(loss=1.0 / (step + 1))
    return recorder.recording


def things() -> dict[tuple[str, str], tuple[Any, dict[str, Any]]]:
    """Something to draw for every kind that this file is about, and the options that it needs."""
    statistics, maps = pf.stats.facets(PLANE), pf.maps.matrices(random_network(3, 16, 6, 3), np.ones((4, 16)))
    kept = recording()
    shapley = pf.explain.shapley(PLANE, X, background=X)
    return {
        ("Atlas", "graph"): (pf.unfold(random_network(4, 1, 6, 2)), {}),
        ("Atlas", "cells"): (SOLID, {"view": CUBE}),
        ("Atlas", "surface"): (PLANE, {"X": X}),
        ("Atlas", "histogram"): (PLANE, {"of": "volume"}),
        ("Atlas", "faces"): (PLANE, {}),
        ("Regions", "regions"): (pf.regions(SOLID), {"view": CUBE}),
        ("Classes", "classes"): (pf.stats.classes(SOLID), {"view": CUBE}),
        ("Classes", "surface"): (pf.stats.classes(PLANE), {}),
        ("DualSpace", "points"): (pf.maps.dual_space(PLANE, X=X), {}),
        ("DualGraph", "graph"): (pf.graph.dual(PLANE), {"source": 0}),
        ("FacetStatistics", "facets"): (statistics, {}),
        ("FacetStatistics", "layers"): (statistics, {}),
        ("FacetStatistics", "sizes"): (statistics, {}),
        ("LocalMaps", "gradients"): (pf.local(random_network(3, 16, 6, 3), np.ones((2, 16))), {}),
        ("MapMatrices", "gradients"): (maps, {}),
        ("ClusteredMaps", "centres"): (pf.maps.cluster(maps, 2), {}),
        ("Recording", "metrics"): (kept, {}),
        ("Recording", "cell_counts"): (kept, {"domain": pf.box(-1, 1)}),
        ("BoundaryMovement", "movement"): (pf.training.boundary_movement(kept, pf.box(-1, 1)), {}),
        ("MapDrift", "drift"): (pf.training.map_drift(kept, X), {}),
        ("LocalShapley", "shares"): (
            pf.explain.shapley(PLANE, X, background=X, scope="cell", empty="all"),
            {"output": 1},
        ),
        ("Shapley", "beeswarm"): (shapley, {"output": 0}),
        ("Shapley", "bar"): (shapley, {"output": 1}),
        ("Shapley", "waterfall"): (shapley, {"output": 2, "row": 3}),
        ("Shapley", "heatmap"): (shapley, {"output": 0}),
        ("Shapley", "violin"): (shapley, {"output": 0}),
        ("Truncation", "film"): (pf.layers.truncation(random_network(5, 2, 2, 2)), {"X": X}),
    }


THINGS = things()
DRAWN = {(kind.of, kind.name) for kind in KINDS if kind.drawn}


def test_every_kind_is_tried_here_or_is_plane() -> None:
    assert {(kind.of, kind.name) for kind in KINDS if kind.dims != (2,)} <= set(THINGS)


@pytest.mark.parametrize(("of", "name"), THINGS)
def test_both_renderers_draw_it(of: str, name: str, tmp_path: Path) -> None:
    thing, options = THINGS[of, name]
    assert name in [kind.name for kind in kinds_of(thing)]
    if (of, name) not in DRAWN:
        figure = pf.plot(thing, kind=name, **options)
        assert type(figure).__module__.startswith("plotly") and len(figure.data)
        assert scene_of(thing, name, **options).title == figure.layout.title.text
    path = tmp_path / "figure.svg"
    printed = pf.plot(thing, kind=name, renderer="matplotlib", out=path, **options)
    assert type(printed).__name__ == "Figure" and printed.axes and path.stat().st_size > 2000


def test_solids_in_the_figure_fill_the_view_in_the_colours_of_their_classes() -> None:
    figure = pf.plot(SOLID, colour="class", view=CUBE)
    (mesh,) = (trace for trace in figure.data if trace.type == "mesh3d")
    points, corners = np.stack([mesh.x, mesh.y, mesh.z], axis=1), np.stack([mesh.i, mesh.j, mesh.k], axis=1)
    a, b, c = (points[corners[:, k]] for k in range(3))
    assert np.einsum("td,td->", a, np.cross(b, c)) / 6 == pytest.approx(8.0, rel=1e-9)
    # A little behind each triangle's middle is the inside of its cell.
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    large = size[:, 0] > 1e-3
    inside = ((a + b + c) / 3 - 1e-6 * normal / size)[large]
    winner = load(NETWORK)(inside).argmax(axis=1)
    assert [soft(class_colour(int(k))) for k in winner] == np.asarray(mesh.facecolor)[large].tolist()
    # Pointing at a corner says the cell that it belongs to.
    parts = pf.stats.classes(SOLID).atlas
    for triangle, cell in zip(corners[large], parts.locate(inside), strict=True):
        assert all(mesh.text[corner].startswith(f"cell {cell}<br>pattern ") for corner in triangle)


def test_a_surface_in_the_figure_has_the_outputs_values() -> None:
    figure = pf.plot(PLANE, kind="surface", output=2)
    (mesh,) = (trace for trace in figure.data if trace.type == "mesh3d")
    values = load(random_network(1, 2, 6, 3))(np.stack([mesh.x, mesh.y], axis=1))[:, 2]
    np.testing.assert_allclose(values, mesh.z, atol=1e-9)


def test_bars_in_both_figures() -> None:
    statistics = pf.stats.facets(PLANE)
    counts = np.bincount([len(cell.facets) for cell in PLANE])
    (bars,) = pf.plot(statistics).data
    assert dict(zip(map(int, bars.x), bars.y.tolist(), strict=True)) == {
        k: int(n) for k, n in enumerate(counts) if k >= np.flatnonzero(counts)[0]
    }
    printed = pf.plot(statistics, kind="sizes", bins=6, renderer="matplotlib")
    (bars,) = printed.axes[0].containers
    assert sum(bar.get_height() for bar in bars) == len(PLANE) and len(bars) == 6
    starts = [bar.get_x() for bar in bars]
    assert starts[0] == pytest.approx(np.log10(statistics.diameters.min())) and np.ptp(np.diff(starts)) < 1e-9


def test_shapley_values_are_those_of_the_result() -> None:
    import matplotlib.pyplot as plt

    shapley, _ = THINGS["Shapley", "bar"]
    open_before = plt.get_fignums()
    printed = pf.plot(shapley, kind="bar", output=1)
    widths = sorted(patch.get_width() for patch in printed.axes[0].patches if abs(patch.get_width()) > 0)
    np.testing.assert_allclose(widths, np.sort(np.abs(shapley.values[:, :, 1]).mean(axis=0)), rtol=1e-9)
    assert plt.get_fignums() == open_before


@pytest.mark.parametrize(
    ("of", "name", "options", "said"),
    [
        ("Shapley", "beeswarm", {"renderer": "plotly"}, "drawn by matplotlib alone"),
        ("Shapley", "waterfall", {"output": 0, "row": 99}, "no input 99"),
        ("Shapley", "beeswarm", {}, "output=0 to 2"),
        ("Truncation", "film", {"X": None, "renderer": "plotly"}, "drawn by matplotlib alone"),
        ("Truncation", "film", {}, "needs X="),
        ("Atlas", "cells", {"explode": -2}, "explode=-2"),
        ("Atlas", "graph", {"view": (1, 0)}, "lo < hi"),
        ("DualGraph", "graph", {"layout": "round"}, "got 'round'"),
        ("MapDrift", "drift", {"speed": 1}, "there is no option speed=1"),
    ],
)
def test_what_is_wrong_is_said(of: str, name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(PolyfoldError, match=said):
        pf.plot(THINGS[of, name][0], kind=name, **options)


def test_figures_that_others_draw_have_no_scene() -> None:
    with pytest.raises(PolyfoldError, match="no scene"):
        scene_of(THINGS["Shapley", "bar"][0])


def test_domains_of_other_dimensions() -> None:
    many = pf.unfold(random_network(0, 4, 3, 1), pf.box(-1, 1))
    with pytest.raises(PolyfoldError, match="dimension 2 or 3; this is Atlas"):
        pf.plot(many, kind="cells")
    with pytest.raises(
        PolyfoldError, match=r"dimension 1, 2 or 3; pf.line and pf.plane .* kind='histogram' or 'faces'"
    ):
        pf.plot(many)
    assert pf.plot(many, kind="histogram").data[0].y.sum() == len(many)


@pytest.mark.parametrize("of", ["class", "region"])
def test_what_is_no_column_of_cells_is_not_counted(of: str) -> None:
    with pytest.raises(PolyfoldError, match=f"of='{of}' is no column to count cells by.*(class_areas|regions)"):
        pf.plot(PLANE, kind="histogram", of=of)


def test_values_that_differ_by_rounding_have_one_bar() -> None:
    values = np.full(len(PLANE), 0.1)
    values[0] = np.nextafter(0.1, 1)
    assert pf.plot(PLANE, kind="histogram", of=values).data[0].y.tolist() == [len(PLANE)]


def test_names_are_no_markup() -> None:
    bad = "<a href='x'>$x^$ & y"
    plotly = pf.plot(PLANE, feature_names=(bad, "b"), title=bad)
    assert plotly.layout.title.text == plotly.layout.xaxis.title.text == "&lt;a href='x'&gt;$x^$ &amp; y"
    assert not any("<a" in text for trace in plotly.data if trace.text is not None for text in trace.text)
    drawn = pf.plot(PLANE, feature_names=(bad, "b"), title=bad, renderer="matplotlib")
    drawn.draw_without_rendering()
    assert drawn.axes[0].get_xlabel() == bad
