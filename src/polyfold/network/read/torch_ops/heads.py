"""Torch operators that a head may consist of, and those that may follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from polyfold.network.head import ELEMENTWISE, Kind
from polyfold.network.read.behind_head import counts_classes, into_head, moved_behind_head
from polyfold.network.read.builder import MIXES_THE_BATCH, Value
from polyfold.network.read.registry import Reading
from polyfold.network.read.torch_ops.movement import CASTS, COPIES, DROPOUTS, RESHAPES
from polyfold.network.read.torch_ops.site import TorchSite

HEAD_OPS: dict[str, Kind] = {
    "softmax": "softmax",
    "_softmax": "softmax",
    "log_softmax": "log-softmax",
    "_log_softmax": "log-softmax",
    "sigmoid": "sigmoid",
    "log_sigmoid": "log-sigmoid",
    "argmax": "argmax",
}
# What may follow a softmax: ops that keep all numbers in their order.
_KEEPS_THE_ORDER = frozenset({*DROPOUTS, *COPIES, *CASTS, *RESHAPES})


def in_head(
    site: TorchSite, tap: str, reading: Reading | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Value | None:
    """What an operator of the head gives, or one behind it; None if it belongs to the network. It reads `tap`."""
    x = args[0] if args else None
    if not isinstance(x, Value):
        return None
    if site.op in HEAD_OPS:
        return _head_op(site, x, HEAD_OPS[site.op], tap, args[1:], kwargs)
    if not x.head or site.op not in _KEEPS_THE_ORDER or reading is None:
        return None
    reading.check(site, (*args, *kwargs.values()))
    whole = site.op in CASTS and not site.dtype.is_floating_point and site.dtype != torch.bool
    if whole and counts_classes(x, torch.iinfo(site.dtype).max):
        return x
    return moved_behind_head(site, x, lambda where, value: reading.handler(where, value, *args[1:], **kwargs))


def _head_op(site: TorchSite, x: Value, kind: Kind, tap: str, options: Sequence[Any], more: Mapping[str, Any]) -> Value:
    if kind in ELEMENTWISE:
        return into_head(site, x, kind, (), tap)
    dim = more.get("dim", options[0] if options else None)
    if dim is None:
        site.refuse(MIXES_THE_BATCH)
    keepdim = bool(more.get("keepdim", options[1] if len(options) > 1 else False))
    return into_head(site, x, kind, (dim,), tap, keeps_axes=keepdim)
