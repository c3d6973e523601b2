"""What all readers of torch operators share: the table, and arguments as values or constants.

A handler gets the Site and the operator's own arguments. Computed tensors arrive as Values, constant ones as
torch tensors (or as Folded, if the handler says that it can read those); what it returns stands for the
operator's result. Names are ATen's, without the overload unless that matters; one of another namespace has it in
front ("mine::op").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from polyfold.network.ops.op import size
from polyfold.network.read.builder import Constant, Operand, Site, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import placing
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
    where = placing.for_samples(compose.positions(x.shape), size(x.shape), site.batch, x.batch_axis)
    # A view of the original may be none of a tensor with other strides; that of a contiguous one always is.
    return torch.from_numpy(np.ascontiguousarray(where))
