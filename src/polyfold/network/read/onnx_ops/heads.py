"""ONNX operators that a head may consist of, and those that may follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import helper

from polyfold.network.head import ELEMENTWISE, Kind
from polyfold.network.read.behind_head import counts_classes, into_head, moved_behind_head
from polyfold.network.read.builder import Value
from polyfold.network.read.onnx_ops.movement import RESHAPES
from polyfold.network.read.onnx_ops.site import OnnxSite
from polyfold.network.read.registry import Reading

HEAD_OPS: dict[str, Kind] = {
    "Softmax": "softmax",
    "LogSoftmax": "log-softmax",
    "Sigmoid": "sigmoid",
    "ArgMax": "argmax",
    "Hardmax": "hardmax",
}
# What may follow a softmax: ops that keep all numbers in their order.
_KEEPS_THE_ORDER = frozenset({*RESHAPES, "Identity", "Dropout", "Cast", "CastLike"})
# From here on, softmax and its like have one axis; before, theirs and all behind it were one.
_ONE_AXIS = 13


def in_head(
    site: OnnxSite, tap: str, reading: Reading | None, inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> Value | None:
    """What an operator of the head gives, or one behind it; None if it belongs to the network. It reads `tap`."""
    x = inputs[0]
    if not isinstance(x, Value):
        return None
    if site.op in HEAD_OPS:
        return _head_op(site, x, HEAD_OPS[site.op], tap, attributes)
    if not x.head or site.op not in _KEEPS_THE_ORDER or reading is None:
        return None
    reading.check(site, inputs)
    if site.op == "Cast" and "to" in attributes:
        kind = helper.tensor_dtype_to_np_dtype(attributes["to"])
        if np.issubdtype(kind, np.integer) and counts_classes(x, int(np.iinfo(kind).max)):
            return x
    return moved_behind_head(site, x, lambda where, value: reading.handler(where, value, *inputs[1:], **attributes))


def _head_op(site: OnnxSite, x: Value, kind: Kind, tap: str, attributes: Mapping[str, Any]) -> Value:
    if kind in ELEMENTWISE:
        return into_head(site, x, kind, (), tap)
    if kind == "argmax":
        keeps, last = (bool(attributes.get(name, usual)) for name, usual in (("keepdims", 1), ("select_last_index", 0)))
        return into_head(site, x, kind, (attributes.get("axis", 0),), tap, keeps_axes=keeps, last=last)
    if site.opset >= _ONE_AXIS:
        return into_head(site, x, kind, (attributes.get("axis", -1),), tap)
    return into_head(site, x, kind, range(attributes.get("axis", 1) % max(x.rank, 1), x.rank), tap)
