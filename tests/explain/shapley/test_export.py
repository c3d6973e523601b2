"""Shapley values for others: shap's plots really draw, data frames hold what they say, missing extras are named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.shapley_oracles import layers_of
from polyfold.errors import NetworkError, PolyfoldError, ShapeError

NAMES = ("height", "width", "depth")


@pytest.fixture(scope="module")
def one_output() -> pf.explain.Shapley:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return pf.explain.shapley(layers_of(rng, 3, 5, 1), X, background=X[:4], scope="interventional", feature_names=NAMES)


@pytest.fixture(scope="module")
def two_outputs() -> pf.explain.Shapley:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 3))
    return pf.explain.shapley(layers_of(rng, 3, 5, 2), X, background=X)


@pytest.fixture(scope="module")
def of_cells() -> pf.explain.LocalShapley:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 3))
    return pf.explain.shapley(layers_of(rng, 3, 5, 2), X, background=X, scope="cell", empty="all")


@pytest.fixture
def pyplot() -> Iterator[Any]:
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("shap")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


def ink(pyplot: Any) -> int:
    """How many pixels of the current figure are not white."""
    figure = pyplot.gcf()
    figure.canvas.draw()
    return int((np.asarray(figure.canvas.buffer_rgba())[..., :3] < 250).any(axis=-1).sum())


def test_an_explanation_of_one_output(one_output: pf.explain.Shapley) -> None:
    shap = pytest.importorskip("shap")
    found = one_output.to_shap()
    assert isinstance(found, shap.Explanation) and list(found.feature_names) == list(NAMES)
    assert np.array_equal(found.values, one_output.values[:, :, 0]) and np.array_equal(found.data, one_output.X)
    assert np.array_equal(found.base_values, one_output.base_values[:, 0])


def test_an_explanation_of_several_outputs(two_outputs: pf.explain.Shapley) -> None:
    pytest.importorskip("shap")
    assert two_outputs.to_shap().values.shape == (6, 3, 2)
    assert np.array_equal(two_outputs.to_shap(output=1).values, two_outputs.values[:, :, 1])
    assert np.array_equal(two_outputs.to_shap()[:, :, 1].values, two_outputs.values[:, :, 1])
    with pytest.raises(PolyfoldError, match="no output 2"):
        two_outputs.to_shap(output=2)


@pytest.mark.parametrize("kind", ["beeswarm", "bar", "heatmap", "violin", "waterfall", "scatter"])
def test_shap_plots_draw(one_output: pf.explain.Shapley, pyplot: Any, kind: str) -> None:
    import shap

    found = one_output.to_shap()
    shown = {"waterfall": found[0], "scatter": found[:, 1]}.get(kind, found)
    getattr(shap.plots, kind)(shown, show=False)
    assert ink(pyplot) > 2000


@pytest.mark.parametrize(("kind", "row"), [("beeswarm", None), ("bar", None), ("bar", 3), ("waterfall", 2)])
def test_plots_of_a_result_draw(two_outputs: pf.explain.Shapley, pyplot: Any, kind: str, row: int | None) -> None:
    two_outputs.plot(kind, output=1, row=row)
    assert ink(pyplot) > 2000


def test_plots_that_are_none(two_outputs: pf.explain.Shapley, one_output: pf.explain.Shapley) -> None:
    pytest.importorskip("shap")
    with pytest.raises(PolyfoldError, match=r"kind='pie' is none of shap's plots.*beeswarm"):
        one_output.plot("pie")
    with pytest.raises(PolyfoldError, match="give output=0 to 1"):
        two_outputs.plot()
    with pytest.raises(PolyfoldError, match="no input 9"):
        two_outputs.plot("waterfall", output=0, row=9)


def test_values_of_cells_are_not_drawn_as_shap_values(of_cells: pf.explain.LocalShapley) -> None:
    assert not hasattr(of_cells, "to_shap") and not hasattr(of_cells, "plot")
    with pytest.raises(
        PolyfoldError, match="kind='beeswarm' cannot be drawn of this LocalShapley: use one of 'shares'"
    ):
        pf.plot(of_cells, kind="beeswarm", output=0)
    figure = pf.plot(of_cells, output=1)
    assert np.array_equal(figure.data[0].y, np.abs(of_cells.values[:, :, 1]).mean(axis=0))
    assert "not SHAP values" in str(figure.layout.annotations) + str(figure.layout.title)


def test_data_frames(
    one_output: pf.explain.Shapley, two_outputs: pf.explain.Shapley, of_cells: pf.explain.LocalShapley
) -> None:
    frame = one_output.to_pandas()
    assert list(frame.columns) == ["base_value", "output_value", *NAMES] and frame.index.name == "input"
    assert np.array_equal(frame[list(NAMES)].to_numpy(), one_output.values[:, :, 0])
    several = two_outputs.to_pandas()
    assert several.index.names == ["input", "output"] and len(several) == 12
    row = several.loc[(4, 1)]
    assert row["feature 2"] == two_outputs.values[4, 2, 1] and "cell" not in several.columns
    assert of_cells.to_pandas().loc[(4, 1)]["cell"] == of_cells.cells[4]
    total = row["base_value"] + sum(row[f"feature {k}"] for k in range(3))
    assert total == pytest.approx(row["output_value"], abs=1e-12)


def test_names_of_a_data_frames_columns() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(4, 3)), columns=list(NAMES))
    found = pf.explain.shapley(layers_of(np.random.default_rng(0), 3, 4, 1), X, background=X.iloc[0], scope="baseline")
    assert found.feature_names == NAMES


def test_missing_extras_are_named(one_output: pf.explain.Shapley, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(NetworkError, match=r"shap\.Explanation.*pip install polyfold\[shap\]"):
        one_output.to_shap()
    with pytest.raises(NetworkError, match=r"plot\(\).*pip install polyfold\[shap,plot\]"):
        one_output.plot()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NetworkError, match=r"to_pandas\(\).*pip install polyfold\[store\]"):
        one_output.to_pandas()


def test_values_that_do_not_add_up_are_refused(one_output: pf.explain.Shapley) -> None:
    wrong = np.array(one_output.values)
    wrong[7, 1, 0] += 1e-6
    with pytest.raises(PolyfoldError, match="values of input 7 miss f"):
        replace(one_output, values=wrong)
    wrong = np.array(one_output.values)
    wrong[7, 1, 0] = np.nan
    with pytest.raises(PolyfoldError, match="values of input 7 miss f"):
        replace(one_output, values=wrong)
    with pytest.raises(ShapeError, match="base_values must have shape"):
        replace(one_output, base_values=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        one_output.values[0, 0, 0] = 1.0
