"""The ONNX operators that can be read: one function for each family, in the table ONNX_OPS."""

# Importing a family registers it; their order here is their order in docs/networks.md.
from polyfold.network.read.onnx_ops import (  # noqa: I001
    affine as affine,
    windows as windows,
    resizing as resizing,
    recurrent as recurrent,
    switches as switches,
    movement as movement,
    placing as placing,
    refused as refused,
)
from polyfold.network.read.onnx_ops.heads import HEAD_OPS, in_head
from polyfold.network.read.onnx_ops.recurrent import batch_second
from polyfold.network.read.onnx_ops.site import FLOAT_TYPES, ONNX_OPS, OnnxSite, full_shape

__all__ = ["FLOAT_TYPES", "HEAD_OPS", "ONNX_OPS", "OnnxSite", "batch_second", "full_shape", "in_head"]
