"""From an ONNX model to a Network: constants are computed by ONNX itself, the rest is translated node by
node.

The first axis of an input is its batch axis if it is symbolic, or of length one with other axes behind it.
Otherwise the whole tensor is one sample. Inside, a batch axis has length one; where a model with that fixed
length moves it about, it is treated like any other axis.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import helper, numpy_helper

from polyfold.errors import NetworkError, ShapeError, UnsupportedOpError, how_many
from polyfold.exact.tolerances import IMPORT_FLOAT16, IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.behind_head import refuse_reading_behind_head
from polyfold.network.builder import MIXES_THE_BATCH, WHERE_TO_LOOK, Builder, Value
from polyfold.network.choose import ONLY_TO_CHOOSE, Comparison
from polyfold.network.extras import installed
from polyfold.network.graph import Network
from polyfold.network.onnx_ops import (
    FLOAT_TYPES,
    ONNX_OPS,
    OnnxSite,
    batch_second,
    full_shape,
    in_head,
)
from polyfold.network.onnx_reference import reference
from polyfold.network.ops import Array, Shape, size
from polyfold.network.registry import Unreadable
from polyfold.network.unrounded_sums import remembered
from polyfold.network.verify import verify, verify_head

TOLERANCES = {onnx.TensorProto.DOUBLE: IMPORT_FLOAT64, onnx.TensorProto.FLOAT: IMPORT_FLOAT32}
# What ONNX's evaluator in Python raises for an operator that it cannot run.
REFERENCE_ERRORS = (
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    NotImplementedError,
    AssertionError,
)
RANDOM_OPS = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)


def from_onnx_file(path: str | os.PathLike[str], input_shapes: Sequence[Shape] | None) -> Network:
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
        return from_onnx(model, input_shapes)
    except NetworkError as error:
        raise type(error)(f"{name!r}: {error}") from error


def from_onnx(model: Any, input_shapes: Sequence[Shape] | None) -> Network:
    """The Network that an onnx.ModelProto computes."""
    if not model.graph.node or not model.graph.output:
        raise NetworkError("this is not a network: the ONNX graph has no nodes or no outputs")
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    model = batch_second(model)
    reader = _Reader(model, input_shapes)
    network = reader.read()
    original = reader.original(reader.taps)
    verify(network, original, tolerance=reader.tolerance)
    if network.head is not None:
        verify_head(network, original, reader.original(reader.ends), tolerance=reader.tolerance)
    return network


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

    def __init__(self, model: Any, input_shapes: Sequence[Shape] | None) -> None:
        self.model = model
        self.inputs = _inputs(model.graph, input_shapes)
        self.symbolic = any(item.symbolic for item in self.inputs)
        self.builder = Builder("onnx")
        # The tensors in front of the head and behind it, and which of their axes is the batch.
        self.taps: list[tuple[str, int]] = []
        self.ends: list[tuple[str, int]] = []
        self.opset = max((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), default=1)

    @property
    def tolerance(self) -> float:
        return max(TOLERANCES.get(item.type, IMPORT_FLOAT16) for item in self.inputs)

    def read(self) -> Network:
        """Translate every node that an output needs."""
        graph = self.model.graph
        known: dict[str, Any] = dict(_initializers(graph))
        for item in self.inputs:
            known[item.name] = self.builder.port(item.name, item.inner, batched=item.batched)
        for node in _needed(graph):
            inputs = [_lookup(known, name, node) for name in node.input]
            results = self._call(node, inputs)
            known.update((name, result) for name, result in zip(node.output, results, strict=False) if name)
        outputs = []
        for output in graph.output:
            value = known.get(output.name)
            if isinstance(value, Unreadable):
                value.refuse()
            if isinstance(value, Comparison):
                raise UnsupportedOpError(f"output {output.name!r} is a comparison, which jumps; {WHERE_TO_LOOK}")
            if not isinstance(value, Value):
                raise NetworkError(f"output {output.name!r} does not depend on the input")
            outputs.append(value)
            self.ends.append((output.name, value.batch_axis if value.batched else 0))
            scores = value.scores
            self.taps.append((scores.tap, scores.batch_axis if scores.batched else 0) if scores else self.ends[-1])
        return self.builder.finish(outputs)

    def _call(self, node: Any, inputs: list[Any]) -> Sequence[Any]:
        """The results of a node, in the order of its outputs."""
        values = [item.value if isinstance(item, Comparison) else item for item in inputs]
        values = [item for item in values if isinstance(item, Value)]
        site = OnnxSite(
            self.builder,
            _user_name(node),
            node.op_type,
            lambda arrays: self._run_node(node, arrays),
            self.opset,
            single=not self.symbolic,
        )
        standard = node.domain in ("", "ai.onnx")
        if not values and standard and node.op_type not in RANDOM_OPS and not _has_subgraph(node):
            return remembered(node.op_type, inputs, site.run(inputs))
        if values and node.op_type in {"Shape", "Size"}:
            return site.run([np.zeros(full_shape(values[0]))])
        reading = ONNX_OPS.get(node.op_type) if standard and values else None
        behind = in_head(site, node.input[0], reading, inputs, _attributes(node)) if values and standard else None
        if behind is not None:
            return [behind]
        refuse_reading_behind_head(site, values)
        if node.op_type in RANDOM_OPS:
            site.refuse("its result is random")
        if reading is None:
            site.refuse("it is not piecewise linear, or not supported yet")
        if not reading.chooses and any(isinstance(item, Comparison) for item in inputs):
            site.refuse(ONLY_TO_CHOOSE)
        if not reading.batch_anywhere and any(value.batched and value.batch_axis for value in values):
            site.refuse(MIXES_THE_BATCH)
        try:
            result = reading.handler(site, *inputs, **_attributes(node))
        except ShapeError as error:
            site.refuse(str(error))
        return result if isinstance(result, list) else [result]

    def _run_node(self, node: Any, arrays: Sequence[Any]) -> list[Any]:
        try:
            return _run_node(self.model, node, arrays)
        except REFERENCE_ERRORS as error:
            raise NetworkError(
                f"node {_user_name(node)!r} ({node.op_type}) cannot be computed by ONNX's own evaluator: {error}"
            ) from error

    def original(self, wanted: Sequence[tuple[str, int]]) -> Callable[[Array], Array]:
        """Some tensors by onnxruntime (or ONNX's slower reference), side by side."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        del model.graph.output[:]
        types = {item.name: item for item in (*self.model.graph.output, *self.model.graph.value_info)}
        for name in dict.fromkeys(name for name, _ in wanted):
            model.graph.output.append(types.get(name) or helper.make_empty_tensor_value_info(name))
        run = _session(model)

        def evaluate(points: Array) -> Array:
            step = len(points) if self.symbolic else 1
            batches = [self._feed(run, wanted, points[k : k + step]) for k in range(0, len(points), step)]
            return np.concatenate(batches)

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
            np.moveaxis(np.atleast_1d(np.asarray(results[name], dtype=np.float64)), axis, 0).reshape(len(points), -1)
            for name, axis in wanted
        ]
        return np.concatenate(columns, axis=1)


def _session(model: Any) -> Callable[[Any, Any], Any]:
    """A function (output names, feeds) -> arrays."""
    if not installed("onnxruntime"):
        return _by_reference(model)
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as errors

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except (errors.Fail, errors.NotImplemented):
        # It knows neither all operators nor the newest versions of them.
        return _by_reference(model)
    except (errors.InvalidGraph, errors.InvalidArgument) as error:
        raise NetworkError(f"onnxruntime refuses the model: {_without_places(error)}") from error

    def run(names: Any, feeds: Any) -> Any:
        try:
            return session.run(names, feeds)
        except (errors.Fail, errors.InvalidArgument, errors.NotImplemented, errors.RuntimeException) as error:
            raise NetworkError(f"onnxruntime cannot run the model: {_without_places(error)}") from error

    return run


def _by_reference(model: Any) -> Callable[[Any, Any], Any]:
    """The model by ONNX's own evaluator in Python."""
    try:
        evaluator = reference(model)
    except REFERENCE_ERRORS as error:
        raise NetworkError(f"neither onnxruntime nor ONNX's own evaluator knows this model: {error}") from error

    def run(names: Any, feeds: Any) -> Any:
        try:
            return evaluator.run(names, feeds)
        except REFERENCE_ERRORS as error:
            raise NetworkError(f"ONNX's own evaluator cannot run the model: {error}") from error

    return run


def _without_places(error: Exception) -> str:
    """The first line of onnxruntime's message, without where in its sources it was written."""
    return re.sub(r"\S*onnxruntime_src\S* ", "", str(error).splitlines()[0])


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


def _initializers(graph: Any) -> Iterable[tuple[str, Any]]:
    for item in graph.initializer:
        try:
            yield item.name, numpy_helper.to_array(item)
        except (ValueError, TypeError) as error:
            raise NetworkError(f"constant {item.name!r} cannot be read: {error}") from error


def _needed(graph: Any) -> list[Any]:
    """The nodes that an output depends on, in order."""
    needed = {output.name for output in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    return kept[::-1]


def _lookup(known: dict[str, Any], name: str, node: Any) -> Any:
    if not name:
        return None
    if name not in known:
        raise NetworkError(f"node {_user_name(node)!r} ({node.op_type}) reads {name!r}, which nothing computes")
    if isinstance(known[name], Unreadable):
        known[name].refuse()
    return known[name]


def _user_name(node: Any) -> str:
    return str(node.name or next(name for name in node.output if name))


def _attributes(node: Any) -> dict[str, Any]:
    return {item.name: helper.get_attribute_value(item) for item in node.attribute}


def _has_subgraph(node: Any) -> bool:
    return any(item.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for item in node.attribute)


def _run_node(model: Any, node: Any, arrays: Sequence[Any]) -> list[Any]:
    """A single node by ONNX's reference implementation, in the model's own operator versions."""
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
