"""Which dense layers a network is made of, one after the other; anything that is no chain is refused by its name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold.errors import UnsupportedOpError, how_many
from polyfold.exact.rational_arrays import Rationals, identity, product, rationals, zeros
from polyfold.network.graph import Network, Node
from polyfold.network.ops.linear import Linear, Normalise, Scale, Shift
from polyfold.network.ops.movement import Reshape
from polyfold.network.ops.op import Shape, size
from polyfold.network.ops.switches import Rectify
from polyfold.network.ops.unrounded import Unrounded
from polyfold.program.lower.numbers import drawn, normalisation


@dataclass(frozen=True, eq=False)
class Layer:
    """z = weight x + bias in rationals, on values as flat vectors, and the name of the ReLU behind it.

    The last layer has no ReLU, and is named after the network's output.
    """

    name: str
    weight: Rationals
    bias: Rationals


def dense_layers(network: Network) -> tuple[Layer, ...]:
    """The hidden layers in order and the last one behind them. Affine steps in a row are put together in rationals.

    >>> from polyfold.network.load import load
    >>> [layer.name for layer in dense_layers(load([([[1.0], [2.0]], [0.0, 1.0]), ([[1.0, 1.0]], [0.0])]))]
    ['relu1', 'linear2']
    """
    if len(network.inputs) > 1:
        names = ", ".join(repr(port.name) for port in network.inputs)
        raise UnsupportedOpError(f"truncation maps are of networks with one input; this one has {names}")
    layers = []
    previous = network.inputs[0].name
    draft = _Draft(size(network.inputs[0].shape))
    for node in network.nodes:
        _check_chain(node, previous)
        op = drawn(node.op) if isinstance(node.op, Unrounded) else node.op
        if isinstance(op, Rectify):
            _check_relu(node, op)
            layers.append(draft.layer(node.name))
            draft = _Draft(size(network.shapes[node.name]))
        elif isinstance(op, Linear | Scale | Normalise | Shift | Reshape):
            before, behind = network.shapes[node.inputs[0]], network.shapes[node.name]
            if isinstance(op, Scale | Shift) and size(before) != size(behind):
                raise _refused(node, f"it repeats a value of shape {before} to {behind}")
            draft = draft.after(op, before, behind)
        else:
            raise _refused(node, f"it is a {type(op).__name__}")
        previous = node.name
    if network.outputs != (previous,):
        raise UnsupportedOpError(
            f"truncation maps are of chains of dense layers, and the output {network.outputs[0]!r} of this network is "
            f"not the end of one: {previous!r} is the last of {how_many(len(network.nodes), 'node')}"
        )
    return (*layers, draft.layer(previous))


class _Draft:
    """An affine map of what the last ReLU gave, so far; a matrix of None is the identity."""

    def __init__(self, inputs: int, matrix: Rationals | None = None, bias: Rationals | None = None) -> None:
        self._inputs, self._matrix = inputs, matrix
        self._bias = zeros(inputs) if bias is None else bias

    def layer(self, name: str) -> Layer:
        return Layer(name, identity(self._inputs) if self._matrix is None else self._matrix, self._bias)

    def after(self, op: Linear | Scale | Normalise | Shift | Reshape, before: Shape, behind: Shape) -> _Draft:
        matrix, bias = self._matrix, self._bias
        if isinstance(op, Linear):
            weight = rationals(op.weight)
            groups = size(before) // weight.shape[1]
            block = weight if groups == 1 else _repeated(weight, groups)
            matrix = block if matrix is None else product(block, matrix)
            bias = product(block, bias) + np.tile(rationals(op.bias), groups)
        elif isinstance(op, Scale):
            factor = rationals(np.broadcast_to(op.factor, behind).ravel())
            if op.divisor is not None:
                factor = factor / rationals(np.broadcast_to(op.divisor, behind).ravel())
            matrix = (identity(self._inputs) if matrix is None else matrix) * factor[:, None]
            bias = bias * factor
        elif isinstance(op, Normalise):
            each, more = (np.repeat(part.rationals, size(behind[1:])) for part in normalisation(op))
            matrix = (identity(self._inputs) if matrix is None else matrix) * each[:, None]
            bias = bias * each + more
        elif isinstance(op, Shift):
            bias = bias + rationals(np.broadcast_to(op.offset, behind).ravel())
        return _Draft(self._inputs, matrix, bias)


def _repeated(weight: Rationals, groups: int) -> Rationals:
    """A layer that is applied to every row of a matrix, as one matrix for the flat value."""
    rows, columns = weight.shape
    block = zeros(groups * rows, groups * columns)
    for k in range(groups):
        block[k * rows : (k + 1) * rows, k * columns : (k + 1) * columns] = weight
    return block


def _check_chain(node: Node, previous: str) -> None:
    if node.inputs != (previous,):
        read = ", ".join(repr(name) for name in node.inputs)
        raise _refused(node, f"it reads {read}, and the node before it is {previous!r}")


def _check_relu(node: Node, op: Rectify) -> None:
    on, off = np.broadcast_arrays(op.slope_on, op.slope_off)
    wrong = np.flatnonzero((on.ravel() != 1) | (off.ravel() != 0))
    if len(wrong):
        slopes = f"{on.ravel()[wrong[0]]:g} and {off.ravel()[wrong[0]]:g}"
        raise _refused(node, f"its slopes are {slopes}, those of a ReLU 1 and 0")


def _refused(node: Node, reason: str) -> UnsupportedOpError:
    return UnsupportedOpError(
        f"truncation maps are of chains of dense layers with ReLUs between them, and node {node.name!r} is no part of "
        f"one: {reason}"
    )
