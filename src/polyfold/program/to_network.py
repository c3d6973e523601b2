"""From an ExactProgram back to a Network, under the names that its neurons had.

A stage becomes, for every node of the user's that has gates in it, a linear node for every source that these read,
their sum, and a switching node. A chain of layers comes back as a chain of layers, branches come back as branches.
"""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Array
from polyfold.exact.rational_arrays import nearest
from polyfold.network.graph import Network, Node
from polyfold.network.ops.linear import Add, Linear
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import constant, size
from polyfold.network.ops.switches import Rectify
from polyfold.network.read.builder import Builder, Value
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows


def to_network(program: ExactProgram) -> Network:
    """The network with the floats nearest to all coefficients; nothing is rounded if the program is `in_floats`.

    >>> from polyfold.program.exact_program import from_layers
    >>> network = to_network(from_layers([([[1, -1]], [0]), ([[2]], [1])]))
    >>> [node.name for node in network.nodes], network([[3, 1]]).tolist()
    (['linear1', 'relu1', 'linear2'], [[5.0]])
    """
    frame = program.frame
    builder = Builder(frame.source)
    reserved = {name for name, _ in frame.outputs}
    sources = [_input(program, builder)]
    for stage in program.stages:
        sources.append(_stage(stage, frame.feeds, reserved, builder, sources))
    return _with_head(_named(_outputs(program, builder, sources), program), program)


def _input(program: ExactProgram, builder: Builder) -> Value:
    """All inputs as one vector."""
    flat = []
    for port in program.frame.inputs:
        value = builder.port(port.name, port.shape)
        if len(port.shape) != 1:
            value = builder.emit(f"{port.name}.flat", Reshape((size(port.shape),)), value)
        flat.append(value)
    return flat[0] if len(flat) == 1 else builder.emit("inputs", Concat(0), *flat)


def _stage(
    stage: ExactStage, feeds: dict[str, str], reserved: set[str], builder: Builder, sources: list[Value]
) -> Value:
    """All gates of a stage: one switching node for every node of the user's that has some of them."""
    nodes = list(dict.fromkeys(origin.node for origin in stage.origins))
    gates = [np.flatnonzero([origin.node == node for origin in stage.origins]) for node in nodes]
    values = [
        _switches(stage.take(some), node, feeds, reserved, builder, sources)
        for node, some in zip(nodes, gates, strict=True)
    ]
    if len(values) == 1:
        return values[0]
    together = builder.emit("+".join(nodes), Concat(0), *values)
    order = np.concatenate(gates)
    if (np.diff(order) == 1).all():
        return together
    return builder.emit(f"{'+'.join(nodes)}.in_order", Take(np.argsort(order)), together)


def _switches(
    stage: ExactStage,
    name: str,
    feeds: dict[str, str],
    reserved: set[str],
    builder: Builder,
    sources: list[Value],
) -> Value:
    """The gates of one node."""
    before = feeds.get(name, f"{name}.linear")
    if before in reserved or builder.taken(before):
        before = f"{name}.linear"
    if name in reserved:
        name = f"{name}.gates"
    z = _affine(stage.rows, before, builder, sources)
    # ReLUs of one slope are written with one number, as a user would.
    on, off = (_uniform(nearest(slope)) for slope in (stage.slope_on, stage.slope_off))
    return builder.emit(name, Rectify(constant(on), constant(off)), z)


def _affine(rows: RationalRows, name: str, builder: Builder, sources: list[Value]) -> Value:
    """The sum of all terms; its last node bears the name."""
    bias = nearest(rows.bias)
    terms = [(source, matrix) for source, matrix in rows.terms.items() if matrix.any()]
    if not terms:
        return builder.emit(
            name, Linear(constant(np.zeros((rows.size, sources[0].shape[0]))), constant(bias)), sources[0]
        )
    total: Value | None = None
    for number, (source, matrix) in enumerate(terms):
        last = number == len(terms) - 1
        part = name if last and total is None else f"{name}.of_{sources[source].name}"
        offset = bias if total is None else np.zeros(rows.size)
        value = builder.emit(part, Linear(constant(nearest(matrix)), constant(offset)), sources[source])
        total = value if total is None else builder.emit(name if last else f"{part}.sum", Add(), total, value)
    assert total is not None
    return total


def _outputs(program: ExactProgram, builder: Builder, sources: list[Value]) -> Network:
    outputs = program.frame.outputs
    if len(outputs) == 1 and len(outputs[0][1]) == 1:
        return builder.finish([_affine(program.output, outputs[0][0], builder, sources)])
    together = _affine(program.output, "outputs", builder, sources)
    found, start = [], 0
    for name, shape in outputs:
        index = np.arange(start, start + size(shape)).reshape(shape)
        found.append(builder.emit(name, Take(index), together))
        start += size(shape)
    return builder.finish(found)


def _named(network: Network, program: ExactProgram) -> Network:
    """Outputs under the names that they had, also where helper nodes came first; those get the outputs' other names."""
    taken = {port.name for port in network.inputs}
    for number, (wanted, _) in enumerate(program.frame.outputs):
        given = network.outputs[number]
        if wanted not in taken and wanted != given:
            network = _exchanged(network, {given: wanted, wanted: given})
        taken.add(wanted)
    return network


def _exchanged(network: Network, names: dict[str, str]) -> Network:
    def new(name: str) -> str:
        return names.get(name, name)

    nodes = tuple(Node(new(node.name), node.op, tuple(map(new, node.inputs))) for node in network.nodes)
    outputs = tuple(map(new, network.outputs))
    return Network(network.inputs, nodes, outputs, network.source, network.head, network.notes)


def _with_head(network: Network, program: ExactProgram) -> Network:
    """The head that the network had."""
    frame = program.frame
    return Network(network.inputs, network.nodes, network.outputs, frame.source, frame.head, frame.notes)


def _uniform(slopes: Array) -> Array | float:
    return float(slopes[0]) if (slopes == slopes[0]).all() else slopes
