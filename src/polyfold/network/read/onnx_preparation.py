"""An ONNX model as the reader wants it: functions written out, nodes in an order in which they can be computed,
nothing in training mode.

None of this changes what the model computes in evaluation mode. What it changes otherwise is said in notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from onnx import helper, numpy_helper

from polyfold._base.spelling import unknown_node
from polyfold.errors import NetworkError

# Before this version Dropout and BatchNormalization said `is_test` for what is called training_mode now.
_TRAINING_HAS_ITS_NAME = 7

IN_EVALUATION = "it is read as in evaluation mode, so it is another function than the file's"


def prepared(model: Any) -> tuple[Any, tuple[str, ...]]:
    """The model to read, and notes on what of it is in training mode. The one given is left alone."""
    model, changed = _without_functions(model)
    order = _sorted(model.graph.node)
    training = [node for node in model.graph.node if _in_training(model, node)]
    if order is None and not training:
        return model, ()
    if not changed:
        copied = onnx.ModelProto()
        copied.CopyFrom(model)
        model = copied
    notes = tuple(_evaluate(model, node) for node in model.graph.node if _in_training(model, node))
    if order is not None:
        nodes = list(model.graph.node)
        del model.graph.node[:]
        model.graph.node.extend(nodes[place] for place in order)
    return model, notes


def user_name(node: Any) -> str:
    """What a node is called: by its own name, or by the first value that it computes."""
    return str(node.name or next((name for name in node.output if name), "unnamed"))


def opset(model: Any) -> int:
    """The version of ONNX's own operators that a model uses."""
    return max((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), default=1)


def named(graph: Any, name: str) -> Any:
    """The node that is called so, or that computes the value of this name; an error that lists others if none does."""
    for node in graph.node:
        if name and name in (node.name, *node.output):
            return node
    raise NetworkError(unknown_node(name, [user_name(node) for node in graph.node]))


def needed(graph: Any, names: Iterable[str]) -> list[Any]:
    """The nodes that these values depend on, in order."""
    wanted = set(names)
    kept = []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(_reads(node))
    return kept[::-1]


# -- local functions


def _without_functions(model: Any) -> tuple[Any, bool]:
    """The model with every call of a function of its own replaced by the function's nodes, and whether it has any."""
    if not model.functions:
        return model, False
    calls = {
        (function.domain, function.name): {(node.domain, node.op_type) for node in function.node}
        for function in model.functions
    }
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        names = " calls ".join(repr(name) for _, name in error.args[1])
        raise NetworkError(f"the model's own functions never end: {names}") from None
    try:
        return onnx.inliner.inline_local_functions(model, True), True
    except (RuntimeError, ValueError) as error:
        raise NetworkError(f"the model's own functions cannot be written out: {error}") from error


# -- order


def _sorted(nodes: Any) -> list[int] | None:
    """An order in which every node reads what is there already; None if they are in one."""
    makers: dict[str, int] = {}
    for place, node in enumerate(nodes):
        for name in node.output:
            if name and makers.setdefault(name, place) != place:
                raise NetworkError(f"two nodes compute {name!r}: {_shown(nodes[makers[name]])} and {_shown(node)}")
    reads = [sorted({makers[name] for name in _reads(node) if name in makers}) for node in nodes]
    if all(not before or before[-1] < place for place, before in enumerate(reads)):
        return None
    try:
        return list(TopologicalSorter(dict(enumerate(reads))).static_order())
    except CycleError as error:
        # A node is listed behind what reads it.
        cycle = ", which reads ".join(_shown(nodes[place]) for place in reversed(error.args[1]))
        raise NetworkError(
            f"the graph has a cycle, so that nothing in it can be computed: {cycle}; unroll what is fed back"
        ) from None


def _reads(node: Any) -> Iterator[str]:
    """The values that a node reads, those of graphs inside it included."""
    yield from node.input
    for attribute in node.attribute:
        inner: Iterable[Any] = (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs
        for graph in inner:
            for inside in graph.node:
                yield from _reads(inside)


def _shown(node: Any) -> str:
    return f"{user_name(node)!r} ({node.op_type})"


# -- training mode


def _in_training(model: Any, node: Any) -> bool:
    """Whether a node does something else in training than in evaluation, and is in training mode."""
    if node.domain not in ("", "ai.onnx") or node.op_type not in ("Dropout", "BatchNormalization"):
        return False
    if node.op_type == "BatchNormalization" and any(_is_read(model.graph, name) for name in node.output[1:]):
        # Somebody wants the statistics of the batch, which there are in training mode only: it is refused.
        return False
    attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    if opset(model) < _TRAINING_HAS_ITS_NAME:
        return not attributes.get("is_test", 0)
    if node.op_type == "BatchNormalization":
        return bool(attributes.get("training_mode", 0))
    if len(node.input) < 3 or not node.input[2]:
        return False
    mode, ratio = (_constant(model.graph, name) for name in (node.input[2], node.input[1]))
    return mode is not None and bool(np.any(mode)) and (ratio is None or bool(np.any(ratio)))


def _is_read(graph: Any, name: str) -> bool:
    return any(name == output.name for output in graph.output) or any(name in _reads(node) for node in graph.node)


def _evaluate(model: Any, node: Any) -> str:
    """Put a node into evaluation mode; the note on it."""
    kept = [item for item in node.attribute if item.name not in ("training_mode", "is_test")]
    if opset(model) < _TRAINING_HAS_ITS_NAME:
        kept.append(helper.make_attribute("is_test", 1))
    del node.attribute[:]
    node.attribute.extend(kept)
    if node.op_type == "Dropout":
        del node.input[1:]
        what = "drops values at random"
    else:
        # The statistics that it would go on with.
        del node.output[1:]
        what = "normalises by the batch's own statistics"
    return f"node {_shown(node)} is in training mode, where it {what}: {IN_EVALUATION}"


def _constant(graph: Any, name: str) -> Any:
    """The numbers of a constant; None if it is computed or absent."""
    for item in graph.initializer:
        if item.name == name:
            return numpy_helper.to_array(item)
    for node in graph.node:
        if node.op_type == "Constant" and name in node.output:
            value = {item.name: item for item in node.attribute}.get("value")
            return None if value is None else numpy_helper.to_array(value.t)
    return None
