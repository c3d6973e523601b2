"""From a list of (W, b) pairs to a Network: a ReLU between the layers, none after the last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import NetworkError, how_many
from polyfold.exact.given import as_given, is_exact, over_divisors
from polyfold.network.graph import Network
from polyfold.network.ops.linear import Linear, Scale
from polyfold.network.ops.op import constant
from polyfold.network.ops.switches import Rectify
from polyfold.network.read.builder import Builder, Value


def from_arrays(layers: Sequence[Any]) -> Network:
    """The ReLU network with these layers; W is (outputs, inputs), b is (outputs,).

    Numbers are kept as they are given: fractions that are no floats become floats over whole numbers.

    >>> network = from_arrays([([[1, -1]], [0]), ([[2]], [1])])
    >>> network([[3, 1]]).tolist()
    [[5.0]]
    """
    if len(layers) == 0:
        raise NetworkError("an empty list is no network: give at least one pair (W, b)")
    pairs = [_pair(layer, k) for k, layer in enumerate(layers, start=1)]
    for k, ((before, _), (after, _)) in enumerate(pairwise(pairs), start=2):
        if after.shape[1] != before.shape[0]:
            raise NetworkError(
                f"layer {k}: W has shape {after.shape}, so it takes {how_many(after.shape[1], 'number')}, but "
                f"layer {k - 1} gives {before.shape[0]}; W must be (outputs, inputs), "
                "so pass W.T if yours is the other way round"
            )
    if 0 in pairs[-1][0].shape[:1]:
        raise NetworkError(f"layer {len(pairs)}: W of shape {pairs[-1][0].shape} is empty, so there are no outputs")
    return chain(pairs, source="arrays", rectified=True)


def chain(pairs: Sequence[tuple[Array, Array]], *, source: str, rectified: bool) -> Network:
    """Linear layers one after the other, with ReLUs between them or without."""
    builder = Builder(source)
    value = builder.port("input", (pairs[0][0].shape[1],))
    return builder.finish([layers_behind(builder, value, pairs, rectified=rectified)])


def layers_behind(builder: Builder, value: Value, pairs: Sequence[tuple[Array, Array]], *, rectified: bool) -> Value:
    """The value of such layers behind another one."""
    for k, (weight, bias) in enumerate(pairs, start=1):
        value = _layer(builder, k, weight, bias, value)
        if rectified and k < len(pairs):
            value = builder.emit(f"relu{k}", Rectify(constant(1.0), constant(0.0)), value)
    return value


def _layer(builder: Builder, k: int, weight: Any, bias: Any, value: Value) -> Value:
    """A linear layer; one of fractions is one of floats, divided by whole numbers."""
    if not (is_exact(weight) or is_exact(bias)):
        return builder.emit(f"linear{k}", Linear(weight, bias), value)
    rows = np.array([[*row, offset] for row, offset in zip(weight, bias, strict=True)], dtype=object)
    try:
        numerators, divisors = over_divisors(rows)
    except ValueError as error:
        raise NetworkError(
            f"layer {k} cannot be kept exactly: of (W, b) {error}; give floats, or simpler fractions"
        ) from None
    before = Linear(constant(numerators[:, :-1]), constant(numerators[:, -1]))
    numerator = builder.emit(f"linear{k}.numerators", before, value)
    return builder.emit(f"linear{k}", Scale(constant(1.0), constant(divisors)), numerator)


def _pair(layer: Any, k: int) -> tuple[Array, Array]:
    """A checked (W, b)."""
    if not isinstance(layer, Sequence) or isinstance(layer, str) or len(layer) != 2:
        raise NetworkError(f"layer {k} must be a pair (W, b), not {_shown(layer)}")
    weight, bias = (_numbers(part, f"layer {k}: {name}") for part, name in zip(layer, "Wb", strict=True))
    if weight.ndim != 2:
        raise NetworkError(f"layer {k}: W must be a matrix (outputs, inputs), but its shape is {weight.shape}")
    if k == 1 and weight.shape[1] == 0:
        raise NetworkError(f"layer 1: W of shape {weight.shape} takes no inputs")
    if bias.shape != (len(weight),):
        raise NetworkError(
            f"layer {k}: b has shape {bias.shape}, but W of shape {weight.shape} needs one of shape ({len(weight)},)"
        )
    return weight, bias


def _numbers(part: Any, place: str) -> Any:
    try:
        array = as_given(part)
        return array if is_exact(array) else constant(array)
    except (TypeError, ValueError, RuntimeError) as error:
        raise NetworkError(f"{place} is not an array of real numbers ({error}): {_shown(part)}") from error


def _shown(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= 80 else f"{text[:77]}..."
