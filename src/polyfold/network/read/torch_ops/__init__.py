"""The torch operators that can be read: one function for each family, in the table TORCH_OPS."""

# Importing a family registers it; their order here is their order in docs/networks.md.
from polyfold.network.read.torch_ops import (  # noqa: I001
    affine as affine,
    windows as windows,
    resizing as resizing,
    recurrent as recurrent,
    switches as switches,
    movement as movement,
    placing as placing,
    refused as refused,
)
from polyfold.network.read.torch_ops.heads import HEAD_OPS, in_head
from polyfold.network.read.torch_ops.refused import REFUSED_LAYERS
from polyfold.network.read.torch_ops.rewrites import parts, rewrite
from polyfold.network.read.torch_ops.site import TORCH_OPS, TorchSite

__all__ = ["HEAD_OPS", "REFUSED_LAYERS", "TORCH_OPS", "TorchSite", "in_head", "parts", "rewrite"]
