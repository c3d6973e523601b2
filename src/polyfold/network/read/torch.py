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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch

from polyfold._base.spelling import unknown_node
from polyfold._base.types import Array
from polyfold.errors import NetworkError, ShapeError, UnsupportedOpError, how_many
from polyfold.exact.tolerances import IMPORT_FLOAT16, IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.graph import Network
from polyfold.network.ops.op import Shape, size
from polyfold.network.read.behind_head import refuse_reading_behind_head
from polyfold.network.read.builder import MIXES_THE_BATCH, WHERE_TO_LOOK, Builder, Value
from polyfold.network.read.check import sample_points, verify, verify_head
from polyfold.network.read.compose.choose import ONLY_TO_CHOOSE, Comparison
from polyfold.network.read.folding.arithmetic import InexactError
from polyfold.network.read.folding.folded import CONSTANTS_CANCEL, Folded, runtime_of
from polyfold.network.read.folding.torch_constants import computed, exact_of
from polyfold.network.read.registry import Reading, Unreadable
from polyfold.network.read.torch_archive import check_torch_archive, plain_tensors_only
from polyfold.network.read.torch_ops import (
    REFUSED_LAYERS,
    TORCH_OPS,
    TorchSite,
    in_head,
    parts,
    rewrite,
    values_in,
)
from polyfold.network.read.torch_training import in_evaluation, training_note

# Samples in the traced batch: a prime that is unlikely to be the length of another axis.
BATCH = 7
# Samples in a second run of the module, which must not notice the difference.
OTHER_BATCH = 3

# What a user's forward() and torch.export raise for an input of the wrong shape or an untraceable program.
FORWARD_ERRORS = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError)

TOLERANCES = {torch.float64: IMPORT_FLOAT64, torch.float32: IMPORT_FLOAT32}


def from_torch(module: Any, input_shapes: Sequence[Shape] | None, *, until: str | None = None) -> Network:
    """The Network that a torch.nn.Module computes in evaluation mode, or the part of it in front of the node `until`.

    The module itself is not touched.
    """
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
    note = training_note(module, original, lambda copied: _tensors(copied(*_examples(program, BATCH))))
    notes = () if note is None else (note,)
    try:
        network, reader = _read(program, until, notes)
    except UnsupportedOpError as refused:
        return _one_sample(original, shapes, until, notes, refused)
    if until is None:
        _check_other_batch(original, program, [axis for _, axis in reader.ends])
    return network


def _one_sample(
    module: Any, shapes: Sequence[Shape], until: str | None, notes: Sequence[str], refused: NetworkError
) -> Network:
    """A module that merges the batch axis with others, as in reshape(-1, C): what it does to a single sample.

    What was refused before stays refused if the module does something else to several samples at once.
    """
    dtype = next((p.dtype for p in module.parameters()), torch.float64)
    try:
        program = _trace(module, shapes, dtype, batch=1)
        network, reader = _read(program, until, notes, single=True)
    except NetworkError:
        raise refused from None
    if until is None and not _alike_in_a_batch(module, program, reader):
        raise refused
    return network


def _alike_in_a_batch(module: Any, program: Any, reader: _Reader) -> bool:
    """Whether several samples at once give what each gives by itself, one after the other."""
    examples = _examples(program, OTHER_BATCH)
    points = np.concatenate([example.reshape(OTHER_BATCH, -1).double().numpy() for example in examples], axis=1)
    expected = np.concatenate([reader.model_outputs(point[None]) for point in points])
    try:
        with torch.no_grad():
            found = [leaf for leaf in _tensors(module(*examples)) if leaf.is_floating_point()]
    except FORWARD_ERRORS:
        return False
    if sum(leaf.numel() for leaf in found) != expected.size or any(leaf.numel() % OTHER_BATCH for leaf in found):
        return False
    rows = np.concatenate([leaf.double().reshape(OTHER_BATCH, -1).numpy() for leaf in found], axis=1)
    scale = 1.0 + float(np.abs(expected).max(initial=0.0))
    return bool(np.abs(rows - expected).max(initial=0.0) <= reader.tolerance * scale)


def from_pt2(path: str | os.PathLike[str], *, until: str | None = None) -> Network:
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
    return from_exported(program, until=until)


@contextmanager
def _torch_log_silenced() -> Iterator[None]:
    """Torch logs whole tracebacks and graphs before it raises; our error says what matters in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def from_exported(program: Any, *, until: str | None = None) -> Network:
    """The Network that an exported program computes, compared with the program at random points."""
    program, notes = in_evaluation(program)
    try:
        return _read(program, until, notes)[0]
    except UnsupportedOpError as refused:
        try:
            return _read(program, until, notes, single=True)[0]
        except NetworkError:
            raise refused from None


def _read(program: Any, until: str | None, notes: Sequence[str], *, single: bool = False) -> tuple[Network, _Reader]:
    try:
        with warnings.catch_warnings(), _torch_log_silenced():
            warnings.simplefilter("ignore")
            program = rewrite(program).run_decompositions(parts(program))
    except FORWARD_ERRORS as error:
        raise NetworkError(
            f"torch.export cannot make the traced program functional: {_first_line(error)}; "
            "if the model holds sparse tensors, make them dense (to_dense()): polyfold keeps their zeros out by itself"
        ) from error
    reader = _Reader(program, until, notes, single=single)
    return reader.verified(reader.read()), reader


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


def _trace(module: Any, shapes: Sequence[Shape], dtype: Any, batch: int = BATCH) -> Any:
    examples = tuple(torch.zeros(batch, *shape, dtype=dtype) for shape in shapes)
    with warnings.catch_warnings(), torch.no_grad(), _torch_log_silenced():
        warnings.simplefilter("ignore")
        try:
            # Its own error says more than that of torch.export, which overlooks mixed float types.
            module(*examples)
        except FORWARD_ERRORS as error:
            given = ", ".join(str((batch, *shape)) for shape in shapes)
            raise NetworkError(
                f"{type(module).__name__} does not run with an input of shape {given} ({how_many(batch, 'sample')}): "
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


def _examples(program: Any, count: int) -> list[Any]:
    """So many samples of every input."""
    return [
        torch.as_tensor(sample_points(size(shape), count).reshape(count, *shape), dtype=dtype)
        for shape, dtype in _input_types(program)
    ]


def _check_other_batch(module: Any, program: Any, batch_axes: Sequence[int | None]) -> None:
    """The module itself, at another number of samples, against the trace; a batch axis of None: there is none."""
    examples = _examples(program, BATCH)
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
    pairs = [
        (a if axis is None else a.narrow(axis, 0, OTHER_BATCH), b) for a, b, axis in leaves if a.is_floating_point()
    ]
    for a, b in pairs:
        tolerance = TOLERANCES.get(b.dtype, IMPORT_FLOAT16) * (1.0 + float(b.abs().amax()))
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

    def __init__(self, program: Any, until: str | None, notes: Sequence[str], *, single: bool) -> None:
        self.program = program
        self.types = _input_types(program)
        self.single = single
        self.batch = self._batch_size()
        self.constants = _named_constants(program)
        self.builder = Builder("torch", notes)
        self.until = until
        self.wanted = self._outputs() if until is None else self._in_front_of(until)
        # The tensors in front of the head and behind it, and which of their axes is the batch; None: there is none.
        self.taps: list[tuple[str, int | None]] = []
        self.ends: list[tuple[str, int | None]] = []
        self.lowest_type = torch.float64
        # Constants that are something else than what torch makes of them, and whether the original is run with these.
        self.folded: dict[Any, Folded] = {}
        self.runs_exact_constants = False

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
        size = sizes[0] if isinstance(sizes[0], int) else 1 if self.single else BATCH
        if self.single and size != 1:
            raise NetworkError(f"the program was traced with {size} samples, and not with a single one")
        return size

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
        for node in self.wanted:
            value = known[node]
            if self.until is not None and not isinstance(value, Value):
                continue
            if isinstance(value, Comparison):
                raise UnsupportedOpError(f"output {node.name!r} is a comparison, which jumps; {WHERE_TO_LOOK}")
            if not isinstance(value, Value):
                value = self._constant(node.name, value)
            outputs.append(value)
            self.ends.append((node.name, value.batch_axis if value.batched or self.single else None))
            self.taps.append((value.scores.tap, value.scores.batch_axis) if value.scores else self.ends[-1])
        if self.until is not None and not outputs:
            raise NetworkError(f"until={self.until!r}: it reads nothing that depends on the input")
        return self.builder.finish(outputs)

    def _constant(self, name: str, numbers: Any) -> Value:
        """An output that is constant: it may have a batch axis, along which it repeats itself."""
        array = exact_of(numbers)
        if array.ndim and len(array) == self.batch > 1 and (array == array[:1]).all():
            return replace(self.builder.constant(name, array[0]), batched=True)
        return self.builder.constant(name, array)

    def verified(self, network: Network) -> Network:
        """The network, if it and its head are the original's; with a note, if only constants keep it from that."""
        try:
            self._verify(network)
        except NetworkError:
            if not self.folded:
                raise
            self.runs_exact_constants = True
            self._verify(network)
            return replace(network, notes=(*network.notes, CONSTANTS_CANCEL))
        return network

    def _verify(self, network: Network) -> None:
        verify(network, self.original, tolerance=self.tolerance)
        verify_head(network, self.original, self.model_outputs, tolerance=self.tolerance)

    def original(self, points: Array) -> Array:
        """The outputs by torch itself, in front of the head."""
        return self._by_torch(points, self.taps)

    def model_outputs(self, points: Array) -> Array:
        """The outputs by torch itself."""
        return self._by_torch(points, self.ends)

    def _by_torch(self, points: Array, wanted: Sequence[tuple[str, int | None]]) -> Array:
        # The program may run with whole batches only: the last one is filled up.
        filled = np.concatenate([points, np.repeat(points[-1:], -len(points) % self.batch, axis=0)])
        batches = [self._run(filled[start : start + self.batch], wanted) for start in range(0, len(filled), self.batch)]
        return np.concatenate(batches)[: len(points)]

    def _run(self, points: Array, wanted: Sequence[tuple[str, int | None]]) -> Array:
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
                elif self.runs_exact_constants and node in self.folded:
                    folded = self.folded[node]
                    known[node] = torch.from_numpy(folded.floats).to(folded.runtime.dtype)
                else:
                    args, kwargs = _resolve(node, known)
                    known[node] = node.target(*args, **kwargs)
                if node.name in names:
                    found[node.name] = known[node]
                for earlier in finished:
                    del known[earlier]
        columns = [
            np.tile(found[name].double().reshape(1, -1).numpy(), (len(points), 1))
            if axis is None
            else found[name].double().movedim(axis, 0).reshape(len(points), -1).numpy()
            for name, axis in wanted
        ]
        return np.concatenate(columns, axis=1)

    def _outputs(self) -> list[Any]:
        by_name = {node.name: node for node in self.program.graph.nodes}
        return [by_name[name] for name in self.program.graph_signature.user_outputs if name in by_name]

    def _in_front_of(self, until: str) -> list[Any]:
        """What the node or module of this name reads, as far as it does not depend on it."""
        calls = [node for node in self.program.graph.nodes if node.op == "call_function"]
        inside = [node for node in calls if until in _names(node)]
        if not inside:
            raise NetworkError(unknown_node(until, [name for node in calls for name in _names(node)]))
        behind = set(inside)
        for node in calls:
            if behind.intersection(node.all_input_nodes):
                behind.add(node)
        reads = (earlier for node in inside for earlier in node.all_input_nodes)
        return list(dict.fromkeys(node for node in reads if node not in behind))

    def _needed(self) -> list[Any]:
        """The inputs, and the nodes that an output depends on, in order."""
        inputs = set(self.program.graph_signature.user_inputs)
        needed = set(self.wanted)
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

    def _constants(self, node: Any, op: str, args: Any, kwargs: Any) -> Any:
        """The result of a node that reads constants only: as it is, or as torch rounds it, with a note."""
        plain_args, plain_kwargs = _mapped(runtime_of, (args, kwargs))
        result = _computed(node.target, plain_args, plain_kwargs)
        try:
            found = computed(op, node.target, args, kwargs, result)
        except InexactError as error:
            self.builder.rounded(_user_name(node), op, str(error))
            return result
        if isinstance(found, Folded):
            self.folded[node] = found
        return found

    def _note_type(self, node: Any) -> None:
        """Remember the coarsest arithmetic on the way: comparisons cannot be finer."""
        dtype = getattr(node.meta.get("val"), "dtype", None)
        if dtype is not None and dtype.is_floating_point and dtype.itemsize < self.lowest_type.itemsize:
            self.lowest_type = dtype

    def _call(self, node: Any, known: Mapping[Any, Any]) -> Any:
        args, kwargs = _resolve(node, known)
        values = list(values_in((args, kwargs)))
        random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        op, overload = _op_name(node.target)
        if node.target is operator.getitem:
            return _computed(node.target, args, kwargs)
        if not (values or random):
            return self._constants(node, op, args, kwargs)
        site = TorchSite(
            self.builder,
            _user_name(node),
            op,
            node.target,
            getattr(node.meta.get("val"), "dtype", None),
            batch=self.batch,
            single=self.single,
        )
        _refuse_layers(site, node)
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
        if reading.needs_batch and not all(value.batched for value in values):
            site.refuse(MIXES_THE_BATCH)
        args, kwargs = _mapped(lambda item: _readable(site, reading, item), (args, kwargs))
        try:
            return reading.handler(site, *args, **kwargs)
        except ShapeError as error:
            site.refuse(str(error))
        except InexactError as error:
            site.refuse(f"its constants cannot be put together without rounding: {error}")
        except RuntimeError as error:
            site.refuse(f"torch cannot do with positions what it does with numbers: {_first_line(error)}")


def _mapped(function: Callable[[Any], Any], items: Any) -> Any:
    """The same lists and dictionaries with every item changed."""
    return torch.utils._pytree.tree_map(function, items)


def _readable(site: TorchSite, reading: Reading, item: Any) -> Any:
    """A constant as an operator can read it: numbers that floats cannot hold are rounded for some, with a note."""
    if not isinstance(item, Folded) or reading.exact:
        return item
    if item.is_rounded:
        site.builder.rounded(site.name, site.op, "it reads numbers that are no floats")
    return torch.from_numpy(item.floats)


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


def _names(node: Any) -> list[str]:
    """All names that `until` may call a node by: the modules that it is in, what the user knows it by, and its own."""
    return [*(path for path, _ in _module_stack(node) if path), _user_name(node), str(node.name)]


def _user_name(node: Any) -> str:
    """The path of the torch.nn module that the op stands for, or the graph's name for a functional op."""
    stack = _module_stack(node)
    if stack:
        path, kind = stack[-1]
        if path and kind.startswith("torch.nn."):
            return path
    return str(node.name)


def _module_stack(node: Any) -> list[tuple[str, str]]:
    """Path and class of the modules that an op is in, from the outermost to the innermost."""
    stack = (node.meta.get("nn_module_stack") or {}).values()
    return [
        (str(path), kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}") for path, kind in stack
    ]


def _refuse_layers(site: TorchSite, node: Any) -> None:
    """Stop at the first op of a layer that cannot be read as a whole: its parts would say less."""
    for path, kind in _module_stack(node):
        name = kind.rpartition(".")[2]
        if kind.startswith("torch.nn.") and name in REFUSED_LAYERS:
            replace(site, name=path or name, op=name).refuse(REFUSED_LAYERS[name])
