"""The rows of local maps: outputs pulled back to the inputs through a network whose pieces are decided.

All outputs of one input meet the same gates and the same losers, so what is zero for one of them is zero for all. A
pool hands back only its winners (`Rows.at`); a convolution in front of it reads only those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch

import numpy as np
import numpy.typing as npt

from polyfold._base.types import AnyArray
from polyfold.maps.graph_forward import Decided, Passed, is_relu
from polyfold.maps.sparse_rows import SparseRows, matrix_of
from polyfold.network.graph import Network, Node
from polyfold.network.ops.convolve import convolve, convolve_back
from polyfold.network.ops.linear import Add, Linear, Normalise, Scale, Shift, Subtract
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import Op, Shape, per_channel, size
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution, spread_bias
from polyfold.network.ops.switches import Clamp, Largest, Maximum, Minimum, Rectify
from polyfold.network.ops.unrounded import network_in_floats

Places = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rows:
    """Coefficients (n, m, k) on a flattened value: on all of its entries, or on entries at[n, k] of it.

    They count factor[n, k] times, or once. An entry can be there several times; its coefficients then add up.
    """

    values: AnyArray
    at: Places | None = None
    factor: AnyArray | None = None

    def times(self, by: AnyArray) -> Rows:
        """Multiplied with a vector (width,), or with a vector a sample (n, width)."""
        by = self._of(by)
        return replace(self, factor=by if self.factor is None else self.factor * by)

    def dot(self, by: AnyArray) -> AnyArray:
        """The coefficients times a vector, or a vector a sample (n, width): (n, m)."""
        by = self._of(by) if self.factor is None else self._of(by) * self.factor
        return np.asarray((self.values @ by[:, :, None])[:, :, 0])

    def _of(self, by: AnyArray) -> AnyArray:
        """A vector's entries where the coefficients are: (n, k)."""
        by = np.broadcast_to(by.astype(self.values.dtype, copy=False), (len(self.values), by.shape[-1]))
        return np.ascontiguousarray(by) if self.at is None else np.take_along_axis(by, self.at, axis=1)


@dataclass(frozen=True, eq=False)
class Context:
    """What a rule may need besides the op: its place in the network, and what was decided there.

    `into` (n, m, width of what the op reads), if it is there, is where the coefficients may be written.
    """

    network: Network
    node: Node
    decided: Decided | None
    matrix: SparseRows | None
    threads: int
    into: AnyArray | None = None

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(self.network.shapes[name] for name in self.node.inputs)

    @property
    def shape(self) -> Shape:
        return self.network.shapes[self.node.name]

    def spread(self, numbers: AnyArray) -> AnyArray:
        """Numbers that broadcast to the op's value, one for each of its entries: (width,)."""
        return np.broadcast_to(numbers, self.shape).ravel()

    def whole(self, rows: Rows) -> AnyArray:
        """Coefficients on all entries (n, m, width), the factors multiplied in."""
        return whole(rows, size(self.shape), self.threads)


def whole(rows: Rows, width: int, threads: int) -> AnyArray:
    """Coefficients on all entries (n, m, width) of a value."""
    if rows.at is None:
        return rows.values if rows.factor is None else rows.values * rows.factor[:, None, :]
    return SparseRows.identity(width, rows.values.dtype).pull(rows.values, rows.at, rows.factor, threads)


# Coefficients on each value that the op reads, and what the op's own constants add to the outputs (n, m).
Pulled = tuple[tuple[Rows, ...], AnyArray | None]


class Backward:
    """A network made ready for pulling back in one type of floats."""

    def __init__(self, network: Network, dtype: npt.DTypeLike, threads: int) -> None:
        self.network = network = network_in_floats(network)
        self.dtype = np.dtype(dtype)
        self.threads = threads
        self._matrices: dict[str, SparseRows | None] = {}
        for node in network.nodes:
            matrix = matrix_of(node.op, network.shapes[node.inputs[0]]) if node.inputs else None
            self._matrices[node.name] = None if matrix is None else SparseRows.of(matrix, dtype)

    @cached_property
    def first(self) -> Node | None:
        """The node that alone reads the one input, flattened or not; None if there is no such node."""
        if len(self.network.inputs) > 1 or self.network.inputs[0].name in self.network.outputs:
            return None
        same = {self.network.inputs[0].name}
        readers = []
        for node in self.network.nodes:
            if isinstance(node.op, Reshape) and node.inputs[0] in same and node.name not in self.network.outputs:
                same.add(node.name)
            elif same.intersection(node.inputs):
                readers.append(node)
        return readers[0] if len(readers) == 1 and len(readers[0].inputs) == 1 else None

    @cached_property
    def first_layer(self) -> AnyArray | None:
        """[W, b] of the first node, if it is a linear layer."""
        op = self.first.op if self.first is not None else None
        if not isinstance(op, Linear) or op.weight.shape[1] != self.network.input_dim:
            return None
        return np.concatenate([op.weight, op.bias[:, None]], axis=1).astype(self.dtype)

    def write(self, passed: Passed, outputs: Sequence[int], into: AnyArray) -> None:
        """Rows [w, b] of these outputs, written into an array (m, n, inputs + 1)."""
        pending = self._starts(len(passed.outputs), outputs)
        constant = np.zeros((len(passed.outputs), len(outputs)))
        slopes = into.transpose(1, 0, 2)[:, :, :-1]
        for node in reversed(self.network.nodes):
            rows = pending.pop(node.name, None)
            if rows is None:
                continue
            last = node is self.first
            context = Context(
                self.network,
                node,
                passed.decided.get(node.name),
                self._matrices[node.name],
                self.threads,
                slopes if last else None,
            )
            if last and self.first_layer is not None:
                values = context.whole(rows)
                for j in range(len(outputs)):
                    # Straight into the result, constants and all.
                    np.matmul(values[:, j], self.first_layer, out=into[j])
                    into[j, :, -1] += constant[:, j]
                return
            parts, own = pull(node.op, rows, context)
            if own is not None:
                constant += own
            if last and parts[0].values is slopes:
                into[:, :, -1] = constant.T
                return
            for name, part in zip(node.inputs, parts, strict=True):
                pending[name] = self._sum(name, pending[name], part) if name in pending else part
        into[:, :, -1] = constant.T
        start = 0
        for port in self.network.inputs:
            width = size(port.shape)
            there = slopes[:, :, start : start + width]
            there[...] = self._whole(port.name, pending[port.name]) if port.name in pending else 0.0
            start += width

    def _starts(self, n: int, outputs: Sequence[int]) -> dict[str, Rows]:
        """One unit row per output, on the value that it is an entry of."""
        pending: dict[str, Rows] = {}
        first = 0
        for name in self.network.outputs:
            width = size(self.network.shapes[name])
            units = np.zeros((len(outputs), width), dtype=self.dtype)
            for row, output in enumerate(outputs):
                if first <= output < first + width:
                    units[row, output - first] = 1.0
            part = Rows(np.broadcast_to(units, (n, *units.shape)))
            pending[name] = self._sum(name, pending[name], part) if name in pending else part
            first += width
        return pending

    def _sum(self, name: str, a: Rows, b: Rows) -> Rows:
        return Rows(self._whole(name, a) + self._whole(name, b))

    def _whole(self, name: str, rows: Rows) -> AnyArray:
        return whole(rows, size(self.network.shapes[name]), self.threads)


@singledispatch
def pull(op: Op, rows: Rows, context: Context) -> Pulled:
    """Coefficients on an op's value as coefficients on what it reads."""
    raise AssertionError(f"{type(op).__name__} cannot be pulled back")


@pull.register
def _(op: Linear, rows: Rows, context: Context) -> Pulled:
    everywhere = context.whole(rows)
    n, m = everywhere.shape[:2]
    weight, bias = op.weight.astype(everywhere.dtype), op.bias.astype(everywhere.dtype)
    on_groups = everywhere.reshape(-1, len(weight))
    carried = (on_groups @ weight).reshape(n, m, -1)
    own = (on_groups @ bias).reshape(n, m, -1).sum(axis=2)
    return (Rows(carried),), own


@pull.register(Convolution)
@pull.register(TransposedConvolution)
@pull.register(Combine)
def _(op: Convolution | TransposedConvolution | Combine, rows: Rows, context: Context) -> Pulled:
    own = None
    if not isinstance(op, Combine) and op.bias.any():
        own = rows.dot(context.spread(spread_bias(op.bias, op.window)))
    if context.matrix is not None:
        pulled = context.matrix.pull(rows.values, rows.at, rows.factor, context.threads, context.into)
        return (Rows(pulled),), own
    everywhere = context.whole(rows)
    n, m = everywhere.shape[:2]
    batch = everywhere.reshape(n * m, *context.shape)
    if isinstance(op, Combine):
        carried = (op.divided.T @ batch.reshape(n * m, -1).T).T
    elif isinstance(op, Convolution):
        carried = convolve_back(batch, op.kernel, op.window, context.shapes[0][1:])
    else:
        carried = convolve(batch, op.kernel, op.window)
    return (Rows(carried.reshape(n, m, -1).astype(everywhere.dtype)),), own


@pull.register
def _(op: Rectify, rows: Rows, context: Context) -> Pulled:
    assert context.decided is not None
    if is_relu(op):
        return (rows.times(context.decided),), None
    on, off = (context.spread(slope) for slope in (op.slope_on, op.slope_off))
    return (rows.times(np.where(context.decided, on, off)),), None


@pull.register
def _(op: Clamp, rows: Rows, context: Context) -> Pulled:
    assert context.decided is not None
    held = np.where(context.decided < 0, op.low, np.where(context.decided > 0, op.high, 0.0))
    return (rows.times(context.decided == 0),), rows.dot(held)


@pull.register
def _(op: Largest, rows: Rows, context: Context) -> Pulled:
    assert context.decided is not None
    at = context.decided if rows.at is None else np.take_along_axis(context.decided, rows.at, axis=1)
    return (replace(rows, at=at),), None


@pull.register(Maximum)
@pull.register(Minimum)
def _(op: Maximum | Minimum, rows: Rows, context: Context) -> Pulled:
    assert context.decided is not None
    parts = [rows.times(taken) for taken in (context.decided, ~context.decided)]
    return tuple(_narrowed(part, shape, context) for part, shape in zip(parts, context.shapes, strict=True)), None


@pull.register
def _(op: Reshape, rows: Rows, context: Context) -> Pulled:
    return (rows,), None


@pull.register
def _(op: Take, rows: Rows, context: Context) -> Pulled:
    index = op.index.astype(np.int32).ravel()
    at = np.broadcast_to(index, (len(rows.values), len(index))) if rows.at is None else index[rows.at]
    return (replace(rows, at=np.ascontiguousarray(at)),), None


@pull.register
def _(op: Concat, rows: Rows, context: Context) -> Pulled:
    everywhere = context.whole(rows)
    n, m = everywhere.shape[:2]
    ends = np.cumsum([shape[op.axis] for shape in context.shapes])[:-1]
    parts = np.split(everywhere.reshape(n, m, *context.shape), ends, axis=op.axis + 2)
    return tuple(Rows(np.ascontiguousarray(part).reshape(n, m, -1)) for part in parts), None


@pull.register
def _(op: Shift, rows: Rows, context: Context) -> Pulled:
    own = rows.dot(context.spread(op.offset))
    return (_narrowed(rows, context.shapes[0], context),), own


@pull.register
def _(op: Scale, rows: Rows, context: Context) -> Pulled:
    factor = op.factor if op.divisor is None else op.factor / op.divisor
    scaled = rows.times(context.spread(factor))
    return (_narrowed(scaled, context.shapes[0], context),), None


@pull.register
def _(op: Normalise, rows: Rows, context: Context) -> Pulled:
    axes = len(context.shape)
    factor, offset = (context.spread(per_channel(each, axes)) for each in op.folded)
    return (rows.times(factor),), rows.dot(offset)


@pull.register
def _(op: Add, rows: Rows, context: Context) -> Pulled:
    return tuple(_narrowed(rows, shape, context) for shape in context.shapes), None


@pull.register
def _(op: Subtract, rows: Rows, context: Context) -> Pulled:
    first, second = context.shapes
    return (_narrowed(rows, first, context), _narrowed(replace(rows, values=-rows.values), second, context)), None


def _narrowed(rows: Rows, shape: Shape, context: Context) -> Rows:
    """Coefficients on a value that was broadcast from this shape, summed up over what was repeated."""
    if size(shape) == size(context.shape):
        return rows
    everywhere = context.whole(rows)
    n, m = everywhere.shape[:2]
    aligned = (*[1] * (len(context.shape) - len(shape)), *shape)
    repeated = tuple(2 + axis for axis, (a, b) in enumerate(zip(aligned, context.shape, strict=True)) if a != b)
    return Rows(everywhere.reshape(n, m, *context.shape).sum(axis=repeated).reshape(n, m, -1))
