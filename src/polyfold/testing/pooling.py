"""Networks with pools: some neurons pass on the largest of their group, as nn.MaxPool and torch.maximum do."""

from __future__ import annotations

import numpy as np

from polyfold.network.ops.linear import Linear
from polyfold.network.ops.movement import Take
from polyfold.network.ops.switches import Clamp, Maximum, Minimum, Rectify
from polyfold.network.read.builder import Builder, Value
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.testing.networks import Draft


def pooled(rng: np.random.Generator, draft: Draft) -> Program:
    """A draft of plain layers with one of its activations exchanged for a pool, a minimum or a clamp.

    A pool passes on fewer values than it gets: the next layer then loses the columns that nothing feeds.
    """
    exchanged = int(rng.integers(len(draft.stages)))
    builder = Builder("testing")
    value = builder.port("input", (draft.input_dim,))
    for k, stage in enumerate(draft.stages):
        value = builder.emit("layer", _layer(draft, k, value), value)
        if k == exchanged:
            value = _exchange(rng, builder, value)
        else:
            value = builder.emit("relu", Rectify(stage.slope_on, stage.slope_off), value)
    return lower(builder.finish([builder.emit("layer", _layer(draft, len(draft.stages), value), value)]))


def _layer(draft: Draft, k: int, value: Value) -> Linear:
    affine = draft.affines[k]
    return Linear(np.ascontiguousarray(affine.weights[k][:, : value.shape[0]]), affine.bias)


def _exchange(rng: np.random.Generator, builder: Builder, value: Value) -> Value:
    (width,) = value.shape
    if width == 1 or rng.random() < 0.25:
        # A clamp makes two gates of a neuron, with parallel walls: half of the neurons are enough.
        kept = builder.emit("kept", Take(np.arange(max(1, width // 2))), value)
        return builder.emit("clamp", Clamp(-1.0, 0.5), kept)
    # Windows of two or three neighbours that may overlap: an overlap makes comparisons that depend on each other. No
    # more of them than take as many gates as the neurons would.
    window = min(width, int(rng.integers(2, 4)))
    starts = np.arange(0, width - window + 1, int(rng.integers(1, window + 1)))[: width // (window - 1)]
    members = [builder.emit("member", Take(starts + offset), value) for offset in range(window)]
    op = Maximum() if rng.random() < 0.75 else Minimum()
    largest = members[0]
    for member in members[1:]:
        largest = builder.emit("pool", op, largest, member)
    return largest
