"""From an ONNX model to a Network: constants are computed, without rounding where that is known, the rest is
translated node by node.

The first axis of an input is its batch axis if it is symbolic, or of length one with other axes behind it.
Otherwise the whole tensor is one sample. Inside, a batch axis has length one; where a model with that fixed
length moves it about, it is treated like any other axis.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import helper, numpy_helper

from polyfold._base.types import Array
from polyfold.errors import NetworkError, ShapeError, UnsupportedOpError, how_many
from polyfold.exact.tolerances import IMPORT_FLOAT16, IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.graph import Network
from polyfold.network.ops.op import Shape, size
from polyfold.network.read.behind_head import refuse_reading_behind_head
from polyfold.network.read.builder import WHERE_TO_LOOK, Builder, Constant, Value
from polyfold.network.read.check import verify, verify_head
from polyfold.network.read.compose.choose import Comparison
from polyfold.network.read.folding.arithmetic import InexactError
from polyfold.network.read.folding.folded import CONSTANTS_CANCEL, Folded, loses_digits, rounds_by_itself, runtime_of
from polyfold.network.read.folding.onnx_constants import computed
from polyfold.network.read.onnx_ops import (
    FLOAT_TYPES,
    ONNX_OPS,
    OnnxSite,
    batch_second,
    full_shape,
    in_head,
)
from polyfold.network.read.onnx_preparation import named, needed, opset, prepared, user_name
from polyfold.network.read.onnx_session import REFERENCE_ERRORS, CannotRunError, session
from polyfold.network.read.registry import Reading, Unreadable, values_in

TOLERANCES = {onnx.TensorProto.DOUBLE: IMPORT_FLOAT64, onnx.TensorProto.FLOAT: IMPORT_FLOAT32}
RANDOM_OPS = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)


def from_onnx_file(
    path: str | os.PathLike[str], input_shapes: Sequence[Shape] | None, *, until: str | None = None
) -> Network:
    """The Network in an .onnx file."""
    name = os.fspath(path)
    try:
        if os.path.getsize(name) == 0:
            raise NetworkError(f"{name!r} is empty")
        model = onnx.load(name)
    except (DecodeError, onnx.checker.ValidationError, ValueError) as error:
        raise NetworkError(f"{name!r} is not a readable ONNX file: {error}") from error
    except OSError as error:
        raise NetworkError(f"{name!r} cannot be read: {error.strerror or error}") from error
    try:
        return from_onnx(model, input_shapes, until=until)
    except NetworkError as error:
        raise type(error)(f"{name!r}: {error}") from error


def from_onnx(model: Any, input_shapes: Sequence[Shape] | None, *, until: str | None = None) -> Network:
    """The Network that an onnx.ModelProto computes, or the part of it in front of the node `until`."""
    if not model.graph.output or not (model.graph.node or model.graph.initializer):
        raise NetworkError("this is not a network: the ONNX graph has no nodes or no outputs")
    model, notes = prepared(model)
    model = batch_second(model)
    reader = _Reader(model, input_shapes, until, notes)
    try:
        network = reader.read()
    except UnsupportedOpError as refused:
        if not reader.symbolic:
            raise
        return _one_sample(model, input_shapes, until, notes, refused)
    return reader.verified(network)


def _one_sample(
    model: Any, input_shapes: Sequence[Shape] | None, until: str | None, notes: Sequence[str], refused: NetworkError
) -> Network:
    """The model with a batch axis that it merges with others, as in reshape(-1, C): what it does to a single sample.

    What was refused before stays refused if the model does something else to several samples at once.
    """
    reader = _Reader(model, input_shapes, until, notes, single=True)
    try:
        return reader.verified(reader.read())
    except NetworkError:
        raise refused from None


@dataclass(frozen=True)
class _Input:
    """An input of the ONNX graph: its shape with a batch axis of length one, if it has a batch axis."""

    name: str
    shape: Shape
    batched: bool
    symbolic: bool
    type: int

    @property
    def inner(self) -> Shape:
        return self.shape[1:] if self.batched else self.shape


class _Reader:
    """One walk over the graph, and the original to compare with."""

    def __init__(
        self,
        model: Any,
        input_shapes: Sequence[Shape] | None,
        until: str | None,
        notes: Sequence[str],
        *,
        single: bool = False,
    ) -> None:
        self.model = model
        self.inputs = _inputs(model.graph, input_shapes)
        self.symbolic = any(item.symbolic for item in self.inputs)
        self.single = single or not self.symbolic
        self.until = None if until is None else named(model.graph, until)
        self.builder = Builder("onnx", notes)
        self.types = {item.type for item in self.inputs}
        # The tensors in front of the head and behind it, and which of their axes is the batch.
        self.taps: list[tuple[str, int]] = []
        self.ends: list[tuple[str, int]] = []
        self.constant_sizes: dict[str, int] = {}
        # Constants that are something else than what the runtime makes of them.
        self.folded: dict[str, Folded] = {}
        self.opset = opset(model)

    @property
    def tolerance(self) -> float:
        """How coarse the file's arithmetic is, where it is coarsest: in its inputs or behind a cast."""
        return max(TOLERANCES.get(kind, IMPORT_FLOAT16) for kind in self.types)

    def read(self) -> Network:
        """Translate every node that an output needs."""
        graph = self.model.graph
        known: dict[str, Any] = dict(_initializers(graph))
        for item in self.inputs:
            known[item.name] = self.builder.port(item.name, item.inner, batched=item.batched)
        for node in needed(graph, self._wanted()):
            inputs = [_lookup(known, name, node) for name in node.input]
            results = self._call(node, inputs)
            named_results = {name: result for name, result in zip(node.output, results, strict=False) if name}
            known |= named_results
            self.folded |= {name: result for name, result in named_results.items() if isinstance(result, Folded)}
        outputs = []
        for name in self._wanted():
            value = known.get(name)
            if self.until is not None and not isinstance(value, Value):
                continue
            if isinstance(value, Unreadable):
                value.refuse()
            if isinstance(value, Comparison):
                raise UnsupportedOpError(f"output {name!r} is a comparison, which jumps; {WHERE_TO_LOOK}")
            if not isinstance(value, Value):
                numbers = _numbers(name, value)
                value = self.builder.constant(name, numbers)
                self.constant_sizes[name] = numbers.size
            outputs.append(value)
            self.ends.append((name, value.batch_axis if value.batched else 0))
            scores = value.scores
            self.taps.append((scores.tap, scores.batch_axis if scores.batched else 0) if scores else self.ends[-1])
        if self.until is not None and not outputs:
            raise NetworkError(f"until={user_name(self.until)!r}: it reads nothing that depends on the input")
        return self.builder.finish(outputs)

    def _wanted(self) -> list[str]:
        """The values that are wanted: the outputs, or what the first node reads that is not wanted any more."""
        if self.until is None:
            return [output.name for output in self.model.graph.output]
        return list(dict.fromkeys(name for name in self.until.input if name))

    def _call(self, node: Any, inputs: list[Any]) -> Sequence[Any]:
        """The results of a node, in the order of its outputs."""
        values = list(values_in(inputs))
        site = OnnxSite(
            self.builder,
            user_name(node),
            node.op_type,
            lambda arrays: self._run_node(node, arrays),
            self.opset,
            single=self.single,
        )
        standard = node.domain in ("", "ai.onnx")
        attributes = _attributes(node)
        if not values and standard and node.op_type not in RANDOM_OPS and not _has_subgraph(node):
            return self._computed(node, inputs, site)
        if values and node.op_type in {"Shape", "Size"}:
            return site.run([np.zeros(full_shape(values[0]))])
        reading = ONNX_OPS.get(node.op_type) if standard and values else None
        behind = in_head(site, node.input[0], reading, inputs, attributes) if values and standard else None
        if behind is not None:
            return [behind]
        refuse_reading_behind_head(site, values)
        if node.op_type in RANDOM_OPS:
            site.refuse("its result is random")
        if reading is None:
            site.refuse("it is not piecewise linear, or not supported yet")
        reading.check(site, inputs)
        if node.op_type == "Cast":
            self._casts(site, attributes["to"])
        if node.op_type == "CastLike" and not isinstance(inputs[1], Value):
            self._casts(site, _kind(inputs[1]))
        inputs = [_readable(site, reading, item) for item in inputs]
        try:
            result = reading.handler(site, *inputs, **attributes)
        except ShapeError as error:
            site.refuse(str(error))
        except InexactError as error:
            site.refuse(f"its constants cannot be put together without rounding: {error}")
        return result if isinstance(result, list) else [result]

    def _casts(self, site: OnnxSite, to: int) -> None:
        """A type that values pass: one that cannot hold what comes in rounds, and that is said."""
        self.types.add(to)
        if any(loses_digits(_type_name(port.type), _type_name(to)) for port in self.inputs):
            site.builder.note(rounds_by_itself(site.name, site.op, _type_name(to)))

    def _computed(self, node: Any, inputs: list[Any], site: OnnxSite) -> Sequence[Any]:
        """The results of a node that reads constants only: as they are, or as its runtime rounds them, with a note."""
        results = site.run([runtime_of(item) for item in inputs])
        try:
            found = computed(node.op_type, _attributes(node), inputs, results, site.run)
        except InexactError as error:
            site.builder.rounded(site.name, site.op, str(error))
            return results
        # What is exact is compared with what its runtime has rounded.
        self.types |= {_kind(item) for item in found if isinstance(item, Folded)}
        return found

    def _run_node(self, node: Any, arrays: Sequence[Any]) -> list[Any]:
        try:
            return _run_node(self.model, node, arrays)
        except REFERENCE_ERRORS as error:
            raise NetworkError(
                f"node {user_name(node)!r} ({node.op_type}) cannot be computed by ONNX's own evaluator: {error}"
            ) from error

    def verified(self, network: Network) -> Network:
        """The network, if it and its head are the original's; with a note, if only constants keep it from that."""
        try:
            self._verify(network, {})
        except NetworkError:
            if not self.folded:
                raise
            self._verify(network, self.folded)
            return replace(network, notes=(*network.notes, CONSTANTS_CANCEL))
        return network

    def _verify(self, network: Network, constants: Mapping[str, Folded]) -> None:
        original = self.original(self.taps, constants)
        verify(network, original, tolerance=self.tolerance)
        if network.head is not None:
            verify_head(network, original, self.original(self.ends, constants), tolerance=self.tolerance)

    def original(self, wanted: Sequence[tuple[str, int]], constants: Mapping[str, Folded]) -> Callable[[Array], Array]:
        """Some tensors by onnxruntime (or ONNX's slower reference), side by side, with some constants given."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        # What is behind them may be anything.
        names = list(dict.fromkeys(name for name, _ in wanted))
        nodes = [node for node in needed(model.graph, names) if not set(node.output) <= constants.keys()]
        for name, folded in constants.items():
            numbers = folded.floats.astype(folded.runtime.dtype)
            model.graph.initializer.append(numpy_helper.from_array(numbers, name))
        types = {item.name: item for item in (*self.model.graph.output, *self.model.graph.value_info)}
        del model.graph.node[:]
        model.graph.node.extend(nodes)
        del model.graph.output[:]
        for name in names:
            model.graph.output.append(types.get(name) or helper.make_empty_tensor_value_info(name))
        run = session(model)

        def evaluate(points: Array) -> Array:
            if self.symbolic:
                try:
                    return self._feed(run, wanted, points)
                except CannotRunError:
                    # A reshape may fix the batch, although the file leaves it open.
                    pass
            return np.concatenate([self._feed(run, wanted, point[None]) for point in points])

        return evaluate

    def _feed(self, run: Callable[[Any, Any], Any], wanted: Sequence[tuple[str, int]], points: Array) -> Array:
        feeds, start = {}, 0
        for item in self.inputs:
            stop = start + size(item.inner)
            lead = (len(points),) if item.symbolic else item.shape[: item.batched]
            numbers = points[:, start:stop].reshape((*lead, *item.inner))
            feeds[item.name] = numbers.astype(helper.tensor_dtype_to_np_dtype(item.type))
            start = stop
        names = list(dict.fromkeys(name for name, _ in wanted))
        results = dict(zip(names, run(names, feeds), strict=True))
        columns = [
            self._rows(name, np.atleast_1d(np.asarray(results[name], dtype=np.float64)), axis, len(points))
            for name, axis in wanted
        ]
        return np.concatenate(columns, axis=1)

    def _rows(self, tap: str, values: Array, batch_axis: int, count: int) -> Array:
        """One row for each sample; a constant may have no batch axis at all."""
        if self.constant_sizes.get(tap) == values.size:
            return np.tile(values.reshape(1, -1), (count, 1))
        if values.size % count:
            raise NetworkError(f"output {tap!r} has shape {values.shape} for {how_many(count, 'sample')}")
        return np.moveaxis(values, batch_axis, 0).reshape(count, -1)


def _inputs(graph: Any, input_shapes: Sequence[Shape] | None) -> list[_Input]:
    constants = {item.name for item in graph.initializer} | {item.values.name for item in graph.sparse_initializer}
    given = [item for item in graph.input if item.name not in constants]
    if input_shapes is not None and len(input_shapes) != len(given):
        raise NetworkError(
            f"input_shape has {how_many(len(input_shapes), 'shape')}, but the model has {how_many(len(given), 'input')}"
        )
    return [_input(item, None if input_shapes is None else input_shapes[k]) for k, item in enumerate(given)]


def _input(item: Any, wanted: Shape | None) -> _Input:
    tensor = item.type.tensor_type
    if tensor.elem_type not in FLOAT_TYPES:
        kind = onnx.TensorProto.DataType.Name(tensor.elem_type)
        raise NetworkError(f"input {item.name!r} holds {kind}, not real numbers")
    lengths = [dim.dim_value for dim in tensor.shape.dim]  # zero where the length is open
    declared = "[" + ", ".join(str(dim.dim_value or dim.dim_param or "?") for dim in tensor.shape.dim) + "]"
    symbolic = bool(lengths) and lengths[0] <= 0
    batched = len(lengths) > 1 and (symbolic or lengths[0] == 1)
    inner = lengths[1:] if batched else lengths
    if wanted is not None:
        fits = len(wanted) == len(inner) and all(n <= 0 or n == w for n, w in zip(inner, wanted, strict=True))
        if tensor.HasField("shape") and not fits:
            raise NetworkError(f"input_shape {wanted} does not fit input {item.name!r}, declared as {declared}")
        if not tensor.HasField("shape"):
            batched = symbolic = True
        inner = list(wanted)
    elif not tensor.HasField("shape") or min(inner, default=1) <= 0:
        raise NetworkError(
            f"input {item.name!r} is declared as {declared}, which leaves its shape open: "
            "pass input_shape=(...), without the batch axis"
        )
    shape = tuple([1] * batched + list(inner))
    return _Input(item.name, shape, batched, batched and symbolic, tensor.elem_type)


def _numbers(name: str, value: Any) -> Constant:
    """An output that is constant."""
    if value is None:
        raise NetworkError(f"output {name!r} is computed by no node")
    if isinstance(value, Folded):
        return value.exact
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise NetworkError(f"output {name!r} is constant and holds {array.dtype}, not real numbers")
    return np.asarray(array, dtype=np.float64)


def _initializers(graph: Any) -> Iterable[tuple[str, Any]]:
    for item in graph.initializer:
        try:
            yield item.name, numpy_helper.to_array(item)
        except (ValueError, TypeError) as error:
            raise NetworkError(f"constant {item.name!r} cannot be read: {error}") from error


def _lookup(known: dict[str, Any], name: str, node: Any) -> Any:
    if not name:
        return None
    if name not in known:
        raise NetworkError(f"node {user_name(node)!r} ({node.op_type}) reads {name!r}, which nothing computes")
    if isinstance(known[name], Unreadable):
        known[name].refuse()
    return known[name]


def _readable(site: OnnxSite, reading: Reading, item: Any) -> Any:
    """A constant as an operator can read it: numbers that floats cannot hold are rounded for some, with a note."""
    if not isinstance(item, Folded) or reading.exact:
        return item
    if item.is_rounded:
        site.builder.rounded(site.name, site.op, "it reads numbers that are no floats")
    return item.floats


def _type_name(kind: int) -> str:
    return str(helper.tensor_dtype_to_np_dtype(kind).name)


def _kind(constant: Any) -> int:
    """ONNX's number for the type of a constant."""
    return int(helper.np_dtype_to_tensor_dtype(np.asarray(runtime_of(constant)).dtype))


def _attributes(node: Any) -> dict[str, Any]:
    return {item.name: helper.get_attribute_value(item) for item in node.attribute}


def _has_subgraph(node: Any) -> bool:
    return any(item.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for item in node.attribute)


def _run_node(model: Any, node: Any, arrays: Sequence[Any]) -> list[Any]:
    """A single node by ONNX's reference implementation, in the model's own operator versions."""
    from polyfold.network.read.onnx_reference import reference

    feeds = {name: array for name, array in zip(node.input, arrays, strict=False) if name and array is not None}
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    names = [name for name in node.output if name]
    outputs = [helper.make_empty_tensor_value_info(name) for name in names]
    graph = helper.make_graph([node], "single", inputs, outputs)
    single = helper.make_model(graph, opset_imports=model.opset_import)
    results = dict(zip(names, reference(single).run(None, feeds), strict=True))
    return [results.get(name) for name in node.output]
