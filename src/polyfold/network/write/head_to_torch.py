"""A head as torch modules behind the scores."""

from __future__ import annotations

from torch import nn

from polyfold.network.graph import Network
from polyfold.network.head import Head, HeadOp, OutputHead
from polyfold.network.ops.op import Shape
from polyfold.network.read.builder import new_name
from polyfold.network.write import torch_modules as own

# The name of a step, what it reads, and its module.
Step = tuple[str, tuple[str, ...], nn.Module]


def head_modules(network: Network, taken: set[str]) -> tuple[list[str], list[Step]]:
    """The names of the model's outputs, and the steps that lead there from the network's; `taken` are others' names."""
    used = {*taken, *(port.name for port in network.inputs)}
    outputs = list(network.outputs)
    steps: list[Step] = []
    for number, head in enumerate(() if network.head is None else network.head.outputs):
        for part, module in _modules(head, network.shapes[outputs[number]]) if head.ops else ():
            name = new_name(part, used, "_")
            steps.append((name, (outputs[number],), module))
            outputs[number] = name
    return outputs, steps


def flat_head(head: Head) -> nn.Module:
    """The head as one module, from rows of scores to rows of numbers."""
    return own.FlatHead(
        [
            (output.scores, nn.Sequential(*(module for _, module in _modules(output, (output.scores,)))))
            for output in head.outputs
        ]
    )


def _modules(head: OutputHead, shape: Shape) -> list[tuple[str, nn.Module]]:
    found: list[tuple[str, nn.Module]] = []
    before = ""
    for op in head.ops:
        name = op.name or op.kind
        if before == "argmax":
            found.append((f"{name}_real", own.AsReal()))
        axis = op.axis_of(shape)
        if axis is None:
            shape, axis = op.groups, 1
            found.append((f"{name}_groups", own.Reshaped(shape)))
        found.append((name, _module(op, axis + 1)))
        if op.kind == "argmax":
            shape = (*shape[:axis], *shape[axis + 1 :])
        before = op.kind
    if shape != head.shape:
        found.append(("output", own.Reshaped(head.shape)))
    return found


def _module(op: HeadOp, axis: int) -> nn.Module:
    match op.kind:
        case "softmax":
            return nn.Softmax(axis)
        case "log-softmax":
            return nn.LogSoftmax(axis)
        case "sigmoid":
            return nn.Sigmoid()
        case "log-sigmoid":
            return nn.LogSigmoid()
        case "argmax":
            return own.ClassNumber(axis, last=op.last)
    return own.Chosen(axis, last=op.last)
