"""Shapley values for others: shap's explanations and plots, and data frames."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.extras import require
from polyfold._base.inputs import one_output
from polyfold.errors import PolyfoldError

if TYPE_CHECKING:
    import pandas

    from polyfold.explain.shapley.result import Attribution, Shapley


def explanation(result: Shapley, output: int | None) -> Any:
    """See `Shapley.to_shap`."""
    shap = require("shap", extra="shap", purpose="a shap.Explanation")
    names = list(result.feature_names)
    picked = _output(result, output)
    if picked is None:
        labels = [f"output {k}" for k in range(result.values.shape[2])]
        return shap.Explanation(
            np.array(result.values),
            base_values=np.array(result.base_values),
            data=np.array(result.X),
            feature_names=names,
            output_names=labels,
        )
    return shap.Explanation(
        np.array(result.values[:, :, picked]),
        base_values=np.array(result.base_values[:, picked]),
        data=np.array(result.X),
        feature_names=names,
    )


def data_frame(result: Attribution) -> pandas.DataFrame:
    """See `Attribution.to_pandas`."""
    from polyfold.explain.shapley.result import LocalShapley

    pandas = require("pandas", extra="store", purpose="to_pandas()")
    n, d, m = result.values.shape
    columns: dict[str, Any] = {"input": np.repeat(np.arange(n), m), "output": np.tile(np.arange(m), n)}
    if isinstance(result, LocalShapley):
        columns["cell"] = np.repeat(result.cells, m)
    columns["base_value"] = result.base_values.ravel()
    columns["output_value"] = result.outputs.ravel()
    frame = pandas.DataFrame(columns)
    values = pandas.DataFrame(result.values.transpose(0, 2, 1).reshape(n * m, d), columns=list(result.feature_names))
    index = ["input"] if m == 1 else ["input", "output"]
    joined = pandas.concat([frame.drop(columns=["output"] if m == 1 else []), values], axis=1)
    return joined.set_index(index)


def plot(result: Shapley, kind: str, output: int | None, row: int | None, options: dict[str, Any]) -> Any:
    """See `Shapley.plot`."""
    shap = require("shap", extra="shap,plot", purpose="plot()")
    require("matplotlib", extra="shap,plot", purpose="plot()")
    draw = getattr(shap.plots, kind, None) if isinstance(kind, str) and not kind.startswith("_") else None
    if not callable(draw):
        known = ", ".join(name for name in sorted(shap.plots.__all__) if callable(getattr(shap.plots, name)))
        raise PolyfoldError(f"kind={kind!r} is none of shap's plots: {known}")
    if result.values.shape[2] > 1 and output is None:
        raise PolyfoldError(f"a plot is of one output: give output=0 to {result.values.shape[2] - 1}")
    shown = explanation(result, output)
    if row is not None:
        if not isinstance(row, Integral) or not 0 <= row < len(result):
            raise PolyfoldError(f"there is no input {row!r}: there are {len(result)}, counted from 0")
        shown = shown[int(row)]
    return draw(shown, **{"show": False, **options})


def _output(result: Shapley, output: int | None) -> int | None:
    """The output asked for; the only one if there is but one; None for all."""
    m = result.values.shape[2]
    if output is None:
        return 0 if m == 1 else None
    return one_output(output, m)
