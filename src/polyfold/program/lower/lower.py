"""From a Network to a Program: every value becomes rows of affine functions of sources, every switch a gate.

Nodes are walked once, in order. What is made of matrices only is written out; a network with convolutions, or with
matrices that would be large and mostly zero, stays structured. `lower_exactly` (exact_program.py)
walks it in rationals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from polyfold._base.types import Array
from polyfold.exact.rounding import TINY, relative
from polyfold.network.graph import Network, Node
from polyfold.network.ops.linear import Add, Linear, Normalise, Scale, Shift, Subtract
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import Op, Shape, size
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.network.ops.switches import Clamp, Largest, Maximum, Minimum, Rectify
from polyfold.network.ops.unrounded import Unrounded, in_floats
from polyfold.program.affine import Affine, Structured
from polyfold.program.in_range import in_range
from polyfold.program.lower.changes import Change, added, relative_change, sizes_of
from polyfold.program.lower.dense_rows import Expression
from polyfold.program.lower.numbers import Numbers, floats_alone, normalisation, reals_of
from polyfold.program.lower.rounding_free import written_out_without_rounding
from polyfold.program.lower.rows import Index, Rows
from polyfold.program.lower.structured_rows import StructuredExpression
from polyfold.program.lower.tournament import tournament
from polyfold.program.lower.writer import NodeGates, Writer
from polyfold.program.operators import Convolved, Matrix, Operator
from polyfold.program.program import Program, Stage
from polyfold.program.rounding import Rounding, own_changes

# Coefficients of a layer that repeats a small matrix, when it is written out: beyond that it stays structured.
_LARGE = 1 << 24


def lower(network: Network, *, structured: bool | None = None) -> Program:
    """The Program that computes a Network: written out or structured, or as it is best.

    Refused where the network's numbers lead to coefficients that are larger than all floats.

    >>> from polyfold.network.load import load
    >>> program = lower(load([([[1.0, 2.0]], [0.0]), ([[3.0]], [1.0])]))
    >>> program.gates, str(program.origins[0])
    (1, 'relu1[0]')
    """
    return in_range(nearest_program(network, structured=structured))


def nearest_program(network: Network, *, structured: bool | None = None) -> Program:
    """The same, with infinite coefficients where floats do not reach: who asks has the rationals, too."""
    if structured is None:
        structured = any(_stays_structured(network, node) for node in network.nodes)
    writer = Writer(StructuredExpression if structured else Expression)
    with np.errstate(over="ignore", invalid="ignore"):
        program = writer.finish(network.input_dim, write(network, writer), network.head)
    if program.rounding is not None and not structured and not np.isfinite(program.rounding.largest):
        # A product left the range of floats on the way, though the coefficients themselves may lie in it.
        from polyfold.program.exact_program import lower_exactly

        return replace(lower_exactly(network).to_program(), pools=program.pools)
    return program


def write(network: Network, writer: Writer) -> Rows:
    """Walk a network: its gates go to the writer, its outputs are returned."""
    known = _inputs(network, writer)
    for node in network.nodes:
        place = NodeGates(writer, node.name, network.shapes[node.name])
        arguments = [_Argument(known[name], network.shapes[name]) for name in node.inputs]
        known[node.name] = rows = translate(node.op, place, arguments)
        if rows.change is not None and (_rounds(node.op) or all(each.rows.change is None for each in arguments)):
            writer.rounded.append(f"{node.name!r}: {_what_rounds(node.op)}")
    return writer.kind.stacked([known[name] for name in network.outputs])


def _rounds(op: Op) -> bool:
    """Whether an op computes with numbers that need not be floats."""
    return isinstance(op, Normalise | Unrounded) or (isinstance(op, Scale | Combine) and op.divisor is not None)


def _what_rounds(op: Op) -> str:
    if isinstance(op, Normalise):
        return "roots"
    if isinstance(op, Unrounded):
        return "numbers that are no floats"
    return "quotients" if _rounds(op) else "products and sums of linear steps"


def written_out(program: Program) -> Program:
    """The same program with all its matrices written out, as enumerating its cells needs them."""
    if program.written_out:
        return program
    stages = tuple(Stage(stage.affine.written_out(), stage.slope_on, stage.slope_off) for stage in program.stages)
    return replace(program, stages=stages, output=program.output.written_out(), rounding=_rounding_too(program))


def _rounding_too(program: Program) -> Rounding | None:
    """What a program's coefficients have moved by when they are written out."""
    more = [_written_out_change(affine) for affine in program.affines]
    why = tuple(
        f"stage {number + 1}: products of linear steps" if number < len(program.stages) else "the output: products"
        for number, change in enumerate(more)
        if change is not None
    )
    if program.rounding is None and not why:
        return None
    known = () if program.rounding is None else program.rounding.why
    return Rounding((*known, *why), tuple(map(added, zip(own_changes(program), more, strict=True))))


def _written_out_change(affine: Affine) -> Change | None:
    if not isinstance(affine, Structured) or written_out_without_rounding(affine.form):
        return None
    # Where products of coefficients can underflow, no part of them bounds what they lose.
    part = relative(2 * affine.terms + 8) if affine.smallest > TINY else np.inf
    return relative_change(sizes_of(affine.form), np.zeros(len(affine.bias)), part)


def _stays_structured(network: Network, node: Node) -> bool:
    op = in_floats(node.op)
    if isinstance(op, Convolution | TransposedConvolution | Combine | Largest):
        return True
    if isinstance(op, Linear):
        inputs, outputs = size(network.shapes[node.inputs[0]]), size(network.shapes[node.name])
        return inputs * outputs > max(_LARGE, op.weight.size)
    return False


@dataclass(frozen=True, eq=False)
class _Argument:
    """An input of a node: its rows and the shape that they are the entries of."""

    rows: Rows
    shape: Shape

    def spread(self, shape: Shape) -> Rows:
        """The rows repeated as broadcasting to a larger shape repeats entries."""
        if shape == self.shape:
            return self.rows
        index = np.broadcast_to(np.arange(self.rows.size).reshape(self.shape), shape)
        return self.rows.take(index.ravel())


def _inputs(network: Network, writer: Writer) -> dict[str, Rows]:
    known, start = {}, 0
    for port in network.inputs:
        count = size(port.shape)
        known[port.name] = writer.kind.entries(0, start, count)
        start += count
    return known


@singledispatch
def translate(op: Op, place: NodeGates, arguments: list[_Argument]) -> Rows:
    """The rows of a node's value."""
    raise AssertionError(f"there is no lowering for {type(op).__name__}")


# -- linear ops


@translate.register
def _linear(op: Linear, place: NodeGates, arguments: list[_Argument]) -> Rows:
    return arguments[0].rows.times(op.weight, op.bias)


@translate.register
def _scale(op: Scale, place: NodeGates, arguments: list[_Argument]) -> Rows:
    x = arguments[0].spread(place.shape)
    factor = _spread(op.factor, place.shape)
    # A row of a sum stays as it is: a factor of one is none.
    scaled = x if op.divisor is not None and (factor == 1).all() else x.scaled(factor)
    return scaled if op.divisor is None else scaled.divided(_spread(op.divisor, place.shape))


@translate.register
def _normalise(op: Normalise, place: NodeGates, arguments: list[_Argument]) -> Rows:
    factor, offset = (each.take(_channels(place.shape)) for each in normalisation(op, place.writer.salt))
    return arguments[0].rows.affinely(factor, offset)


@translate.register
def _shift(op: Shift, place: NodeGates, arguments: list[_Argument]) -> Rows:
    return arguments[0].spread(place.shape).shifted(_spread(op.offset, place.shape))


@translate.register
def _reshape(op: Reshape, place: NodeGates, arguments: list[_Argument]) -> Rows:
    return arguments[0].rows


@translate.register
def _take(op: Take, place: NodeGates, arguments: list[_Argument]) -> Rows:
    return arguments[0].rows.take(op.index.ravel())


@translate.register
def _concat(op: Concat, place: NodeGates, arguments: list[_Argument]) -> Rows:
    starts = np.cumsum([0, *(argument.rows.size for argument in arguments)])
    pieces = [
        start + np.arange(argument.rows.size).reshape(argument.shape)
        for start, argument in zip(starts, arguments, strict=False)
    ]
    stacked = place.stacked([argument.rows for argument in arguments])
    return stacked.take(np.concatenate(pieces, axis=op.axis).ravel())


@translate.register
def _add(op: Add, place: NodeGates, arguments: list[_Argument]) -> Rows:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return a.plus(b)


@translate.register
def _subtract(op: Subtract, place: NodeGates, arguments: list[_Argument]) -> Rows:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return a.minus(b)


@translate.register(Convolution)
@translate.register(TransposedConvolution)
def _convolution(op: Convolution | TransposedConvolution, place: NodeGates, arguments: list[_Argument]) -> Rows:
    return arguments[0].rows.through(_operator(op, arguments[0].shape), np.repeat(op.bias, size(place.shape[1:])))


@translate.register
def _combine(op: Combine, place: NodeGates, arguments: list[_Argument]) -> Rows:
    return arguments[0].rows.combined(op.matrix, op.divisor)


@translate.register
def _unrounded(op: Unrounded, place: NodeGates, arguments: list[_Argument]) -> Rows:
    plain, salt = op.op, place.writer.salt
    if isinstance(plain, Scale):
        factor = reals_of(plain.factor, op.coefficients, salt).spread(place.shape)
        return arguments[0].spread(place.shape).affinely(factor, floats_alone(np.zeros(size(place.shape))))
    if isinstance(plain, Shift):
        offset = reals_of(plain.offset, op.offsets, salt).spread(place.shape)
        return arguments[0].spread(place.shape).affinely(floats_alone(np.ones(size(place.shape))), offset)
    operator = _operator(plain, arguments[0].shape)
    coefficients = reals_of(operator.factors, op.coefficients, salt)
    return arguments[0].rows.through_numbers(operator, coefficients, _bias(op, place))


def _operator(op: Op, reads: Shape) -> Operator:
    """The linear map of an op, without what it adds."""
    match op:
        case Linear():
            return Matrix(op.weight, size(reads[:-1]))
        case Convolution():
            return Convolved(op.kernel, op.window, reads[1:])
        case TransposedConvolution():
            return Convolved(op.kernel, op.window, op.space, turned=True)
    raise AssertionError(f"{type(op).__name__} is no linear map that is kept as it is")


def _bias(op: Unrounded, place: NodeGates) -> Numbers:
    """What an op adds to each of its numbers."""
    plain, count = op.op, size(place.shape)
    assert isinstance(plain, Linear | Convolution | TransposedConvolution)
    bias = reals_of(plain.bias, op.offsets, place.writer.salt)
    # That of a layer is along the last axis, that of channels along the first.
    return bias.take(np.arange(count) % len(plain.bias) if isinstance(plain, Linear) else _channels(place.shape))


def _spread(values: Array, shape: Shape) -> Array:
    """Numbers for all entries of a value, one behind the other."""
    spread = np.empty(shape)
    spread[...] = values
    return spread.ravel()


def _channels(shape: Shape) -> Index:
    """The channel of every number of a value."""
    return np.repeat(np.arange(shape[0]), size(shape[1:]))


# -- ops that switch. A gate that is zero is off: how it is turned says which side a tie goes to.


@translate.register
def _rectify(op: Rectify, place: NodeGates, arguments: list[_Argument]) -> Rows:
    x = arguments[0].rows
    on, off = (_spread(slope, place.shape) for slope in (op.slope_on, op.slope_off))
    bent: Index = np.flatnonzero(on != off)
    straight = np.flatnonzero(on == off)
    outputs = place.switches(x.take(bent), on[bent], off[bent], "relu", bent)
    if not len(straight):
        return outputs
    linear = x.take(straight).scaled(on[straight])
    return place.stacked([outputs, linear]).take(np.argsort(np.concatenate([bent, straight])))


@translate.register
def _clamp(op: Clamp, place: NodeGates, arguments: list[_Argument]) -> Rows:
    x = arguments[0].rows
    low, high = np.full(x.size, op.low), np.full(x.size, op.high)
    if op.low >= op.high:
        return place.numbers(high)
    above_low = x
    if op.low > -np.inf:
        above_low = _excess(place, x, low, "lower", zero_is_flat=op.flat_at_bounds).shifted(low)
    if op.high == np.inf:
        return above_low
    return above_low.minus(_excess(place, x, high, "upper", zero_is_flat=not op.flat_at_bounds))


def _excess(place: NodeGates, x: Rows, bound: Array, role: str, *, zero_is_flat: bool) -> Rows:
    """max(x - bound, 0). A gate that is zero is off: turned around, it gives x = bound to the sloping side.

    Slopes do that, because x - bound + max(bound - x, 0) would make the next layer multiply with x once more.
    """
    if zero_is_flat:
        return place.gates(x.shifted(-bound), role)
    return place.switches(x.negated().shifted(bound), np.zeros(x.size), -np.ones(x.size), role)


@translate.register
def _maximum(op: Maximum, place: NodeGates, arguments: list[_Argument]) -> Rows:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return a.plus(place.gates(b.minus(a), "max"))


@translate.register
def _minimum(op: Minimum, place: NodeGates, arguments: list[_Argument]) -> Rows:
    a, b = (argument.spread(place.shape) for argument in arguments)
    return a.minus(place.gates(a.minus(b), "min"))


@translate.register
def _largest(op: Largest, place: NodeGates, arguments: list[_Argument]) -> Rows:
    return tournament(place, arguments[0].rows, op.members.reshape(size(place.shape), -1))
