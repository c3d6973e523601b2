"""From the functional graph of a torch program to a Network, compared with the graph as torch computes it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from polyfold._base.spelling import unknown_node
from polyfold._base.types import Array
from polyfold.errors import NetworkError, ShapeError, UnsupportedOpError
from polyfold.exact.tolerances import IMPORT_FLOAT16, IMPORT_FLOAT32, IMPORT_FLOAT64
from polyfold.network.graph import Network
from polyfold.network.ops.op import Shape, size
from polyfold.network.read.behind_head import refuse_reading_behind_head
from polyfold.network.read.builder import WHERE_TO_LOOK, Builder, Value
from polyfold.network.read.check import verify, verify_head
from polyfold.network.read.compose.choose import Comparison
from polyfold.network.read.folding.arithmetic import InexactError
from polyfold.network.read.folding.folded import CONSTANTS_CANCEL, Folded, runtime_of
from polyfold.network.read.folding.torch_constants import computed, exact_of
from polyfold.network.read.registry import Reading, Unreadable, values_in
from polyfold.network.read.torch_names import module_stack, names_of, op_name, user_name
from polyfold.network.read.torch_ops import REFUSED_LAYERS, TORCH_OPS, TorchSite, in_head
from polyfold.network.read.torch_trace import BATCH, Traced, first_line

TOLERANCES = {torch.float64: IMPORT_FLOAT64, torch.float32: IMPORT_FLOAT32}


def input_types(traced: Traced) -> list[tuple[Shape, Any]]:
    """Shape without the batch axis and type of every input tensor."""
    placeholders = {node.name: node.meta["val"] for node in traced.graph.nodes if node.op == "placeholder"}
    types = []
    for name in traced.signature.user_inputs:
        example = placeholders.get(name)
        if not isinstance(example, torch.Tensor) or example.dim() == 0 or not example.is_floating_point():
            raise NetworkError(f"input {name!r} is not a tensor of real numbers with a batch axis in front")
        if not all(isinstance(n, int) for n in example.shape[1:]):
            raise NetworkError(f"input {name!r} has the open shape {tuple(example.shape)}: only the batch may be")
        types.append((tuple(example.shape[1:]), example.dtype))
    return types


class GraphReader:
    """One walk over a functional graph: constants are computed, the rest is translated node by node."""

    def __init__(self, traced: Traced, until: str | None, notes: Sequence[str], *, single: bool) -> None:
        self.traced = traced
        self.types = input_types(traced)
        self.single = single
        self.batch = self._batch_size()
        self.constants = traced.constants
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
        names = set(self.traced.signature.user_inputs)
        sizes = [
            node.meta["val"].shape[0]
            for node in self.traced.graph.nodes
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
        shapes = dict(zip(self.traced.signature.user_inputs, self.types, strict=True))
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
        inputs, start = [], 0
        for shape, dtype in self.types:
            rows = points[:, start : start + size(shape)].reshape(len(points), *shape)
            inputs.append(torch.as_tensor(rows, dtype=dtype))
            start += size(shape)
        found = self.run(inputs, [name for name, _ in wanted])
        columns = [
            np.tile(tensor.double().reshape(1, -1).numpy(), (len(points), 1))
            if axis is None
            else tensor.double().movedim(axis, 0).reshape(len(points), -1).numpy()
            for tensor, (_, axis) in zip(found, wanted, strict=True)
        ]
        return np.concatenate(columns, axis=1)

    def run(self, inputs: Sequence[Any], names: Sequence[str]) -> list[Any]:
        """The tensors of these names, by torch itself."""
        given = dict(zip(self.traced.signature.user_inputs, inputs, strict=True))
        known: dict[Any, Any] = {}
        found: dict[str, Any] = {}
        with torch.no_grad():
            for node, finished in self._needed_and_finished():
                if node.op == "placeholder":
                    known[node] = given[node.name] if node.name in given else self.constants[node.name]
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
        return [found[name] for name in names]

    def _outputs(self) -> list[Any]:
        by_name = {node.name: node for node in self.traced.graph.nodes}
        return [by_name[name] for name in self.traced.signature.user_outputs if name in by_name]

    def _in_front_of(self, until: str) -> list[Any]:
        """What the node or module of this name reads, as far as it does not depend on it."""
        calls = [node for node in self.traced.graph.nodes if node.op == "call_function"]
        inside = [node for node in calls if until in names_of(node)]
        if not inside:
            raise NetworkError(unknown_node(until, [name for node in calls for name in names_of(node)]))
        behind = set(inside)
        for node in calls:
            if behind.intersection(node.all_input_nodes):
                behind.add(node)
        reads = (earlier for node in inside for earlier in node.all_input_nodes)
        return list(dict.fromkeys(node for node in reads if node not in behind))

    def _needed(self) -> list[Any]:
        """The inputs, and the nodes that an output depends on, in order."""
        inputs = set(self.traced.signature.user_inputs)
        needed = set(self.wanted)
        kept = []
        for node in reversed(list(self.traced.graph.nodes)):
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
            self.builder.rounded(user_name(node), op, str(error))
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
        op, overload = op_name(node.target)
        if node.target is operator.getitem:
            return _computed(node.target, args, kwargs)
        if not (values or random):
            return self._constants(node, op, args, kwargs)
        site = TorchSite(
            self.builder,
            user_name(node),
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
        reading.check(site, (*args, *kwargs.values()))
        args, kwargs = _mapped(lambda item: _readable(site, reading, item), (args, kwargs))
        try:
            return reading.handler(site, *args, **kwargs)
        except ShapeError as error:
            site.refuse(str(error))
        except InexactError as error:
            site.refuse(f"its constants cannot be put together without rounding: {error}")
        except RuntimeError as error:
            site.refuse(f"torch cannot do with positions what it does with numbers: {first_line(error)}")


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
    return result.zero_() if op_name(target)[0] in ("empty", "empty_strided", "empty_permuted") else result


def _resolve(node: Any, known: Mapping[Any, Any]) -> tuple[Any, Any]:
    """A node's arguments with every reference to another node replaced by what is known of that."""
    arguments = torch.fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
    return tuple(arguments[0]), dict(arguments[1])


def _refuse_layers(site: TorchSite, node: Any) -> None:
    """Stop at the first op of a layer that cannot be read as a whole: its parts would say less."""
    for path, kind in module_stack(node):
        name = kind.rpartition(".")[2]
        if kind.startswith("torch.nn.") and name in REFUSED_LAYERS:
            replace(site, name=path or name, op=name).refuse(REFUSED_LAYERS[name])
