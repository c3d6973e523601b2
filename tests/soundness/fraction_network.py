"""Networks that are built op by op while an oracle evaluates every op in `fractions.Fraction`, slopes included.

The oracle is written from the ops' definitions, entry by entry, and shares no code with the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from polyfold.network import Network
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Add, Linear, Scale, Shift
from polyfold.network.ops.movement import Concat
from polyfold.network.ops.op import Op, constant
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.network.ops.switches import Largest, Rectify
from polyfold.network.read.builder import Builder, Value

Jet = list[Fraction]  # a value, and its slope along every input


def times(factor: Any, jet: Jet) -> Jet:
    return [Fraction(factor) * x for x in jet]


def total(jets: Sequence[Jet], size: int) -> Jet:
    return [sum((jet[k] for jet in jets), Fraction(0)) for k in range(size)]


@dataclass
class Evaluated:
    """All values of a network at one point: flattened lists of jets, by the names of nodes."""

    dim: int
    jets: dict[str, list[Jet]]
    switched: dict[str, list[Fraction]] = field(default_factory=dict)
    """What every rectifier reads."""
    ties: bool = False
    """Whether some rectifier reads a zero that is not zero all around, or two members of a pool are equal."""

    def node(self, name: str, op: Op, inputs: list[tuple[str, tuple[int, ...]]]) -> None:
        values = [self.jets[each] for each, _ in inputs]
        shapes = [shape for _, shape in inputs]
        self.jets[name] = self._value(name, op, values, shapes)

    def _value(self, name: str, op: Op, values: list[list[Jet]], shapes: list[tuple[int, ...]]) -> list[Jet]:
        n = 1 + self.dim
        x = values[0]
        if isinstance(op, Rectify):
            self.switched[name] = [jet[0] for jet in x]
            self.ties |= any(jet[0] == 0 and any(jet) for jet in x)
            on, off = (np.broadcast_to(slope, shapes[0]).ravel().tolist() for slope in (op.slope_on, op.slope_off))
            return [times(a if jet[0] > 0 else b, jet) for a, b, jet in zip(on, off, x, strict=True)]
        if isinstance(op, Scale):
            return [times(f, jet) for f, jet in zip(np.broadcast_to(op.factor, shapes[0]).ravel(), x, strict=True)]
        if isinstance(op, Shift):
            offsets = np.broadcast_to(op.offset, shapes[0]).ravel().tolist()
            return [[jet[0] + Fraction(b), *jet[1:]] for b, jet in zip(offsets, x, strict=True)]
        if isinstance(op, Linear):
            inputs = op.weight.shape[1]
            groups = [x[k : k + inputs] for k in range(0, len(x), inputs)]
            return [
                total(
                    [
                        *(times(w, jet) for w, jet in zip(row, group, strict=True)),
                        [Fraction(b)] + [Fraction(0)] * self.dim,
                    ],
                    n,
                )
                for group in groups
                for row, b in zip(op.weight.tolist(), op.bias.tolist(), strict=True)
            ]
        if isinstance(op, Add):
            return [total(pair, n) for pair in zip(*values, strict=True)]
        if isinstance(op, Concat):
            assert op.axis == 0
            return [jet for value in values for jet in value]
        if isinstance(op, Combine):
            dense = op.matrix.toarray().tolist()
            return [total([times(w, jet) for w, jet in zip(row, x, strict=True) if w], n) for row in dense]
        if isinstance(op, Largest):
            return [
                self._largest([x[k] for k in members if k >= 0])
                for members in op.members.reshape(-1, op.members.shape[-1])
            ]
        if isinstance(op, Convolution):
            assert not op.bias.any()
            out: list[list[Jet]] = [[] for _ in range(int(np.prod(op.infer(shapes[0]))))]
            for entry, place, weight in taps(op.kernel, op.window, shapes[0][1:]):
                out[place].append(times(weight, x[entry]))
            return [total(terms, n) for terms in out]
        if isinstance(op, TransposedConvolution):
            out = [[] for _ in range(int(np.prod(op.infer(shapes[0]))))]
            for entry, place, weight in taps(op.kernel, op.window, op.space):
                out[entry].append(times(weight, x[place]))
            return [total(terms, n) for terms in out]
        raise AssertionError(type(op).__name__)

    def _largest(self, jets: list[Jet]) -> Jet:
        best = max(jet[0] for jet in jets)
        winners = [jet for jet in jets if jet[0] == best]
        self.ties |= any(jet != winners[0] for jet in winners)
        return winners[0]


def taps(kernel: Any, window: Window, space: tuple[int, ...]) -> Any:
    """(entry of the input, entry of the output, weight) of a convolution in one spatial axis, biases apart."""
    (length,), (stride,), (dilation,), ((before, after),) = space, window.stride, window.dilation, window.padding
    outputs, inputs, size = kernel.shape
    places = (length + before + after - dilation * (size - 1) - 1) // stride + 1
    for channel, place, own, k in product(range(outputs), range(places), range(inputs), range(size)):
        at = place * stride + k * dilation - before
        if 0 <= at < length:
            group = channel // (outputs // window.groups)
            yield (group * inputs + own) * length + at, channel * places + place, float(kernel[channel, own, k])


class FractionNetwork:
    """A network over `length` inputs in one channel, and its values at given points."""

    def __init__(self, points: Sequence[Sequence[float]]) -> None:
        self.points = [list(map(Fraction, point)) for point in points]
        self._builder = Builder("test")
        length = len(self.points[0])
        self.input = self._builder.port("x", (1, length))
        units = [[Fraction(int(i == k)) for k in range(length)] for i in range(length)]
        self.at = [
            Evaluated(length, {"x": [[x, *unit] for x, unit in zip(point, units, strict=True)]})
            for point in self.points
        ]
        self._nodes: list[tuple[str, Op, list[tuple[str, tuple[int, ...]]]]] = []

    def add(self, name: str, op: Op, *inputs: Value) -> Value:
        """One more op, evaluated at all points."""
        value = self._builder.emit(name, op, *inputs)
        node = (value.name, op, [(each.name, each.shape) for each in inputs])
        self._nodes.append(node)
        for evaluated in self.at:
            evaluated.node(*node)
        return value

    def evaluate(self, point: Sequence[Fraction]) -> Evaluated:
        """All values at another point."""
        length = len(point)
        units = [[Fraction(int(i == k)) for k in range(length)] for i in range(length)]
        found = Evaluated(length, {"x": [[x, *unit] for x, unit in zip(point, units, strict=True)]})
        for node in self._nodes:
            found.node(*node)
        return found

    def finish(self, output: Value) -> Network:
        return self._builder.finish([output])


def convolution(kernel: Any, *, padding: int = 0, groups: int = 1) -> Convolution:
    weight = constant(kernel)
    return Convolution(weight, constant(np.zeros(len(weight))), Window((1,), ((padding, padding),), (1,), groups))


def spread(kernel: Any, length: int) -> TransposedConvolution:
    """To values of this length."""
    weight = constant(kernel)
    return TransposedConvolution(weight, constant(np.zeros(weight.shape[1])), Window((1,), ((0, 0),), (1,)), (length,))


def means(channels: int, length: int, window: int) -> Combine:
    """Averages of neighbours, as the float 1/window weighs them."""
    places = length - window + 1
    rows = np.zeros((channels * places, channels * length))
    for channel, place in product(range(channels), range(places)):
        first = channel * length + place
        rows[channel * places + place, first : first + window] = 1 / window
    return Combine(sparse.csr_array(rows), (channels, places))


def pool(channels: int, length: int, window: int) -> Largest:
    """The largest of neighbours."""
    places = length - window + 1
    first = np.arange(channels)[:, None, None] * length + np.arange(places)[None, :, None]
    return Largest(first + np.arange(window))


RELU = Rectify(constant(1.0), constant(0.0))
LEAKY = Rectify(constant(1.0), constant(0.1))
