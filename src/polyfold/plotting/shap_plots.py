"""Shapley values drawn by shap, as figures of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyfold._base.extras import require
from polyfold.errors import PolyfoldError
from polyfold.explain.shapley.result import Shapley

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def beeswarm(found: Shapley, *, output: int | None = None, title: str | None = None) -> Figure:
    """One point per input and feature: how far it moves the output, in the colour of the feature's value."""
    return _drawn(found, "beeswarm", output, None, title)


def bar(found: Shapley, *, output: int | None = None, row: int | None = None, title: str | None = None) -> Figure:
    """The mean size of each feature's values; with `row`, the values of one input."""
    return _drawn(found, "bar", output, row, title)


def waterfall(found: Shapley, *, output: int | None = None, row: int = 0, title: str | None = None) -> Figure:
    """From the base value to the output of one input, feature by feature."""
    return _drawn(found, "waterfall", output, row, title)


def heatmap(found: Shapley, *, output: int | None = None, title: str | None = None) -> Figure:
    """One column per input, one row per feature."""
    return _drawn(found, "heatmap", output, None, title)


def violin(found: Shapley, *, output: int | None = None, title: str | None = None) -> Figure:
    """How each feature's values spread."""
    return _drawn(found, "violin", output, None, title)


def _drawn(found: Shapley, kind: str, output: int | None, row: int | None, title: str | None) -> Figure:
    """shap draws into pyplot's current figure: it gets one of its own, which pyplot then forgets."""
    require("matplotlib", extra="shap,plot", purpose=f"a {kind} plot")
    import matplotlib.pyplot as plt

    if not len(found):
        raise PolyfoldError(f"a {kind} plot needs Shapley values of at least one input, and there are none")
    figure: Figure = plt.figure()
    # shap spreads points by chance: the same values should give the same picture, and nobody else's chance change.
    chance = np.random.get_state()
    np.random.seed(0)
    try:
        found.plot(kind, output=output, row=row)
        if title is not None:
            figure.suptitle(title)
        figure.tight_layout()
    finally:
        np.random.set_state(chance)
        plt.close(figure)
    return figure
