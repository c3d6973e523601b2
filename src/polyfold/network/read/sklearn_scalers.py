"""scikit-learn's pipelines, and their steps that are piecewise linear: those that scale every column by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.network.read.builder import WHERE_TO_LOOK, Constant, Site, Value
from polyfold.network.read.compose import ops as compose

READABLE = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler and a FunctionTransformer without a function"


def steps_of(model: Any) -> list[tuple[str, Any]]:
    """Names and estimators of a pipeline, those of pipelines in it included; of anything else itself alone."""
    kind = type(model).__name__
    if kind != "Pipeline":
        return [(kind.lower(), model)]
    if not model.steps:
        raise NetworkError("the Pipeline has no steps: it must end in a fitted MLPClassifier or MLPRegressor")
    return [
        (name, step)
        for name, estimator in model.steps
        if estimator is not None and estimator != "passthrough"
        for name, step in ([(name, estimator)] if type(estimator).__name__ != "Pipeline" else steps_of(estimator))
    ]


def scaled(site: Site, x: Value, scaler: Any) -> Value:
    """A step that scales, behind a value."""
    kind = type(scaler).__name__
    if kind == "FunctionTransformer":
        if scaler.func is not None:
            raise UnsupportedOpError(
                f"step {site.name!r} of the Pipeline is a FunctionTransformer of {scaler.func!r}, which may do "
                "anything: leave it out, and apply it to the data first"
            )
        return x
    if kind not in _SCALERS:
        raise UnsupportedOpError(
            f"step {site.name!r} of the Pipeline is a {kind}, which cannot be read in front of an MLP; {READABLE} can; "
            f"{WHERE_TO_LOOK}"
        )
    try:
        return _SCALERS[kind](site, x, scaler)
    except AttributeError as error:
        raise NetworkError(
            f"step {site.name!r} of the Pipeline, a {kind}, is not fitted ({error}): call fit first"
        ) from None


def _centred(site: Site, x: Value, middle: Any, width: Any) -> Value:
    """(x - middle) / width, each of which may be absent."""
    value = x if middle is None else compose.shift(site, x, -_numbers(middle), part="centre")
    return value if width is None else compose.divide(site, value, _numbers(width))


def _standard(site: Site, x: Value, scaler: Any) -> Value:
    # Both are there after fit even if one of them is not used.
    return _centred(site, x, scaler.mean_ if scaler.with_mean else None, scaler.scale_ if scaler.with_std else None)


def _robust(site: Site, x: Value, scaler: Any) -> Value:
    middle = scaler.center_ if scaler.with_centering else None
    return _centred(site, x, middle, scaler.scale_ if scaler.with_scaling else None)


def _largest(site: Site, x: Value, scaler: Any) -> Value:
    value = _centred(site, x, None, scaler.scale_)
    return compose.clamp(site, value, np.array(-1.0), np.array(1.0)) if getattr(scaler, "clip", False) else value


def _between(site: Site, x: Value, scaler: Any) -> Value:
    value = compose.scale(site, x, _numbers(scaler.scale_), part="scale")
    value = compose.shift(site, value, _numbers(scaler.min_), part="offset")
    if not scaler.clip:
        return value
    low, high = (np.array(float(bound)) for bound in scaler.feature_range)
    return compose.clamp(site, value, low, high)


def _numbers(values: Any) -> Constant:
    return np.asarray(values, dtype=np.float64)


_SCALERS = {
    "StandardScaler": _standard,
    "MinMaxScaler": _between,
    "MaxAbsScaler": _largest,
    "RobustScaler": _robust,
}
