"""How importers write a Network: one value after another, under unique names, without what nothing reads.

A Value stands for a tensor of the user's model. If it is `batched`, the model's tensor has a batch axis in
front that our shapes leave out; otherwise the whole tensor is one sample's value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from polyfold.errors import NetworkError, ShapeError, UnsupportedOpError, how_many
from polyfold.network.graph import Network, Node, Port
from polyfold.network.head import Head, HeadOp, OutputHead
from polyfold.network.ops import unrounded
from polyfold.network.ops.linear import Linear, Scale
from polyfold.network.ops.movement import Reshape, Take
from polyfold.network.ops.op import Op, Shape, constant, size

WHERE_TO_LOOK = "see docs/networks.md for what can be read and how to rewrite the rest"

# So many nodes are named in a note.
_NAMED = 3

MIXES_THE_BATCH = "it mixes the batch axis (the first one) with others, so rows would depend on each other"


@dataclass(frozen=True)
class Scores:
    """What the original calls the tensor in front of its head, how it holds it, and the head's first op."""

    tap: str
    batch_axis: int
    batched: bool
    node: str
    op: str


@dataclass(frozen=True)
class Value:
    """A computed tensor: its name in the Network, its shape there, and how the original holds it."""

    name: str
    shape: Shape
    batched: bool = True
    batch_axis: int = 0
    """Which axis of the original tensor is the batch axis, if it has one."""
    head: tuple[HeadOp, ...] = ()
    """What the original does behind the named value to get this tensor; the shape is the tensor's."""
    scores: Scores | None = None
    """The tensor in front of the head, if there is one."""

    @property
    def rank(self) -> int:
        """The number of axes of the original tensor, its batch axis included."""
        return len(self.shape) + self.batched

    def full_shape(self, batch: int) -> Shape:
        """The original tensor's shape for so many samples."""
        return (*self.shape[: self.batch_axis], batch, *self.shape[self.batch_axis :]) if self.batched else self.shape


# Numbers of the model: floats, or objects where floats cannot hold them (exact/reals.py).
Constant: TypeAlias = npt.NDArray[Any]
Operand: TypeAlias = Value | Constant


class Builder:
    """Collects inputs and nodes; `finish` gives the checked Network."""

    def __init__(self, source: str, notes: Sequence[str] = ()) -> None:
        self.source = source
        self.notes = list(notes)
        self._rounded: dict[str, str] = {}
        self._ports: list[Port] = []
        self._nodes: list[Node] = []
        self._by_name: dict[str, Node] = {}
        self._names: set[str] = set()
        self._shapes: dict[str, Shape] = {}

    def port(self, name: str, shape: Shape, *, batched: bool = True) -> Value:
        """A new input of the network."""
        if 0 in shape:
            raise NetworkError(f"input {name!r} has shape {shape}, which holds no numbers: a network needs inputs")
        name = new_name(name, self._names)
        self._ports.append(Port(name, shape))
        return Value(name, shape, batched)

    def emit(self, name: str, op: Op, *inputs: Value) -> Value:
        """A new node; a name that is taken gets `#2`, `#3`, ..."""
        layer = op.exactly if isinstance(op, unrounded.Unrounded) else op
        if isinstance(layer, Linear) and layer.weight.shape[1] == 0 and inputs[0].shape[-1:] == (0,):
            # A layer behind one of width zero adds nothing to its biases.
            lead = inputs[0].shape[:-1]
            same = self.constant(name, np.broadcast_to(layer.bias, (*lead, *layer.bias.shape)))
            return replace(inputs[0], name=same.name, shape=same.shape)
        name = new_name(name, self._names)
        try:
            shape = op.infer(*(value.shape for value in inputs))
        except ShapeError as error:
            raise NetworkError(f"node {name!r} ({type(op).__name__}): {error}") from None
        node = self._by_name[name] = Node(name, op, tuple(value.name for value in inputs))
        self._nodes.append(node)
        self._shapes[name] = shape
        return Value(name, shape, inputs[0].batched, batch_axis=inputs[0].batch_axis)

    def constant(self, name: str, numbers: Constant) -> Value:
        """A value that is the same for all inputs: zero times some input, and the numbers added."""
        port = self._ports[0]
        anything = np.zeros(numbers.shape, dtype=np.int64)
        some = self.emit(f"{name}.input", Take(anything), Value(port.name, port.shape, batched=False))
        zero = self.emit(f"{name}.zero", Scale(constant(0.0)), some)
        return self.emit(name, unrounded.shift(numbers), zero)

    def node(self, name: str) -> Node | None:
        """The node that computes a value; None for an input."""
        return self._by_name.get(name)

    def shape(self, name: str) -> Shape:
        """The shape of a node's value."""
        return self._shapes[name]

    def rounded(self, name: str, op: str, why: str) -> None:
        """Say that the constants of a node are what floats make of them."""
        self._rounded.setdefault(f"{name!r} ({op})", why)

    def note(self, sentence: str) -> None:
        """Say of the network where it is not what the model is."""
        self.notes.append(sentence)

    def taken(self, name: str) -> bool:
        """Whether an input or a node has this name."""
        return name in self._names

    def finish(self, outputs: Sequence[Value]) -> Network:
        """The network that computes these values, without the nodes that none of them needs."""
        needed = {value.name for value in outputs}
        kept: list[Node] = []
        for node in reversed(self._nodes):
            if node.name in needed:
                kept.append(node)
                needed.update(node.inputs)
        shapes = {port.name: port.shape for port in self._ports} | self._shapes
        heads = [OutputHead(size(shapes[value.name]), value.head, value.shape) for value in outputs]
        return Network(
            inputs=tuple(self._ports),
            nodes=tuple(reversed(kept)),
            outputs=tuple(value.name for value in outputs),
            source=self.source,
            head=Head.of(heads),
            notes=(*dict.fromkeys(self.notes), *self._about_rounding()),
        )

    def _about_rounding(self) -> list[str]:
        """One sentence on the constants that were rounded, if any were."""
        sentences = []
        if self._rounded:
            sentences.append(
                f"constants of {how_many(len(self._rounded), 'node')} are what floats make of them, so this is another "
                f"function than the model's in real arithmetic, by how much is not known: {_listed(self._rounded)}"
            )
        return sentences


def new_name(name: str, taken: set[str], mark: str = "#") -> str:
    """This name, or the first of `name#2`, `name#3`, ... that nothing has; it is taken from now on.

    >>> new_name("relu", {"relu", "relu#2"})
    'relu#3'
    """
    if name in taken:
        name = next(other for k in count(2) if (other := f"{name}{mark}{k}") not in taken)
    taken.add(name)
    return name


def _listed(nodes: Mapping[str, str]) -> str:
    named = [f"{node}: {word}" for node, word in list(nodes.items())[:_NAMED]]
    return "; ".join(named) + (f"; and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else "")


@dataclass(frozen=True)
class Site:
    """Where a translation is happening: the user's node, its operator, and the builder to write to."""

    builder: Builder
    name: str
    op: str
    batch: int = field(default=1, kw_only=True)
    """The size that the batch axis has in the original's constants and reshapes."""
    single: bool = field(default=False, kw_only=True)
    """Whether the batch axis is fixed to one sample, so that it may be treated like any other axis."""

    def emit(self, op: Op, *inputs: Value, part: str = "") -> Value:
        """A node under the user's name, or a helper node in front of or behind it."""
        return self.builder.emit(f"{self.name}.{part}" if part else self.name, op, *inputs)

    def unbatch(self, value: Value) -> Value:
        """The value with its batch axis of length one as an ordinary axis; refused if it may be longer."""
        if not value.batched:
            return value
        if not self.single:
            self.refuse(MIXES_THE_BATCH)
        shape = value.full_shape(1)
        reshaped = self.builder.emit(f"{self.name}.sample", Reshape(shape), value)
        return Value(reshaped.name, shape, batched=False)

    def refuse(self, reason: str) -> NoReturn:
        """Stop with an error that names the node and its operator."""
        raise UnsupportedOpError(
            f"node {self.name!r} ({self.op}) is not supported: {reason}; {WHERE_TO_LOOK}; "
            f"load(..., until={self.name!r}) reads the part in front of it"
        )
