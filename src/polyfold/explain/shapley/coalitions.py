"""Full sums over coalitions: a network at all hybrids of two inputs, and the Shapley values of that.

The weight of a coalition z that holds feature i is (|z| - 1)! (n - |z|)! / n!, for what the network gains when i joins
the others. Collected by hybrids, phi_i = sum over z with i of a(|z|) f(z) - sum over z without i of b(|z|) f(z), where
a(s) = (s - 1)! (n - s)! / n! and b(s) = s! (n - s - 1)! / n!: a product of a matrix of weights with the outputs.

Hybrids come in blocks: the first features run through all their coalitions, the others are held. In a block the first
layer is made by doubling: all coalitions of k features, and the same with feature k + 1 added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids
from polyfold.program.affine import Affine, WrittenOut
from polyfold.program.program import Program, Stage

# Features of a block: it has 2^12 hybrids.
BLOCK = 12
# Floats that the hybrids of several games together may hold in one layer: 1 MB, to stay in the processor's cache.
_FLOATS = 1 << 17
# And those of a block of one game: 16 MB.
_MOST_FLOATS = 1 << 21


@dataclass(frozen=True, eq=False)
class Readout:
    """What is summed: the network's outputs, or, of some gates, what they put out times these coefficients.

    `gates` maps a stage to (width, outputs).
    """

    gates: Mapping[int, Array] | None = None


OUTPUTS = Readout()


def games(program: Program, X: Array, references: Array, features: Ids, readout: Readout = OUTPUTS) -> Array:
    """Shapley values (games, features, outputs) of X[g] against references[g], for the features that play.

    All other features are as in the reference. Exact, by the sum over all coalitions.
    """
    n = len(features)
    widest = max([1, *program.steps.widths])
    low = min(n, BLOCK, int(np.log2(max(1, _MOST_FLOATS // widest))))
    total = np.zeros((len(X), n, program.output_dim))
    if n == 0 or not len(X):
        return total
    step = max(1, _FLOATS // (2**low * widest))
    buffers = _Buffers()
    for first in range(0, len(X), step):
        part = slice(first, first + step)
        _sum_blocks(program, X[part], references[part], features, low, readout, buffers, total[part])
    return total


class _Buffers:
    """Arrays that are used again for every block: new ones would come with new pages of memory each time."""

    def __init__(self) -> None:
        self._kept: dict[int, Array] = {}

    def take(self, number: int, *shape: int) -> Array:
        """Array number so and so, for a moment of this shape, with anything in it."""
        size = int(np.prod(shape))
        if number not in self._kept or self._kept[number].size < size:
            self._kept[number] = np.empty(size)
        return self._kept[number][:size].reshape(shape)


def _sum_blocks(
    program: Program,
    X: Array,
    R: Array,
    features: Ids,
    low: int,
    readout: Readout,
    buffers: _Buffers,
    total: Array,
) -> None:
    """Adds up all blocks: the features behind the first `low` run through their coalitions one by one."""
    n = len(features)
    high = features[low:]
    for held in range(2 ** len(high)):
        tick()
        bits = (held >> np.arange(len(high)) & 1).astype(bool)
        start = R.copy()
        start[:, high[bits]] = X[:, high[bits]]
        values = _block(program, X, start, features[:low], readout, buffers)
        weights = _weights(n, low, int(bits.sum()))
        sums = np.matmul(weights, values)
        total[:, :low] += sums[:, :low]
        total[:, low:][:, bits] += sums[:, low : low + 1]
        total[:, low:][:, ~bits] -= sums[:, low + 1 :]


@lru_cache(maxsize=64)
def _weights(n: int, low: int, held: int) -> Array:
    """Rows: the weights of a block's hybrids for each of its features; for a held one that is in; for one that is out.

    Of n features in all, `held` of those that do not run are in every coalition of the block.
    """
    coalitions = np.arange(2**low)
    inside = (coalitions[None, :] >> np.arange(low)[:, None] & 1).astype(bool)
    sizes = inside.sum(axis=0) + held
    # a(s) = 1 / (s C(n, s)); b(s) = 1 / ((n - s) C(n, s)).
    with_it = np.array([0.0, *(1 / (s * comb(n, s)) for s in range(1, n + 1))])[sizes]
    without = np.array([*(1 / ((n - s) * comb(n, s)) for s in range(n)), 0.0])[sizes]
    rows = np.concatenate([np.where(inside, with_it, -without), with_it[None], without[None]])
    rows.setflags(write=False)
    return rows


def _block(program: Program, X: Array, start: Array, features: Ids, readout: Readout, buffers: _Buffers) -> Array:
    """What is read out at all hybrids of a block (games, 2^features, outputs); k's bits are coalition k.

    Apart from `program/passes/walk.py` because it is hot: values lie in buffers that all blocks share, gates work in
    place, and where gates are read out there are no outputs.
    """
    count, d = X.shape
    steps = program.steps
    inputs = _hybrids(X, start, features) if _reads_inputs_again(program) else np.zeros((count << len(features), 0))
    if not steps.steps:
        return _shaped(steps.output([inputs]), count)
    change = np.zeros((count, len(features), d))
    change[:, np.arange(len(features)), features] = (X - start)[:, features]
    affine = steps.steps[0].affine
    slopes = affine.linear([change.reshape(-1, d)]).reshape(count, len(features), -1)
    z = _doubled(affine([start]), slopes, buffers).reshape(len(inputs), -1)
    values = [inputs]
    read = np.zeros((len(inputs) if readout.gates is not None else 0, program.output_dim))
    for number, step in enumerate(steps.steps):
        tick()
        if number:
            z = _applied(step.affine, values, buffers.take(number, len(inputs), len(step.affine.bias)))
        if step.stage is not None:
            z = _gated(program.stages[step.stage], z)
            if readout.gates is not None and step.stage in readout.gates:
                read += z @ readout.gates[step.stage]
        values.append(z)
        for value in steps.last_read_by[number]:
            values[value] = inputs[:, :0]
    if readout.gates is None:
        last = buffers.take(len(steps.steps), len(inputs), program.output_dim)
        read = _applied(steps.output, values, last)
    return _shaped(read, count)


def _applied(affine: Affine, values: list[Array], out: Array) -> Array:
    """A function of the values."""
    if isinstance(affine, WrittenOut) and len(affine.blocks) == 1:
        np.matmul(values[affine.blocks[0].source], affine.blocks[0].weight.T, out=out)
        out += affine.bias
    else:
        out[...] = affine(values)
    return out


def _gated(stage: Stage, z: Array) -> Array:
    """What the gates put out, in the place of their values."""
    if stage.is_relu:
        return np.maximum(z, 0.0, out=z)
    z *= np.where(z > 0, stage.slope_on, stage.slope_off)
    return z


def _reads_inputs_again(program: Program) -> bool:
    """Whether anything but the first step reads the inputs."""
    steps = program.steps
    return any(0 in affine.sources for affine in steps.affines[1:]) or not steps.steps


def _doubled(first: Array, slopes: Array, buffers: _Buffers) -> Array:
    """first + the sum of the slopes of each coalition: (games, coalitions, width)."""
    count, n, width = slopes.shape
    sums = buffers.take(0, count, 2**n, width)
    sums[:, 0] = first
    for k in range(n):
        np.add(sums[:, : 2**k], slopes[:, k, None, :], out=sums[:, 2**k : 2 ** (k + 1)])
    return sums


def _hybrids(X: Array, start: Array, features: Ids) -> Array:
    """The hybrids themselves, for networks that read them behind the first layer too."""
    mixed = np.repeat(start[:, None, :], 2 ** len(features), axis=1)
    inside = (np.arange(2 ** len(features))[:, None] >> np.arange(len(features)) & 1).astype(bool)
    mixed[:, :, features] = np.where(inside, X[:, None, features], start[:, None, features])
    return mixed.reshape(-1, start.shape[1])


def _shaped(outputs: Array, count: int) -> Array:
    return outputs.reshape(count, -1, outputs.shape[-1])
