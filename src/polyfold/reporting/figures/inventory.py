"""What a network is made of: its operations in order, with the numbers that they hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold.network.graph import Network
from polyfold.network.ops.op import Shape
from polyfold.network.ops.switches import Clamp, Rectify

# Slopes and limits of switches are chosen, not trained.
_SWITCHES = (Rectify, Clamp)


@dataclass(frozen=True)
class Item:
    """One operation: its name and kind, the shape of what it puts out, and its weights if it has any.

    `zeros` is how many of the `weights` are zero; `least` and `greatest` are None where there are no weights.
    """

    name: str
    kind: str
    shape: Shape
    weights: int
    zeros: int
    least: float | None
    greatest: float | None


def inventory(network: Network) -> tuple[Item, ...]:
    """The operations of a network, in order.

    >>> from polyfold.network.load import load
    >>> [(item.name, item.kind, item.weights) for item in inventory(load([([[1.0], [-1.0]], [0.0, 2.0])]))]
    [('linear1', 'Linear', 4)]
    """
    found = []
    for node in network.nodes:
        constants = () if isinstance(node.op, _SWITCHES) else node.op.constants
        numbers = np.concatenate([values.ravel() for values in constants] or [np.zeros(0)])
        found.append(
            Item(
                node.name,
                type(node.op).__name__,
                network.shapes[node.name],
                len(numbers),
                int((numbers == 0).sum()),
                float(numbers.min()) if len(numbers) else None,
                float(numbers.max()) if len(numbers) else None,
            )
        )
    return tuple(found)
