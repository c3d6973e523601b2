"""From a Network to a Program: every value becomes an affine expression over sources, every switch a gate.

Nodes are walked once, in order. A node that switches puts its gates into the first stage that comes after all
that they depend on; stages grow during the walk, so their matrices are put together at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch

import numpy as np

from polyfold.network.graph import Network
from polyfold.network.ops import (
    Add,
    Clamp,
    Concat,
    Linear,
    Maximum,
    Minimum,
    Op,
    Rectify,
    Reshape,
    Scale,
    Shape,
    Shift,
    Subtract,
    Take,
    size,
)
from polyfold.program import expression
from polyfold.program.expression import Array, Expression, Index
from polyfold.program.program import Affine, Block, GateOrigin, Program, Stage


def lower(network: Network) -> Program:
    """The Program that computes a Network.

    >>> from polyfold.network.load import load
    >>> program = lower(load([([[1.0, 2.0]], [0.0]), ([[3.0]], [1.0])]))
    >>> program.gates, str(program.origins[0])
    (1, 'relu1[0]')
    """
    writer = _Writer()
    known = _inputs(network)
    for node in network.nodes:
        place = _Place(writer, node.name, network.shapes[node.name])
        arguments = [_Argument(known[name], network.shapes[name]) for name in node.inputs]
        known[node.name] = _translate(node.op, place, arguments)
    output = expression.stack([known[name] for name in network.outputs])
    return writer.finish(network.input_dim, output)


@dataclass(frozen=True, eq=False)
class _Argument:
    """An input of a node: its rows and the shape that they are the entries of."""

    rows: Expression
    shape: Shape

    def spread(self, shape: Shape) -> Expression:
        """The rows repeated as broadcasting to a larger shape repeats entries."""
        if shape == self.shape:
            return self.rows
        index = np.broadcast_to(np.arange(self.rows.size).reshape(self.shape), shape)
        return expression.take(self.rows, index.ravel())


@dataclass(eq=False)
class _OpenStage:
    """A stage that may still get gates."""

    pre_activations: list[Expression] = field(default_factory=list)
    slopes: list[tuple[Array, Array]] = field(default_factory=list)
    origins: list[GateOrigin] = field(default_factory=list)


@dataclass(eq=False)
class _Writer:
    """The stages so far; stage s is entry s - 1."""

    stages: list[_OpenStage] = field(default_factory=list)

    def gates(self, z: Expression, on: Array, off: Array, origins: list[GateOrigin]) -> Expression:
        """New gates on the rows of z; the result is their outputs."""
        if not origins:
            return expression.numbers(np.zeros(0))
        number = 1 + z.depth
        if number > len(self.stages):
            self.stages.append(_OpenStage())
        stage = self.stages[number - 1]
        first = len(stage.origins)
        stage.pre_activations.append(z)
        stage.slopes.append((on, off))
        stage.origins.extend(origins)
        return expression.entries(number, np.arange(first, len(stage.origins)))

    def finish(self, input_dim: int, output: Expression) -> Program:
        """The program with all matrices written out and read-only."""
        widths = [input_dim, *(len(stage.origins) for stage in self.stages)]
        stages = tuple(
            Stage(
                _affine(expression.stack(stage.pre_activations), widths),
                _frozen(np.concatenate([on for on, _ in stage.slopes])),
                _frozen(np.concatenate([off for _, off in stage.slopes])),
            )
            for stage in self.stages
        )
        origins = tuple(origin for stage in self.stages for origin in stage.origins)
        return Program(input_dim, stages, _affine(output, widths), origins)


@dataclass(frozen=True, eq=False)
class _Place:
    """The node that is being translated: where its gates go and what they are called."""

    writer: _Writer
    node: str
    shape: Shape

    def gates(self, z: Expression, role: str) -> Expression:
        """relu(z) with a gate for each entry of the node's value."""
        every = np.arange(z.size)
        return self.writer.gates(z, np.ones(z.size), np.zeros(z.size), self.origins(every, role))

    def origins(self, rows: Index, role: str) -> list[GateOrigin]:
        """Which entries of the value the gates on these rows belong to."""
        indices = list(np.ndindex(self.shape))
        return [GateOrigin(self.node, indices[row], role) for row in rows]


def _inputs(network: Network) -> dict[str, Expression]:
    known, start = {}, 0
    for port in network.inputs:
        stop = start + size(port.shape)
        known[port.name] = expression.entries(0, np.arange(start, stop))
        start = stop
    return known


def _affine(rows: Expression, widths: list[int]) -> Affine:
    """An expression with its zero terms left out and its matrices as wide as their sources are now."""
    blocks = tuple(
        Block(source, _frozen(expression.dense(matrix, widths[source])))
        for source, matrix in sorted(rows.terms.items())
        if not expression.is_zero(matrix)
    )
    return Affine(blocks, _frozen(rows.bias))


def _frozen(array: Array) -> Array:
    # A copy, because the same array may still belong to the network.
    array = np.array(array, order="C")
    array.setflags(write=False)
    return array


@singledispatch
def _translate(op: Op, place: _Place, arguments: list[_Argument]) -> Expression:
    """The rows of a node's value."""
    raise AssertionError(f"there is no lowering for {type(op).__name__}")


@_translate.register
def _linear(op: Linear, place: _Place, arguments: list[_Argument]) -> Expression:
    return expression.apply(op.weight, op.bias, arguments[0].rows)


@_translate.register
def _scale(op: Scale, place: _Place, arguments: list[_Argument]) -> Expression:
    factor = np.broadcast_to(op.factor, place.shape).ravel()
    return expression.scale(arguments[0].spread(place.shape), factor)


@_translate.register
def _shift(op: Shift, place: _Place, arguments: list[_Argument]) -> Expression:
    offset = np.broadcast_to(op.offset, place.shape).ravel()
    return expression.shift(arguments[0].spread(place.shape), offset)


@_translate.register
def _reshape(op: Reshape, place: _Place, arguments: list[_Argument]) -> Expression:
    return arguments[0].rows


@_translate.register
def _take(op: Take, place: _Place, arguments: list[_Argument]) -> Expression:
    return expression.take(arguments[0].rows, op.index.ravel())


@_translate.register
def _concat(op: Concat, place: _Place, arguments: list[_Argument]) -> Expression:
    starts = np.cumsum([0, *(argument.rows.size for argument in arguments)])
    pieces = [
        start + np.arange(argument.rows.size).reshape(argument.shape)
        for start, argument in zip(starts, arguments, strict=False)
    ]
    stacked = expression.stack([argument.rows for argument in arguments])
    return expression.take(stacked, np.concatenate(pieces, axis=op.axis).ravel())


@_translate.register
def _add(op: Add, place: _Place, arguments: list[_Argument]) -> Expression:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return expression.add(a, b)


@_translate.register
def _subtract(op: Subtract, place: _Place, arguments: list[_Argument]) -> Expression:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return expression.subtract(a, b)


@_translate.register
def _rectify(op: Rectify, place: _Place, arguments: list[_Argument]) -> Expression:
    x = arguments[0].rows
    on, off = (np.broadcast_to(slope, place.shape).ravel() for slope in (op.slope_on, op.slope_off))
    bent = np.flatnonzero(on != off)
    straight = np.flatnonzero(on == off)
    outputs = place.writer.gates(expression.take(x, bent), on[bent], off[bent], place.origins(bent, "relu"))
    if not len(straight):
        return outputs
    linear = expression.scale(expression.take(x, straight), on[straight])
    order = np.argsort(np.concatenate([bent, straight]))
    return expression.take(expression.stack([outputs, linear]), order)


@_translate.register
def _clamp(op: Clamp, place: _Place, arguments: list[_Argument]) -> Expression:
    x = arguments[0].rows
    low, high = np.full(x.size, op.low), np.full(x.size, op.high)
    if op.low >= op.high:
        return expression.numbers(high)
    above_low = x
    if op.low > -np.inf:
        above_low = expression.shift(place.gates(expression.shift(x, -low), "lower"), low)
    if op.high == np.inf:
        return above_low
    return expression.subtract(above_low, place.gates(expression.shift(x, -high), "upper"))


@_translate.register
def _maximum(op: Maximum, place: _Place, arguments: list[_Argument]) -> Expression:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return expression.add(b, place.gates(expression.subtract(a, b), "max"))


@_translate.register
def _minimum(op: Minimum, place: _Place, arguments: list[_Argument]) -> Expression:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return expression.subtract(a, place.gates(expression.subtract(a, b), "min"))
