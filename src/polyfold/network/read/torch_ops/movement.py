"""What moves numbers about or leaves them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from polyfold.network.read.builder import Operand, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import placing
from polyfold.network.read.folding.folded import loses_digits, rounds_by_itself
from polyfold.network.read.folding.torch_constants import type_name
from polyfold.network.read.registry import COMPUTED_CHOICE
from polyfold.network.read.torch_ops.site import (
    TORCH_OPS,
    TorchSite,
    array,
    operand,
    positions_of_a_batch,
)

handles = TORCH_OPS.family("The same numbers elsewhere")

DROPOUTS = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
COPIES = ("contiguous", "clone", "alias", "detach", "lift_fresh_copy", "positive")
CASTS = ("to", "_to_copy", "type_as")


@handles(*DROPOUTS, becomes="nothing", limits="evaluation mode", batch_anywhere=True)
def _dropout(site: TorchSite, x: Value, probability: float, train: bool) -> Value:
    if train:
        site.refuse("it drops values at random even in evaluation mode")
    return x


@handles(*COPIES, becomes="nothing", batch_anywhere=True)
def _copy(site: TorchSite, x: Value, *options: Any, **more: Any) -> Value:
    return x


@handles(*CASTS, becomes="nothing", limits="to types of real numbers", batch_anywhere=True, chooses=True)
def _cast(site: TorchSite, x: Any, *options: Any, **more: Any) -> Any:
    if not site.dtype.is_floating_point:
        site.refuse(f"a cast to {site.dtype} is not continuous")
    # Models are traced in float64 or float32: a cast to float32 may be the trace's own.
    if loses_digits("float32", type_name(site.dtype)):
        site.builder.note(rounds_by_itself(site.name, site.op, type_name(site.dtype)))
    return x


RESHAPES = (
    *("flatten", "reshape", "reshape_as", "view", "view_as", "_unsafe_view"),
    *("squeeze", "unsqueeze", "unflatten"),
)


@handles(
    *RESHAPES,
    *("permute", "transpose", "t", "movedim", "moveaxis", "swapaxes", "numpy_T", "mT"),
    *("slice", "select", "narrow", "index_select", "index", "flip", "roll"),
    *("diagonal", "rot90", "unfold", "gather", "take_along_dim", "repeat_interleave", "as_strided"),
    *("split", "split_with_sizes", "chunk", "unbind", "tensor_split"),
    *("expand", "expand_as", "repeat", "tile", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle"),
    becomes="`Reshape`, `Take`",
    limits="samples may not be mixed; indices must be constant",
    batch_anywhere=True,
    one_computed=COMPUTED_CHOICE,
)
def _move(site: TorchSite, x: Value, *options: Any, **more: Any) -> Any:
    """Let torch move the positions of the numbers, for several samples, and read off where they went."""
    moved = site.target(positions_of_a_batch(site, x), *options, **more)
    if isinstance(moved, torch.Tensor):
        return _placed(site, x, moved)
    return [_placed(site, x, piece, part=str(k)) for k, piece in enumerate(moved)]


def _placed(site: TorchSite, x: Value, moved: Any, part: str = "") -> Value:
    if site.single:
        return compose.moved(site, x, moved.numpy(), part)
    return placing.rearranged(site, x, moved.numpy(), site.batch, part)


@handles("cat", "concat", "concatenate", becomes="`Concat`", limits="not along the batch axis", exact=True)
def _cat(site: TorchSite, pieces: Sequence[Any], dim: int = 0) -> Value:
    return compose.concat(site, [operand(piece) for piece in pieces], dim)


@handles("stack", becomes="`Concat`", limits="not in front of the batch axis", exact=True)
def _stack(site: TorchSite, pieces: Sequence[Any], dim: int = 0) -> Value:
    rank = 1 + (pieces[0].rank if isinstance(pieces[0], Value) else array(pieces[0]).ndim)
    dim %= rank
    raised = [_raised(site, piece, dim) for piece in pieces]
    return compose.concat(site, raised, dim)


def _raised(site: TorchSite, piece: Any, dim: int) -> Operand:
    """A piece with an axis of length one at `dim`."""
    if not isinstance(piece, Value):
        return np.expand_dims(array(piece), dim)
    if piece.batched and dim == 0:
        site.refuse("it stacks in front of the batch axis")
    axis = dim - piece.batched
    shape = (*piece.shape[:axis], 1, *piece.shape[axis:])
    return compose.reshape(site, piece, shape, part="piece")
