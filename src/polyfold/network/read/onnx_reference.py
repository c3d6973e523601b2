"""ONNX's own evaluator in Python, with a mistake of it put right: it mixes up the groups of transposed convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops.op_conv_transpose import ConvTranspose as _OneGroup


class ConvTranspose(_OneGroup):  # type: ignore[misc]  # onnx is looked at without its types
    """Every group by itself, side by side along the channels."""

    op_domain = ""

    def _run(self, X: Any, W: Any, B: Any = None, *, group: int | None = None, **attributes: Any) -> tuple[Any]:
        count = group or 1
        biases = [None] * count if B is None else np.split(B, count)
        parts = zip(np.split(X, count, axis=1), np.split(W, count), biases, strict=True)
        results = [_OneGroup._run(self, x, w, b, group=1, **attributes)[0] for x, w, b in parts]
        return (np.concatenate(results, axis=1),)


def reference(model: Any) -> ReferenceEvaluator:
    """The evaluator of a model."""
    return ReferenceEvaluator(model, new_ops=[ConvTranspose])
