"""What all readers of torch operators share: the table, and arguments as values or constants.

A handler gets the Site and the operator's own arguments. Computed tensors arrive as Values, constant ones as
torch tensors (or as Folded, if the handler says that it can read those); what it returns stands for the
operator's result. Names are ATen's, without the overload unless that matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from polyfold.network.ops.op import size
from polyfold.network.read.builder import MIXES_THE_BATCH, Constant, Operand, Site, Value
from polyfold.network.read.folding.folded import Folded
from polyfold.network.read.registry import Readings

TORCH_OPS = Readings()


@dataclass(frozen=True)
class TorchSite(Site):
    """A Site that knows the operator itself and the type of its result."""

    target: Any
    dtype: Any


def array(numbers: Any) -> Constant:
    """A constant tensor or Python number in float64, or as it is if floats cannot hold it."""
    if isinstance(numbers, Folded):
        return numbers.exact
    if isinstance(numbers, torch.Tensor):
        dense = numbers.detach() if numbers.layout is torch.strided else numbers.detach().to_dense()
        return np.asarray(dense.cpu().double().numpy())
    return np.asarray(numbers, dtype=np.float64)


def operand(argument: Any) -> Operand:
    """An argument as a value or a constant."""
    return argument if isinstance(argument, Value) else array(argument)


def optional(argument: Any) -> Constant | None:
    """A constant that may be absent."""
    return None if argument is None else array(argument)


def optional_operand(argument: Any) -> Operand | None:
    """A value or constant that may be absent."""
    return None if argument is None else operand(argument)


def axes_behind_batch(site: Site, x: Value, dim: Any) -> list[int]:
    """The axes that an operator reduces (all, if it names none), as axes of a sample."""
    if dim is None or (isinstance(dim, Sequence) and not dim):
        axes = list(range(x.rank))
    else:
        axes = [axis % x.rank for axis in ([dim] if isinstance(dim, int) else dim)]
    if x.batched and 0 in axes:
        site.refuse("it combines the samples of a batch (the first axis)")
    return [axis - x.batched for axis in axes]


def positions_of_a_batch(site: Site, x: Value) -> Any:
    """The numbers 0, 1, 2, ... of all samples, one after the other, as a tensor of the shape that x has in torch."""
    if not x.batched:
        return torch.arange(size(x.shape)).reshape(x.shape)
    where = torch.arange(site.batch * size(x.shape)).reshape(site.batch, *x.shape)
    # A view of the original may be none of a tensor with other strides; that of a contiguous one always is.
    return where.movedim(0, x.batch_axis).contiguous()


def one_sample(site: Site, moved: Any, count: int) -> tuple[Any, int]:
    """The positions within a sample and the axis that is the batch now.

    `moved` is what an operator made of the numbers 0, 1, 2, ... in a whole batch. Refused unless every sample was
    treated alike and on its own.
    """
    positions = moved.numpy()
    offsets = count * np.arange(site.batch).reshape(-1, *([1] * (positions.ndim - 1)))
    for axis, length in enumerate(positions.shape):
        by_sample = np.moveaxis(positions, axis, 0)
        if length == site.batch and (by_sample[0] < count).all() and (by_sample - offsets == by_sample[0]).all():
            return np.array(by_sample[0]), axis
    return site.refuse(MIXES_THE_BATCH)
