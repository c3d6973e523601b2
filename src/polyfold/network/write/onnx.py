"""From a Network to an ONNX model: every node becomes an operator, or a few of which the last has the node's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper

from polyfold._base.files import atomically
from polyfold._base.types import Array
from polyfold.errors import NetworkError
from polyfold.exact.expansion import expansion
from polyfold.exact.reals import are_reals, nearest_floats
from polyfold.network.graph import Network
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Add, Linear, Normalise, Scale, Shift, Subtract
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import Op, Shape, size
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.network.ops.switches import Clamp, Largest, Maximum, Minimum, Rectify
from polyfold.network.ops.unrounded import Unrounded
from polyfold.network.read.compose.pools import by_count, pool_of
from polyfold.network.read.windows import Pool
from polyfold.network.write.head_to_onnx import write_head
from polyfold.network.write.onnx_graph import OnnxGraph
from polyfold.network.write.rounding import rounded

ROWS = "rows"
# A message of protocol buffers, which an ONNX file is, ends here.
MOST_BYTES = 2**31 - 1
# A matrix of combinations with more zeros than this for every other number is written by its nonzero entries.
MOSTLY_ZEROS = 4


def to_onnx(network: Network, dtype: Any) -> onnx.ModelProto:
    """The model, checked by ONNX; `dtype` is float64 or float32."""
    kind = np.dtype(dtype)
    _check(network, kind)
    graph = OnnxGraph(network.shapes)
    for node in network.nodes:
        reads = [_Tensor(name, network.shapes[name]) for name in node.inputs]
        write_node(node.op, _NodeWriter(graph, node.name, kind, network.shapes[node.name]), reads)
    seen = {port.name for port in network.inputs}
    outputs = []
    for number, name in enumerate(network.outputs):
        head = None if network.head is None else network.head.outputs[number]
        if head is not None and head.ops:
            outputs.append(write_head(graph, head, name, network.shapes[name], kind))
            continue
        # A tensor is an output once, and an input is none.
        tensor = graph.add("Identity", [name], graph.free(name)) if name in seen else name
        outputs.append((tensor, network.shapes[name], kind))
        seen.add(name)
    return graph.model(
        "network",
        [_described(port.name, port.shape, kind) for port in network.inputs],
        [_described(*output) for output in outputs],
        note="\n".join(network.notes),
    )


def save_onnx(network: Network, path: str | PathLike[str], dtype: Any) -> None:
    """Write the model to a file, whole or not at all."""
    model = to_onnx(network, dtype)
    with atomically(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def _check(network: Network, kind: np.dtype[Any]) -> None:
    if kind not in (np.float64, np.float32):
        raise NetworkError(f"an ONNX model is written in float64 or float32, not in {kind}")
    for name, shape in network.shapes.items():
        if not name:
            raise NetworkError("a node or an input has the empty name, by which ONNX means that there is nothing")
        if 0 in shape:
            raise NetworkError(f"{name!r} is a value of shape {shape}, without a number in it: ONNX cannot reshape it")
    numbers = sum(values.size for node in network.nodes for values in node.op.constants)
    if numbers * kind.itemsize > MOST_BYTES:
        raise NetworkError(
            f"the network has {numbers:,} weights, {numbers * kind.itemsize:,} bytes in {kind}; "
            f"an ONNX model holds {MOST_BYTES:,} at most"
        )


def _described(name: str, shape: Shape, kind: np.dtype[Any]) -> Any:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kind), [ROWS, *shape])


@dataclass(frozen=True)
class _Tensor:
    """A computed tensor and its shape without the rows."""

    name: str
    shape: Shape


@dataclass(frozen=True)
class _NodeWriter:
    """Writes the operators of one node: its name, and the shape that it computes."""

    graph: OnnxGraph
    name: str
    kind: np.dtype[Any]
    shape: Shape

    def numbers(self, part: str, values: npt.NDArray[Any] | float) -> str:
        """A constant of the network, in the model's own type; the model computes what is no float from floats."""
        if not isinstance(values, np.ndarray) or not are_reals(values):
            return self.graph.constant(f"{self.name}.{part}", rounded(self.name, values, self.kind))
        if self.kind != np.float64:
            return self.numbers(part, nearest_floats(values))
        try:
            top, bottom = expansion(values)
        except OverflowError as error:
            raise NetworkError(f"node {self.name!r} cannot be written exactly: {error}") from None
        total = self._sum(f"{part}.top", top)
        return self.step(part, "Div", total, self._sum(f"{part}.bottom", bottom)) if bottom else total

    def _sum(self, part: str, terms: Sequence[Array]) -> str:
        first, *rest = (self.graph.constant(f"{self.name}.{part}", term) for term in terms)
        for term in rest:
            first = self.step(f"{part}.sum", "Add", first, term)
        return first

    def whole(self, part: str, values: Sequence[int] | npt.NDArray[np.int64]) -> str:
        """A constant of whole numbers: a shape or indices."""
        return self.graph.constant(f"{self.name}.{part}", np.asarray(values, dtype=np.int64))

    def last(self, op: str, *inputs: str, **attributes: Any) -> None:
        """The operator that computes the node's value."""
        self.graph.add(op, inputs, self.name, **attributes)

    def step(self, part: str, op: str, *inputs: str, **attributes: Any) -> str:
        """An operator on the way there."""
        return self.graph.add(op, inputs, self.graph.free(f"{self.name}.{part}"), **attributes)

    def reshaped(self, x: _Tensor, shape: Shape, part: str) -> str:
        """The same numbers under another shape."""
        if x.shape == shape:
            return x.name
        return self.step(part, "Reshape", x.name, self.whole(f"{part}_shape", [0, *shape]))

    def flat(self, x: _Tensor) -> str:
        """All numbers of a row in a line."""
        return self.reshaped(x, (size(x.shape),), "flat")

    def aligned(self, x: _Tensor, axes: int) -> str:
        """The tensor with so many axes behind the rows, so that shorter shapes do not broadcast along these."""
        return self.reshaped(x, (1,) * (axes - len(x.shape)) + x.shape, "aligned")


@singledispatch
def write_node(op: Op, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    """Write the operators of a node."""
    raise AssertionError(f"{type(op).__name__} is not written to ONNX")


@write_node.register
def _(op: Linear, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    if len(writer.shape) == 1:
        weight, bias = writer.numbers("weight", op.weight), writer.numbers("bias", op.bias)
        writer.last("Gemm", reads[0].name, weight, bias, transB=1)
        return
    # Gemm takes rows of numbers only.
    weight = writer.numbers("weight", op.weight.T)
    if op.bias.any():
        product = writer.step("product", "MatMul", reads[0].name, weight)
        writer.last("Add", product, writer.numbers("bias", op.bias))
    else:
        writer.last("MatMul", reads[0].name, weight)


@write_node.register
def _(op: Scale, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    x = writer.aligned(reads[0], max(numbers.ndim for numbers in op.constants))
    if op.divisor is None:
        writer.last("Mul", x, writer.numbers("factor", op.factor))
        return
    if (op.factor != 1).any():
        x = writer.step("multiplied", "Mul", x, writer.numbers("factor", op.factor))
    writer.last("Div", x, writer.numbers("divisor", op.divisor))


@write_node.register
def _(op: Normalise, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    numbers = [writer.numbers(name, getattr(op, name)) for name in ("gamma", "beta", "mean", "variance")]
    epsilon = op.epsilon
    if float(np.float32(epsilon)) != epsilon:
        # The attribute is a float32: another number is added in the model itself.
        numbers[-1] = writer.step("positive", "Add", numbers[-1], writer.numbers("epsilon", epsilon))
        epsilon = 0.0
    writer.last("BatchNormalization", reads[0].name, *numbers, epsilon=epsilon)


@write_node.register
def _(op: Shift, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    writer.last("Add", writer.aligned(reads[0], op.offset.ndim), writer.numbers("offset", op.offset))


@write_node.register
def _(op: Unrounded, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    write_node(op.exactly, writer, reads)


@write_node.register
def _(op: Reshape, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    writer.last("Reshape", reads[0].name, writer.whole("shape", [0, *op.shape]))


@write_node.register
def _(op: Take, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    writer.last("Gather", writer.flat(reads[0]), writer.whole("index", op.index), axis=1)


@write_node.register
def _(op: Concat, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    writer.last("Concat", *(x.name for x in reads), axis=op.axis + 1)


_PAIRWISE = {Add: "Add", Subtract: "Sub", Maximum: "Max", Minimum: "Min"}


@write_node.register(Add)
@write_node.register(Subtract)
@write_node.register(Maximum)
@write_node.register(Minimum)
def _(op: Op, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    writer.last(_PAIRWISE[type(op)], *(writer.aligned(x, len(writer.shape)) for x in reads))


@write_node.register
def _(op: Rectify, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    x = reads[0].name
    passes = bool((op.slope_on == 1).all())
    if passes and (op.slope_off == 0).all():
        writer.last("Relu", x)
    elif passes and (op.slope_off == -1).all():
        writer.last("Abs", x)
    elif passes:
        # LeakyRelu would keep its slope as a float32.
        writer.last("PRelu", x, writer.numbers("slope", op.slope_off))
    else:
        positive = writer.step("positive", "Greater", x, writer.numbers("zero", 0.0))
        on = writer.step("on", "Mul", x, writer.numbers("slope_on", op.slope_on))
        off = writer.step("off", "Mul", x, writer.numbers("slope_off", op.slope_off))
        writer.last("Where", positive, on, off)


@write_node.register
def _(op: Clamp, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    x = reads[0].name
    low = writer.numbers("low", op.low) if op.low > -np.inf else ""
    high = writer.numbers("high", op.high) if op.high < np.inf else ""
    if op.flat_at_bounds and op.low < op.high and (low or high):
        # Of equal operands the first counts, here the bound: Clip would give back a clamp that slopes there.
        if low and high:
            writer.last("Min", high, writer.step("above_low", "Max", low, x))
        else:
            writer.last(*(("Max", low, x) if low else ("Min", high, x)))
        return
    writer.last("Clip", x, low, *([high] if high else []))


@write_node.register
def _(op: Convolution, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    kernel, bias = writer.numbers("weight", op.kernel), writer.numbers("bias", op.bias)
    writer.last("Conv", reads[0].name, kernel, bias, **_window(op.kernel.shape[2:], op.window), group=op.window.groups)


@write_node.register
def _(op: TransposedConvolution, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    kernel, bias = writer.numbers("weight", op.kernel), writer.numbers("bias", op.bias)
    beyond = [
        space + sum(padding) - (stride * (n - 1) + dilation * (k - 1) + 1)
        for space, padding, stride, n, dilation, k in zip(
            op.space,
            op.window.padding,
            op.window.stride,
            reads[0].shape[1:],
            op.window.dilation,
            op.kernel.shape[2:],
            strict=True,
        )
    ]
    # Padding that goes beyond itself again is not there.
    less = [min(after, more) for (_, after), more in zip(op.window.padding, beyond, strict=True)]
    padding = [(before, after - cut) for (before, after), cut in zip(op.window.padding, less, strict=True)]
    how = _window(op.kernel.shape[2:], replace(op.window, padding=tuple(padding)))
    how["output_padding"] = [extra - cut for extra, cut in zip(beyond, less, strict=True)]
    writer.last("ConvTranspose", reads[0].name, kernel, bias, **how, group=op.window.groups)


def _window(kernel: Sequence[int], window: Window | Pool) -> dict[str, Any]:
    return {
        "kernel_shape": list(kernel),
        "strides": list(window.stride),
        "pads": [before for before, _ in window.padding] + [after for _, after in window.padding],
        "dilations": list(window.dilation),
    }


@write_node.register
def _(op: Combine, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    flat = writer.flat(reads[0])
    matrix = op.matrix.copy()
    matrix.sum_duplicates()
    most = max(1, int(np.diff(matrix.indptr).max()))
    if most * MOSTLY_ZEROS >= matrix.shape[1]:
        result = writer.step("product", "MatMul", flat, writer.numbers("weight", matrix.T.toarray()))
    else:
        index, weight = _padded_rows(matrix, most)
        terms = writer.step("terms", "Gather", flat, writer.whole("index", index), axis=1)
        weighted = writer.step("weighted", "Mul", terms, writer.numbers("weight", weight))
        result = writer.step("sum", "ReduceSum", weighted, writer.whole("last", [2]), keepdims=0)
    if op.divisor is not None:
        result = writer.step("divided", "Div", result, writer.numbers("divisor", op.divisor))
    writer.last("Reshape", result, writer.whole("shape", [0, *op.shape]))


def _padded_rows(matrix: Any, most: int) -> tuple[npt.NDArray[np.int64], Array]:
    """The columns and values of a sparse matrix's entries, (rows, most); what is missing is zero times entry 0."""
    counts = np.diff(matrix.indptr)
    row = np.repeat(np.arange(len(counts)), counts)
    slot = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], counts)
    index = np.zeros((len(counts), most), dtype=np.int64)
    weight = np.zeros((len(counts), most))
    index[row, slot], weight[row, slot] = matrix.indices, matrix.data
    return index, weight


@write_node.register
def _(op: Largest, writer: _NodeWriter, reads: Sequence[_Tensor]) -> None:
    pool = pool_of(op.members, reads[0].shape)
    # Longer padding, behind windows with gaps, is refused by onnxruntime.
    if pool is not None and all(max(sides) < k for sides, k in zip(pool.padding, pool.kernel, strict=True)):
        writer.last("MaxPool", reads[0].name, **_window(pool.kernel, pool))
        return
    flat, parts = writer.flat(reads[0]), by_count(op.members)
    if len(parts.groups) == 1:
        members = writer.step("members", "Gather", flat, writer.whole("index", parts.groups[0][parts.order]), axis=1)
        writer.last("ReduceMax", members, axes=[1 + len(writer.shape)], keepdims=0)
        return
    maxima = []
    for group in parts.groups:
        members = writer.step("members", "Gather", flat, writer.whole("index", group), axis=1)
        maxima.append(writer.step("largest", "ReduceMax", members, axes=[2], keepdims=0))
    together = writer.step("together", "Concat", *maxima, axis=1)
    writer.last("Gather", together, writer.whole("order", parts.order), axis=1)
