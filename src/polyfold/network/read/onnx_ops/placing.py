"""Numbers of several tensors put together: scattering, and what fills in zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polyfold.network.ops.op import size
from polyfold.network.read.builder import MIXES_THE_BATCH, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import placing
from polyfold.network.read.folding import arithmetic
from polyfold.network.read.onnx_ops.site import ONNX_OPS, OnnxSite, full_shape, operand, text
from polyfold.network.read.registry import COMPUTED_PLACES

handles = ONNX_OPS.family("The same numbers elsewhere")


@handles(
    *("Trilu", "CenterCropPad"),
    becomes="`Take`, or `Combine`",
    limits="not along an open batch axis",
    one_computed=COMPUTED_PLACES,
)
def _fill_in(site: OnnxSite, x: Value, places: Any = None, **options: Any) -> Value:
    return _place(site, [x], [places])


@handles(
    *("ScatterElements", "ScatterND"),
    becomes="`Take`, or `Concat`, `Combine` and `Shift`",
    limits="constant indices; reduction none or add",
    batch_anywhere=True,
)
def _scatter(site: OnnxSite, x: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: Any = b"none") -> Value:
    if isinstance(indices, Value):
        site.refuse(COMPUTED_PLACES)
    kind = text(reduction)
    if site.op != "ScatterND" and any(isinstance(item, Value) and item.batch_axis for item in (x, updates)):
        site.refuse(MIXES_THE_BATCH)
    if kind == "none":
        return _place(site, [operand(x), operand(updates)], [indices], order=(0, 2, 1))
    if kind != "add":
        site.refuse(f"its reduction {kind!r} is not supported; none and add are")
    shape = full_shape(x) if isinstance(x, Value) else x.shape
    places = _destinations(site, shape, np.asarray(indices), axis)
    if not isinstance(updates, Value):
        amounts = arithmetic.added_at(size(shape), places, np.asarray(updates, dtype=np.float64))
        return compose.add(site, operand(x), amounts.reshape(shape))
    pairs = np.stack([places.ravel(), np.arange(places.size)], axis=1)
    if updates.batch_axis:
        return _add_to_samples(site, x, updates, pairs, np.asarray(indices))
    if isinstance(x, Value) and x.batched and updates.batched:
        return placing.add_at(site, x, updates, pairs, x.shape)
    base = site.unbatch(x) if isinstance(x, Value) else np.asarray(x, dtype=np.float64)
    return placing.add_at(site, base, site.unbatch(updates), pairs, shape)


def _add_to_samples(site: OnnxSite, x: Any, updates: Value, pairs: Any, indices: Any) -> Value:
    """Sums where the batch axis is another than the first, behind all that is indexed."""
    axis = updates.batch_axis
    if not indices.shape[-1] == indices.ndim - 1 <= axis or (isinstance(x, Value) and x.batch_axis != axis):
        site.refuse(MIXES_THE_BATCH)
    base = replace(x, batch_axis=0) if isinstance(x, Value) else np.squeeze(np.asarray(x, dtype=np.float64), axis)
    shape = base.shape
    return replace(placing.add_at(site, base, replace(updates, batch_axis=0), pairs, shape), batch_axis=axis)


def _destinations(site: OnnxSite, shape: Any, indices: Any, axis: int) -> Any:
    """The flat position in a tensor of this shape that every update goes to."""
    positions = compose.positions(shape)
    if site.op == "ScatterND":
        return positions[tuple(np.moveaxis(indices, -1, 0))]
    axis %= len(shape)
    inner = tuple(slice(None) if k == axis else slice(n) for k, n in enumerate(indices.shape))
    return np.take_along_axis(positions[inner], indices % shape[axis], axis=axis)


def _place(site: OnnxSite, operands: list[Any], places: list[Any], order: Any = (0, 1)) -> Value:
    """Let ONNX's own definition move labels, and read off where they went."""
    labels = placing.Labels()
    batch_axis = max(item.batch_axis for item in operands if isinstance(item, Value))
    if batch_axis:
        return _place_in_samples(site, operands, places, order, batch_axis)
    labelled = [
        labels.of_value(item).reshape(full_shape(item)) if isinstance(item, Value) else labels.of_constant(item)
        for item in operands
    ]
    given = [*labelled, *places]
    (moved,) = site.run([given[k] for k in order])
    values = [item for item in operands if isinstance(item, Value)]
    if all(value.batched for value in values) and len(moved) == 1:
        return labels.put(site, moved[0])
    inner = placing.Labels(labels.numbers, [site.unbatch(value) for value in values])
    return replace(inner.put(site, moved), batched=False)


def _place_in_samples(site: OnnxSite, operands: list[Any], places: list[Any], order: Any, axis: int) -> Value:
    """The same where the batch axis is another than the first: two samples show where it goes."""
    samples, labels = 2, placing.Labels()
    ones = [labels.of_value(item) if isinstance(item, Value) else labels.of_constant(item) for item in operands]
    labelled = []
    for item, one in zip(operands, ones, strict=True):
        if isinstance(item, Value):
            labelled.append(placing.for_samples(one, labels.total(), samples, item.batch_axis))
        else:
            # A constant was computed for a single sample.
            labelled.append(np.repeat(one, samples, axis) if one.ndim > axis and one.shape[axis] == 1 else one)
    given = [*labelled, *places]
    (moved,) = site.run([given[k] for k in order])
    index, where = placing.one_sample(site, moved, labels.total(), samples)
    return replace(labels.put(site, index), batch_axis=where)
