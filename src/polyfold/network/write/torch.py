"""From a Network to a torch module: layers of torch.nn where there are such, small modules of our own elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from polyfold._base.types import Array
from polyfold.errors import NetworkError
from polyfold.exact.expansion import expansion
from polyfold.network.graph import Network
from polyfold.network.ops.linear import Add, Linear, Normalise, Scale, Shift, Subtract
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import Op, Shape
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.network.ops.switches import Clamp, Largest, Maximum, Minimum, Rectify
from polyfold.network.ops.unrounded import Unrounded
from polyfold.network.read.builder import new_name
from polyfold.network.read.compose.pools import by_count, has_members, pool_of
from polyfold.network.read.windows import Pool
from polyfold.network.write import torch_modules as own
from polyfold.network.write.head_to_torch import head_modules
from polyfold.network.write.rounding import rounded

_NUMPY: dict[Any, np.dtype[Any]] = {torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32)}
# The axes that torch has convolutions and pools for.
_MOST_AXES = 3


def to_torch(network: Network, dtype: torch.dtype | None = None) -> nn.Module:
    """The module in evaluation mode, in float64 if nothing else is said."""
    kind = torch.float64 if dtype is None else dtype
    if kind not in _NUMPY:
        raise NetworkError(f"a module is written in torch.float64 or torch.float32, not in {dtype!r}")
    numbers = _NUMPY[kind]
    steps = [(node.name, node.inputs) for node in network.nodes]
    outputs, heads = head_modules(network, {name for name, _ in steps})
    steps += [(name, reads) for name, reads, _ in heads]
    names = dict(zip((name for name, _ in steps), _clean(name for name, _ in steps), strict=True))
    modules: dict[str, nn.Module] = {}
    for node in network.nodes:
        for values in node.op.constants:
            rounded(node.name, values, numbers)
        shapes = [network.shapes[name] for name in node.inputs]
        try:
            modules[names[node.name]] = module_of(node.op, network.shapes[node.name], shapes).to(kind)
        except NetworkError as error:
            raise NetworkError(f"node {node.name!r} ({type(node.op).__name__}): {error}") from None
    modules |= {names[name]: module for name, _, module in heads}
    if _is_chain([port.name for port in network.inputs], steps, outputs):
        sequence = nn.Sequential()
        for name, module in modules.items():
            sequence.add_module(name, module)
        return sequence.eval()
    named = [(name, names[name], reads) for name, reads in steps]
    return own.NetworkModule(modules, named, [port.name for port in network.inputs], outputs).eval()


def _is_chain(inputs: Sequence[str], steps: Sequence[tuple[str, tuple[str, ...]]], outputs: Sequence[str]) -> bool:
    """Whether every step reads the one before it, the first one the only input, and the last one is the output."""
    values = [*inputs, *(name for name, _ in steps)]
    return (
        len(inputs) == 1
        and bool(steps)
        and list(outputs) == values[-1:]
        and all(reads == (before,) for (_, reads), before in zip(steps, values, strict=False))
    )


# What a submodule cannot be called, because a module has something else by that name.
_TAKEN = {*dir(nn.Sequential()), "steps", "input_names", "output_names"}


def _clean(names: Iterable[str]) -> list[str]:
    """Names for submodules: letters, digits and underscores; different names stay different."""
    taken = set(_TAKEN)
    return [new_name(re.sub(r"\W+", "_", name).strip("_") or "node", taken, "_") for name in names]


def _tensor(values: Array) -> torch.Tensor:
    return torch.from_numpy(np.array(values, dtype=np.float64, order="C"))


def _whole(values: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(values, dtype=np.int64, order="C"))


def _filled(layer: nn.Module, **values: Array) -> nn.Module:
    """A layer in float64 with these parameters."""
    layer = layer.double()
    layer.load_state_dict({name: _tensor(value) for name, value in values.items()})
    return layer


@singledispatch
def module_of(op: Op, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    """The module of an operation that gives `shape` and reads values of the shapes `reads`, in float64."""
    raise AssertionError(f"{type(op).__name__} is not written to torch")


@module_of.register
def _(op: Linear, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    outputs, inputs = op.weight.shape
    return _filled(nn.utils.skip_init(nn.Linear, inputs, outputs), weight=op.weight, bias=op.bias)


@module_of.register
def _(op: Scale, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    return own.ScaleLayer(_tensor(op.factor), None if op.divisor is None else _tensor(op.divisor))


@module_of.register
def _(op: Normalise, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    # torch's layers ask for the number of axes, but normalise all alike.
    kind = nn.BatchNorm1d if len(shape) <= 2 else nn.BatchNorm2d if len(shape) == 3 else nn.BatchNorm3d
    if len(shape) > _MOST_AXES + 1:
        raise NetworkError(f"torch has no batch normalisation of values of shape {shape}; export it to ONNX")
    layer = kind(len(op.mean), eps=op.epsilon)
    counted = layer.num_batches_tracked.numpy()
    return _filled(
        layer,
        weight=op.gamma,
        bias=op.beta,
        running_mean=op.mean,
        running_var=op.variance,
        num_batches_tracked=counted,
    )


@module_of.register
def _(op: Shift, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    return own.Shifted(_tensor(op.offset))


@module_of.register
def _(op: Reshape, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    if len(op.shape) == 1 and len(reads[0]) > 1:
        return nn.Flatten()
    if len(op.shape) > 1 and len(reads[0]) == 1:
        return nn.Unflatten(1, op.shape)
    return own.Reshaped(op.shape)


@module_of.register
def _(op: Take, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    return own.Taken(_whole(op.index))


@module_of.register
def _(op: Concat, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    return own.Joined(op.axis + 1)


_PAIRWISE = {Add: "add", Subtract: "sub", Maximum: "maximum", Minimum: "minimum"}


@module_of.register(Add)
@module_of.register(Subtract)
@module_of.register(Maximum)
@module_of.register(Minimum)
def _(op: Op, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    return own.Pairwise(_PAIRWISE[type(op)], len(shape))


@module_of.register
def _(op: Rectify, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    slopes = np.unique(op.slope_off)
    if (op.slope_on == 1).all():
        if len(slopes) == 1:
            return nn.ReLU() if slopes[0] == 0 else nn.LeakyReLU(float(slopes[0]))
        # torch has a slope for every entry of the first axis.
        each = (shape[0], *([1] * (len(shape) - 1)))
        if op.slope_off.shape == each:
            return _filled(nn.PReLU(shape[0]), weight=op.slope_off.ravel())
    return own.Rectified(_tensor(op.slope_on), _tensor(op.slope_off))


@module_of.register
def _(op: Clamp, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    # The two differ in their derivatives at the bounds.
    if op.flat_at_bounds and op.low < op.high:
        return nn.Hardtanh(op.low, op.high)
    return own.Clamped(op.low, op.high)


def _layer(name: str, axes: int) -> Any:
    """The class of torch.nn for this number of spatial axes."""
    if axes > _MOST_AXES:
        raise NetworkError(f"torch has no {name} along {axes} axes, only along up to {_MOST_AXES}; export it to ONNX")
    return getattr(nn, f"{name}{axes}d")


@module_of.register
def _(op: Convolution, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    window, (outputs, inputs, *kernel) = op.window, op.kernel.shape
    layer = _layer("Conv", len(kernel))
    if any(before != after for before, after in window.padding):
        weight, bias = _tensor(op.kernel), _tensor(op.bias)
        return own.Convolved(weight, bias, window.padding, window.stride, window.dilation, window.groups)
    empty = nn.utils.skip_init(
        layer,
        inputs * window.groups,
        outputs,
        tuple(kernel),
        stride=window.stride,
        padding=tuple(before for before, _ in window.padding),
        dilation=window.dilation,
        groups=window.groups,
    )
    return _filled(empty, weight=op.kernel, bias=op.bias)


@module_of.register
def _(op: TransposedConvolution, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    window, (inputs, outputs, *kernel) = op.window, op.kernel.shape
    layer = _layer("ConvTranspose", len(kernel))
    reached = [
        s * (n - 1) + d * (k - 1) + 1
        for s, n, d, k in zip(window.stride, reads[0][1:], window.dilation, kernel, strict=True)
    ]
    before = tuple(first for first, _ in window.padding)
    more = tuple(n - full + 2 * first for n, full, first in zip(op.space, reached, before, strict=True))
    if not all(0 <= extra < max(s, d) for extra, s, d in zip(more, window.stride, window.dilation, strict=True)):
        cut = [(first, full - first - n) for n, full, first in zip(op.space, reached, before, strict=True)]
        weight, bias = _tensor(op.kernel), _tensor(op.bias)
        return own.ConvolvedBack(weight, bias, cut, window.stride, window.dilation, window.groups)
    empty = nn.utils.skip_init(
        layer,
        inputs,
        outputs * window.groups,
        tuple(kernel),
        stride=window.stride,
        padding=before,
        output_padding=more,
        groups=window.groups,
        dilation=window.dilation,
    )
    return _filled(empty, weight=op.kernel, bias=op.bias)


@module_of.register
def _(op: Combine, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    entries = op.matrix.tocoo()
    places = _whole(np.stack([entries.row, entries.col]))
    matrix = torch.sparse_coo_tensor(places, _tensor(entries.data), entries.shape, check_invariants=True)
    return own.Combined(matrix.coalesce(), op.shape, None if op.divisor is None else _tensor(op.divisor))


@module_of.register
def _(op: Unrounded, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    layer = module_of(op.op, shape, reads)
    names = {Scale: ("factor", ""), Shift: ("", "offset")}.get(type(op.op), ("weight", "bias"))
    for name, values in zip(names, op.parts, strict=True):
        if values is not None:
            _compute(layer, name, values)
    return layer


def _compute(layer: nn.Module, name: str, values: npt.NDArray[Any]) -> None:
    """Let a layer compute a parameter that no float holds from floats that it has."""
    try:
        (first, *more), bottom = expansion(values)
    except OverflowError as error:
        raise NetworkError(f"it cannot be written exactly: {error}") from None
    getattr(layer, name).data = _tensor(first)
    quotient = own.Quotient([_tensor(part) for part in more], [_tensor(part) for part in bottom])
    nn.utils.parametrize.register_parametrization(layer, name, quotient, unsafe=True)


@module_of.register
def _(op: Largest, shape: Shape, reads: Sequence[Shape]) -> nn.Module:
    pool = pool_of(op.members, reads[0])
    if pool is not None and len(pool.kernel) <= _MOST_AXES:
        padding = tuple(before for before, _ in pool.padding)
        even = Pool(pool.kernel, pool.stride, tuple((n, n) for n in padding), pool.dilation)
        fits = all(2 * n <= k for n, k in zip(padding, pool.kernel, strict=True))
        if fits and has_members(even, op.members, reads[0]):
            return _layer("MaxPool", len(padding))(pool.kernel, pool.stride, padding, pool.dilation)
    parts = by_count(op.members)
    return own.LargestOf([_whole(group) for group in parts.groups], _whole(parts.order))
