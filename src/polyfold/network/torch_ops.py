"""The torch operators that can be read: one function for each family, in the table TORCH_OPS.

A handler gets the Site and the operator's own arguments. Computed tensors arrive as Values, constant ones as
torch tensors; what it returns stands for the operator's result. Names are ATen's, without the overload unless
that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch

from polyfold.network import compose
from polyfold.network.builder import Constant, Operand, Site, Value
from polyfold.network.ops import size

Handler: TypeAlias = Callable[..., Any]

TORCH_OPS: dict[str, Handler] = {}
ENDINGS = frozenset({"softmax", "_softmax", "log_softmax", "_log_softmax", "sigmoid", "log_sigmoid", "argmax"})


@dataclass(frozen=True)
class TorchSite(Site):
    """A Site that knows the operator itself and the type of its result."""

    target: Any
    dtype: Any


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for these operators."""

    def register(handler: Handler) -> Handler:
        TORCH_OPS.update(dict.fromkeys(names, handler))
        return handler

    return register


def array(numbers: Any) -> Constant:
    """A constant tensor or Python number in float64."""
    if isinstance(numbers, torch.Tensor):
        return np.asarray(numbers.detach().cpu().double().numpy())
    return np.asarray(numbers, dtype=np.float64)


def operand(argument: Any) -> Operand:
    """An argument as a value or a constant."""
    return argument if isinstance(argument, Value) else array(argument)


def optional(argument: Any) -> Constant | None:
    """A constant that may be absent."""
    return None if argument is None else array(argument)


def values_in(argument: Any) -> Iterator[Value]:
    """The computed tensors among arguments, however nested."""
    if isinstance(argument, Value):
        yield argument
    elif isinstance(argument, (list, tuple)):
        for item in argument:
            yield from values_in(item)
    elif isinstance(argument, dict):
        yield from values_in(tuple(argument.values()))


# Affine maps


@handles("linear")
def _linear(site: TorchSite, x: Operand, weight: Any, bias: Any = None) -> Value:
    if isinstance(weight, Value) or isinstance(bias, Value) or not isinstance(x, Value):
        site.refuse("its weights are computed from the network's input")
    matrix = array(weight)
    if matrix.ndim != 2:
        site.refuse(f"its weight has shape {matrix.shape}, which is no matrix")
    return compose.linear(site, x, matrix, optional(bias))


@handles("addmm")
def _addmm(site: TorchSite, bias: Any, x: Any, y: Any, *, beta: float = 1, alpha: float = 1) -> Value:
    if isinstance(bias, Value):
        site.refuse("its bias is computed from the network's input")
    product = replace(site, name=f"{site.name}.product")
    scaled = compose.matmul(product, operand(x), alpha * array(y) if not isinstance(y, Value) else y)
    if isinstance(y, Value):
        scaled = compose.scale(product, scaled, array(alpha))
    return compose.shift(site, scaled, beta * array(bias))


@handles("matmul", "mm", "bmm", "mv", "dot")
def _matmul(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.matmul(site, operand(x), operand(y))


@handles("add")
def _add(site: TorchSite, x: Any, y: Any, *, alpha: float = 1) -> Value:
    return compose.add(site, operand(x), _times(site, y, alpha))


@handles("sub", "subtract")
def _sub(site: TorchSite, x: Any, y: Any, *, alpha: float = 1) -> Value:
    return compose.subtract(site, operand(x), _times(site, y, alpha))


@handles("rsub")
def _rsub(site: TorchSite, x: Any, y: Any, alpha: float = 1) -> Value:
    return compose.subtract(site, operand(y), _times(site, x, alpha))


def _times(site: TorchSite, x: Any, alpha: float) -> Operand:
    if isinstance(x, Value):
        return x if alpha == 1 else compose.scale(site, x, array(alpha), part="alpha")
    return array(x) * alpha


@handles("mul", "multiply")
def _mul(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.multiply(site, operand(x), operand(y))


@handles("div", "divide", "true_divide")
def _div(site: TorchSite, x: Any, y: Any, *, rounding_mode: str | None = None) -> Value:
    if rounding_mode is not None:
        site.refuse("a rounded quotient is not continuous")
    return compose.divide(site, operand(x), operand(y))


@handles("neg", "negative")
def _neg(site: TorchSite, x: Value) -> Value:
    return compose.negate(site, x)


@handles("sum", "mean")
def _total(site: TorchSite, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    axes = [dim] if isinstance(dim, int) else list(dim or range(x.rank))
    axes = [axis % x.rank for axis in axes]
    if 0 in axes:
        site.refuse("it combines the samples of a batch (the first axis)")
    mean = site.op.startswith("mean")
    return compose.total(site, x, [axis - 1 for axis in axes], keepdims=keepdim, mean=mean)


@handles("batch_norm")
def _batch_norm(
    site: TorchSite,
    x: Value,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn: bool = False,
) -> Value:
    if training or mean is None or variance is None:
        _batch_statistics(site)
    return compose.batch_norm(site, x, optional(weight), optional(bias), array(mean), array(variance), eps)


@handles("_native_batch_norm_legit_no_training")
def _folded_batch_norm(
    site: TorchSite, x: Value, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Value]:
    return (_batch_norm(site, x, weight, bias, mean, variance, False, momentum, eps),)


@handles("_native_batch_norm_legit", "native_batch_norm")
def _batch_statistics(site: TorchSite, *options: Any) -> Value:
    site.refuse("it normalises by the batch's own statistics; give it track_running_stats=True")


# Switches


@handles("relu")
def _relu(site: TorchSite, x: Value) -> Value:
    return compose.relu(site, x)


@handles("leaky_relu")
def _leaky_relu(site: TorchSite, x: Value, slope: float = 0.01) -> Value:
    return compose.rectify(site, x, array(1), array(slope))


@handles("rrelu")
def _rrelu(
    site: TorchSite, x: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *rest: Any
) -> Value:
    if training:
        site.refuse("its slopes are random even in evaluation mode")
    return compose.rectify(site, x, array(1), array((lower + upper) / 2))


@handles("prelu", "_prelu_kernel")
def _prelu(site: TorchSite, x: Value, weight: Any) -> Value:
    slopes = array(weight)
    if slopes.size == 1:
        slopes = slopes.reshape(())
    elif slopes.ndim == 1:
        slopes = slopes.reshape(-1, *([1] * (len(x.shape) - 1)))
    else:
        x, slopes = compose.fit_constant(site, x, slopes)
    return compose.rectify(site, x, array(1), slopes)


@handles("abs", "absolute")
def _abs(site: TorchSite, x: Value) -> Value:
    return compose.rectify(site, x, array(1), array(-1))


@handles("clamp", "clip")
def _clamp(site: TorchSite, x: Value, min: Any = None, max: Any = None) -> Value:
    low = None if min is None else operand(min)
    high = None if max is None else operand(max)
    return compose.clamp(site, x, low, high)


@handles("hardtanh")
def _hardtanh(site: TorchSite, x: Value, min_val: float = -1, max_val: float = 1) -> Value:
    return compose.clamp(site, x, array(min_val), array(max_val))


@handles("clamp_min")
def _clamp_min(site: TorchSite, x: Value, min: Any) -> Value:
    return compose.clamp(site, x, operand(min), None)


@handles("clamp_max")
def _clamp_max(site: TorchSite, x: Value, max: Any) -> Value:
    return compose.clamp(site, x, None, operand(max))


@handles("relu6")
def _relu6(site: TorchSite, x: Value) -> Value:
    return compose.clamp(site, x, array(0), array(6))


@handles("hardsigmoid")
def _hardsigmoid(site: TorchSite, x: Value) -> Value:
    clamped = compose.clamp(site, compose.shift(site, x, array(3), part="plus3"), array(0), array(6))
    return compose.scale(site, clamped, array(1 / 6), part="sixth")


@handles("threshold")
def _threshold(site: TorchSite, x: Value, threshold: float, value: float) -> Value:
    if threshold != value:
        site.refuse(f"it jumps from {value} to {threshold}; only a threshold equal to its value is continuous")
    return compose.clamp(site, x, array(threshold), None)


@handles("maximum", "max.other")
def _maximum(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.larger(site, operand(x), operand(y))


@handles("minimum", "min.other")
def _minimum(site: TorchSite, x: Any, y: Any) -> Value:
    return compose.smaller(site, operand(x), operand(y))


# Nothing happens to the numbers

DROPOUTS = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
COPIES = ("contiguous", "clone", "alias", "detach", "lift_fresh_copy", "positive")
CASTS = ("to", "_to_copy", "type_as")


@handles(*DROPOUTS)
def _dropout(site: TorchSite, x: Value, probability: float, train: bool) -> Value:
    if train:
        site.refuse("it drops values at random even in evaluation mode")
    return x


@handles(*COPIES)
def _copy(site: TorchSite, x: Value, *options: Any, **more: Any) -> Value:
    return x


@handles(*CASTS)
def _cast(site: TorchSite, x: Value, *options: Any, **more: Any) -> Value:
    if not site.dtype.is_floating_point:
        site.refuse(f"a cast to {site.dtype} is not continuous")
    return x


# The numbers move

RESHAPES = (
    *("flatten", "reshape", "reshape_as", "view", "view_as", "_unsafe_view"),
    *("squeeze", "unsqueeze", "unflatten"),
)
# What may follow a softmax at the end: ops that keep all numbers in their order.
KEEPS_THE_ORDER = frozenset({*DROPOUTS, *COPIES, *CASTS, *RESHAPES})


@handles(
    *RESHAPES,
    *("permute", "transpose", "t", "movedim", "moveaxis", "swapaxes", "numpy_T", "mT"),
    *("slice", "select", "narrow", "index_select", "index", "flip", "roll"),
    *("split", "split_with_sizes", "chunk", "unbind", "tensor_split"),
    *("expand", "expand_as", "repeat", "tile", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle"),
)
def _move(site: TorchSite, x: Value, *options: Any, **more: Any) -> Any:
    """Let torch move the positions of the numbers, for several samples, and read off where they went."""
    if any(values_in((*options, *more.values()))):
        site.refuse("which numbers it takes depends on the network's input")
    count = size(x.shape)
    where = torch.arange(site.batch * count).reshape(site.batch, *x.shape)
    moved = site.target(where, *options, **more)
    if isinstance(moved, torch.Tensor):
        return compose.rearrange(site, x, _one_sample(site, moved, count))
    return [compose.rearrange(site, x, _one_sample(site, piece, count), part=str(k)) for k, piece in enumerate(moved)]


def _one_sample(site: TorchSite, moved: Any, count: int) -> Any:
    """The positions within a sample, after a check that every sample was treated alike and on its own."""
    positions = moved.numpy()
    alike = positions.ndim > 0 and len(positions) == site.batch
    if alike:
        offsets = count * np.arange(site.batch).reshape(-1, *([1] * (positions.ndim - 1)))
        alike = bool((positions - offsets == positions[:1]).all() and (positions[0] < count).all())
    if not alike:
        site.refuse("it mixes the batch axis (the first one) with others, so rows would depend on each other")
    return positions[0]


@handles("cat", "concat", "concatenate")
def _cat(site: TorchSite, pieces: Sequence[Any], dim: int = 0) -> Value:
    return compose.concat(site, [operand(piece) for piece in pieces], dim)


@handles("stack")
def _stack(site: TorchSite, pieces: Sequence[Any], dim: int = 0) -> Value:
    rank = 1 + (pieces[0].rank if isinstance(pieces[0], Value) else pieces[0].dim())
    dim %= rank
    raised = [_raised(site, piece, dim) for piece in pieces]
    return compose.concat(site, raised, dim)


def _raised(site: TorchSite, piece: Any, dim: int) -> Operand:
    """A piece with an axis of length one at `dim`."""
    if not isinstance(piece, Value):
        return np.expand_dims(array(piece), dim)
    if dim == 0:
        site.refuse("it stacks in front of the batch axis")
    shape = (*piece.shape[: dim - 1], 1, *piece.shape[dim - 1 :])
    return compose.reshape(site, piece, shape, part="piece")
