"""From a torch module to a Network, by torch.export: we read what it computes, not what it is made of.

The module is copied, put in evaluation mode and traced in float64 with a batch of a few samples. The traced
graph is made functional (no op writes into another one's value), so in-place, nested and reused activations
need no special care.
"""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import logging
import operator
import os
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch

from polyfold.errors import NetworkError, ShapeError, UnsupportedOpError
from polyfold.exact.tolerances import IMPORT_FLOAT16, IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.behind_head import refuse_reading_behind_head
from polyfold.network.builder import MIXES_THE_BATCH, WHERE_TO_LOOK, Builder, Value
from polyfold.network.choose import ONLY_TO_CHOOSE, Comparison
from polyfold.network.graph import Network
from polyfold.network.ops import Array, Shape, size
from polyfold.network.registry import Unreadable
from polyfold.network.torch_archive import check_torch_archive, plain_tensors_only
from polyfold.network.torch_ops import TORCH_OPS, TorchSite, in_head, parts, rewrite, values_in
from polyfold.network.verify import sample_points, verify, verify_head

# Samples in the traced batch: a prime that is unlikely to be the length of another axis.
BATCH = 7
# Samples in a second run of the module, which must not notice the difference.
OTHER_BATCH = 3

# What a user's forward() and torch.export raise for an input of the wrong shape or an untraceable program.
FORWARD_ERRORS = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError)

TOLERANCES = {torch.float64: IMPORT_FLOAT64, torch.float32: IMPORT_FLOAT32}


def from_torch(module: Any, input_shapes: Sequence[Shape] | None) -> Network:
    """The Network that a torch.nn.Module computes in evaluation mode; the module itself is not touched."""
    if isinstance(module, torch.jit.ScriptModule):
        raise NetworkError(
            f"{type(module).__name__} is a TorchScript module, which torch.export cannot read: "
            "pass the nn.Module that it was made from"
        )
    original = _evaluation_copy(module).double()
    shapes = list(input_shapes) if input_shapes is not None else [_infer_input_shape(module)]
    try:
        program = _trace(original, shapes, torch.float64)
    except NetworkError:
        # A forward pass that casts to float32 by itself does not run in float64.
        if all(p.dtype == torch.float64 for p in module.parameters()):
            raise
        original = _evaluation_copy(module)
        program = _trace(original, shapes, torch.float32)
    network, reader = _read(program)
    _check_other_batch(original, program, [axis for _, axis in reader.ends])
    return network


def from_pt2(path: str | os.PathLike[str]) -> Network:
    """The Network in a torch.export archive, which is never unpickled."""
    check_torch_archive(Path(path), os.fspath(path))
    try:
        with _torch_log_silenced(), plain_tensors_only():
            program = torch.export.load(os.fspath(path))
    except UnpicklingError:
        raise NetworkError(
            f"{os.fspath(path)!r} holds pickled objects, which are never read: save the network alone, with "
            "torch.export.save"
        ) from None
    except (RuntimeError, ValueError, OSError, KeyError, AssertionError, zipfile.BadZipFile) as error:
        raise NetworkError(
            f"{os.fspath(path)!r} is not a readable torch.export archive: "
            "it is damaged, or torch.export.save did not write it"
        ) from error
    return from_exported(program)


@contextmanager
def _torch_log_silenced() -> Iterator[None]:
    """Torch logs whole tracebacks and graphs before it raises; our error says what matters in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def from_exported(program: Any) -> Network:
    """The Network that an exported program computes, compared with the program at random points."""
    return _read(program)[0]


def _read(program: Any) -> tuple[Network, _Reader]:
    try:
        with warnings.catch_warnings(), _torch_log_silenced():
            warnings.simplefilter("ignore")
            program = rewrite(program).run_decompositions(parts(program))
    except FORWARD_ERRORS as error:
        raise NetworkError(
            f"torch.export cannot make the traced program functional: {_first_line(error)}; "
            "if the model holds sparse tensors, make them dense (to_dense()): polyfold keeps their zeros out by itself"
        ) from error
    reader = _Reader(program)
    network = reader.read()
    verify(network, reader.original, tolerance=reader.tolerance)
    verify_head(network, reader.original, reader.model_outputs, tolerance=reader.tolerance)
    return network, reader


def _infer_input_shape(module: Any) -> Shape:
    """The input's shape if the first layer with weights says it."""
    for part in module.modules():
        if isinstance(part, torch.nn.Linear):
            return (part.in_features,)
        if isinstance(part, torch.nn.BatchNorm1d):
            return (part.num_features,)
        has_weights = any(True for _ in part.parameters(recurse=False))
        if has_weights and not any(True for _ in part.children()):
            break
    raise NetworkError(
        f"the input shape of {type(module).__name__} cannot be told from its first layer: "
        "pass input_shape=(...), without the batch axis"
    )


def _evaluation_copy(module: Any) -> Any:
    name = type(module).__name__
    if any(isinstance(p, torch.nn.parameter.UninitializedParameter) for p in module.parameters()):
        raise NetworkError(f"{name} has lazy layers without weights: run it once on an example, then load it")
    try:
        return copy.deepcopy(module).cpu().eval().requires_grad_(False)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise NetworkError(f"{name} cannot be copied for reading: {error}") from error


def _trace(module: Any, shapes: Sequence[Shape], dtype: Any) -> Any:
    examples = tuple(torch.zeros(BATCH, *shape, dtype=dtype) for shape in shapes)
    with warnings.catch_warnings(), torch.no_grad(), _torch_log_silenced():
        warnings.simplefilter("ignore")
        try:
            # Its own error says more than that of torch.export, which overlooks mixed float types.
            module(*examples)
        except FORWARD_ERRORS as error:
            given = ", ".join(str((BATCH, *shape)) for shape in shapes)
            raise NetworkError(
                f"{type(module).__name__} does not run with an input of shape {given} ({BATCH} samples): "
                f"{_first_line(error)}; if that is not its input's shape, pass input_shape=(...), without the batch "
                "axis, or a list of shapes for several inputs"
            ) from error
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                return torch.export.export(module, examples)
        except FORWARD_ERRORS as error:
            raise NetworkError(
                f"{type(module).__name__} runs, but torch.export cannot trace it: {_untraceable(error)}"
            ) from error


def _untraceable(error: Exception) -> str:
    """Why torch.export gave up, and what to do."""
    text = str(error)
    if "data-dependent" in text:
        # The last line of the user's own code that torch quotes.
        lines = re.findall(r'File "([^"]+)", line (\d+), in', text.partition("The following call raised this error")[2])
        code = linecache.getline(lines[-1][0], int(lines[-1][1])).strip() if lines else ""
        where = f" at `{code}`" if code else ""
        return (
            f"what it does is decided{where} by numbers that it computed (an if, a while, or a Python number made of a "
            "tensor), so that it may jump; write it with torch.where, maximum, minimum or clamp"
        )
    return f"{_first_line(error)}; keep everything in forward() torch tensors, and {WHERE_TO_LOOK}"


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


def _check_other_batch(module: Any, program: Any, batch_axes: Sequence[int]) -> None:
    """The module itself, at another number of samples, against the trace."""
    examples = [
        torch.as_tensor(sample_points(size(shape), BATCH).reshape(BATCH, *shape), dtype=dtype)
        for shape, dtype in _input_types(program)
    ]
    with torch.no_grad():
        traced = program.module()(*examples)
        try:
            direct = module(*(example[:OTHER_BATCH] for example in examples))
        except FORWARD_ERRORS as error:
            raise NetworkError(
                f"{type(module).__name__} runs with {BATCH} samples but not with {OTHER_BATCH}: {error}; "
                "the first axis must be a batch of independent samples"
            ) from error
    leaves = zip(_tensors(traced), _tensors(direct), batch_axes, strict=True)
    pairs = [(a.narrow(axis, 0, OTHER_BATCH), b) for a, b, axis in leaves if a.is_floating_point()]
    for a, b in pairs:
        tolerance = TOLERANCES.get(b.dtype, IMPORT_FLOAT16) * (1.0 + float(b.abs().max()))
        if a.shape != b.shape or not torch.allclose(a, b, rtol=0.0, atol=tolerance):
            raise NetworkError(
                f"{type(module).__name__} gives other outputs for {OTHER_BATCH} samples than for the same "
                f"samples in a batch of {BATCH}: each row must be computed on its own (and without chance)"
            )


def _tensors(outputs: Any) -> list[Any]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]


def _input_types(program: Any) -> list[tuple[Shape, Any]]:
    """Shape without the batch axis and type of every input tensor."""
    placeholders = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    types = []
    for name in program.graph_signature.user_inputs:
        example = placeholders.get(name)
        if not isinstance(example, torch.Tensor) or example.dim() == 0 or not example.is_floating_point():
            raise NetworkError(f"input {name!r} is not a tensor of real numbers with a batch axis in front")
        if not all(isinstance(n, int) for n in example.shape[1:]):
            raise NetworkError(f"input {name!r} has the open shape {tuple(example.shape)}: only the batch may be")
        types.append((tuple(example.shape[1:]), example.dtype))
    return types


class _Reader:
    """One walk over a functional graph: constants are computed, the rest is translated node by node."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.types = _input_types(program)
        self.batch = self._batch_size()
        self.constants = _named_constants(program)
        self.builder = Builder("torch")
        # The tensors in front of the head and behind it, and which of their axes is the batch.
        self.taps: list[tuple[str, int]] = []
        self.ends: list[tuple[str, int]] = []
        self.lowest_type = torch.float64

    @property
    def tolerance(self) -> float:
        return TOLERANCES.get(self.lowest_type, IMPORT_FLOAT16)

    def _batch_size(self) -> int:
        names = set(self.program.graph_signature.user_inputs)
        sizes = [
            node.meta["val"].shape[0]
            for node in self.program.graph.nodes
            if node.op == "placeholder" and node.name in names
        ]
        if len(set(map(str, sizes))) != 1:
            raise NetworkError(f"the inputs must share one batch size in front, but have {sizes}")
        # An exported program may leave the batch size open: then any will do.
        return sizes[0] if isinstance(sizes[0], int) else BATCH

    def read(self) -> Network:
        """Translate the whole graph."""
        known: dict[Any, Any] = {}
        shapes = dict(zip(self.program.graph_signature.user_inputs, self.types, strict=True))
        for node in self._needed():
            if node.op == "placeholder":
                if node.name in shapes:
                    known[node] = self.builder.port(node.name, shapes[node.name][0])
                else:
                    known[node] = self.constants[node.name]
            elif node.op == "call_function":
                self._note_type(node)
                known[node] = self._call(node, known)
            else:
                raise UnsupportedOpError(f"node {node.name!r} ({node.op}) is not supported; {WHERE_TO_LOOK}")
        outputs = []
        for node in self._outputs():
            value = known[node]
            if isinstance(value, Comparison):
                raise UnsupportedOpError(f"output {node.name!r} is a comparison, which jumps; {WHERE_TO_LOOK}")
            if not isinstance(value, Value):
                raise NetworkError(f"output {node.name!r} does not depend on the input")
            outputs.append(value)
            self.ends.append((node.name, value.batch_axis))
            self.taps.append((value.scores.tap, value.scores.batch_axis) if value.scores else self.ends[-1])
        return self.builder.finish(outputs)

    def original(self, points: Array) -> Array:
        """The outputs by torch itself, in front of the head."""
        return self._by_torch(points, self.taps)

    def model_outputs(self, points: Array) -> Array:
        """The outputs by torch itself."""
        return self._by_torch(points, self.ends)

    def _by_torch(self, points: Array, wanted: Sequence[tuple[str, int]]) -> Array:
        # The program may run with whole batches only: the last one is filled up.
        filled = np.concatenate([points, np.repeat(points[-1:], -len(points) % self.batch, axis=0)])
        batches = [self._run(filled[start : start + self.batch], wanted) for start in range(0, len(filled), self.batch)]
        return np.concatenate(batches)[: len(points)]

    def _run(self, points: Array, wanted: Sequence[tuple[str, int]]) -> Array:
        names = {name for name, _ in wanted}
        inputs, start = {}, 0
        for name, (shape, dtype) in zip(self.program.graph_signature.user_inputs, self.types, strict=True):
            rows = points[:, start : start + size(shape)].reshape(len(points), *shape)
            inputs[name] = torch.as_tensor(rows, dtype=dtype)
            start += size(shape)
        known: dict[Any, Any] = {}
        found: dict[str, Any] = {}
        with torch.no_grad():
            for node, finished in self._needed_and_finished():
                if node.op == "placeholder":
                    known[node] = inputs[node.name] if node.name in inputs else self.constants[node.name]
                else:
                    args, kwargs = _resolve(node, known)
                    known[node] = node.target(*args, **kwargs)
                if node.name in names:
                    found[node.name] = known[node]
                for earlier in finished:
                    del known[earlier]
        columns = [found[name].double().movedim(axis, 0).reshape(len(points), -1).numpy() for name, axis in wanted]
        return np.concatenate(columns, axis=1)

    def _outputs(self) -> list[Any]:
        by_name = {node.name: node for node in self.program.graph.nodes}
        return [by_name[name] for name in self.program.graph_signature.user_outputs if name in by_name]

    def _needed(self) -> list[Any]:
        """The inputs, and the nodes that an output depends on, in order."""
        inputs = set(self.program.graph_signature.user_inputs)
        needed = set(self._outputs())
        kept = []
        for node in reversed(list(self.program.graph.nodes)):
            if node in needed or (node.op == "placeholder" and node.name in inputs):
                kept.append(node)
                needed.update(node.all_input_nodes)
        return kept[::-1]

    def _needed_and_finished(self) -> list[tuple[Any, list[Any]]]:
        """The needed nodes, each with those that nothing reads after it: large networks do not fit in memory whole."""
        nodes = self._needed()
        last = {}
        for node in nodes:
            last[node] = node
            last.update(dict.fromkeys(node.all_input_nodes, node))
        finished: dict[Any, list[Any]] = {}
        for node, reader in last.items():
            finished.setdefault(reader, []).append(node)
        return [(node, finished.get(node, [])) for node in nodes]

    def _note_type(self, node: Any) -> None:
        """Remember the coarsest arithmetic on the way: comparisons cannot be finer."""
        dtype = getattr(node.meta.get("val"), "dtype", None)
        if dtype is not None and dtype.is_floating_point and dtype.itemsize < self.lowest_type.itemsize:
            self.lowest_type = dtype

    def _call(self, node: Any, known: Mapping[Any, Any]) -> Any:
        args, kwargs = _resolve(node, known)
        values = list(values_in((args, kwargs)))
        random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        if node.target is operator.getitem or not (values or random):
            return _computed(node.target, args, kwargs)
        op, overload = _op_name(node.target)
        site = TorchSite(
            self.builder,
            _user_name(node),
            op,
            node.target,
            getattr(node.meta.get("val"), "dtype", None),
            batch=self.batch,
        )
        reading = TORCH_OPS.get(f"{op}.{overload}", op)
        if random and reading is None:
            site.refuse("its result is random")
        if op == "sym_size":
            return args[0].full_shape(self.batch)[args[1]]
        behind = in_head(site, node.all_input_nodes[0].name, reading, args, kwargs)
        if behind is not None:
            return behind
        refuse_reading_behind_head(site, values)
        if reading is None:
            site.refuse("it is not piecewise linear, or not supported yet")
        if not reading.chooses and any(isinstance(item, Comparison) for item in (*args, *kwargs.values())):
            site.refuse(ONLY_TO_CHOOSE)
        if not reading.batch_anywhere and any(value.batch_axis for value in values):
            site.refuse(MIXES_THE_BATCH)
        try:
            return reading.handler(site, *args, **kwargs)
        except ShapeError as error:
            site.refuse(str(error))


def _computed(target: Any, args: Any, kwargs: Any) -> Any:
    """The result of an operator that reads constants only."""
    result = target(*args, **kwargs)
    if isinstance(result, Unreadable):
        result.refuse()
    # Memory that is to be filled in holds anything, even numbers that are none.
    return result.zero_() if _op_name(target)[0] in ("empty", "empty_strided", "empty_permuted") else result


def _named_constants(program: Any) -> dict[str, Any]:
    """Parameters, buffers and lifted constants by the name of their placeholder."""
    signature = program.graph_signature
    constants = {name: program.state_dict[key] for name, key in signature.inputs_to_parameters.items()}
    for name, key in signature.inputs_to_buffers.items():
        constants[name] = program.state_dict[key] if key in program.state_dict else program.constants[key]
    for name, key in signature.inputs_to_lifted_tensor_constants.items():
        constants[name] = program.constants[key]
    return {name: tensor.detach() for name, tensor in constants.items()}


def _resolve(node: Any, known: Mapping[Any, Any]) -> tuple[Any, Any]:
    """A node's arguments with every reference to another node replaced by what is known of that."""
    arguments = torch.fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
    return tuple(arguments[0]), dict(arguments[1])


def _op_name(target: Any) -> tuple[str, str]:
    """("relu", "default") for aten.relu.default; other libraries' operators keep their prefix."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return getattr(target, "__name__", str(target)), ""
    name = schema.name.removeprefix("aten::")
    return (name if name == "_to_copy" else name.removesuffix("_")), schema.overload_name or "default"


def _user_name(node: Any) -> str:
    """The path of the torch.nn module that the op stands for, or the graph's name for a functional op."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if stack:
        path, kind = stack[-1]
        kind = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
        if path and kind.startswith("torch.nn."):
            return str(path)
    return str(node.name)
