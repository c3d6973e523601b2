"""The torch operators that can be read: one function for each family, in the table TORCH_OPS."""

# Importing a family registers it; their order here is their order in docs/networks.md.
from polyfold.network.torch_ops import (  # noqa: I001
    affine as affine,
    windows as windows,
    resizing as resizing,
    recurrent as recurrent,
    switches as switches,
    movement as movement,
    placing as placing,
    refused as refused,
)
from polyfold.network.torch_ops.heads import HEAD_OPS, in_head
from polyfold.network.torch_ops.rewrites import parts, rewrite
from polyfold.network.torch_ops.site import TORCH_OPS, TorchSite, values_in

__all__ = ["HEAD_OPS", "TORCH_OPS", "TorchSite", "in_head", "parts", "rewrite", "values_in"]
