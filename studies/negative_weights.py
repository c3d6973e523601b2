"""How many of a neuron's incoming weights are negative, in the trained networks that come with polyfold.

    python -m studies.negative_weights [--json]

"Notes on the Symmetries of 2-Layer ReLU-Networks" (section 4) remarks that a neuron of a deeper layer whose incoming
weights are all positive never switches, because what it reads is never negative, and that this allows for symmetries
that no degenerate weights are needed for. In a simple network for MNIST with He initialisation the authors found about
half of every neuron's incoming weights negative, which seems to exclude such neurons. Here that is counted. Biases are
no incoming weights, and a neuron of a convolution is a channel.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.datasets import iris
from polyfold.datasets.convolutional import mnist_conv
from polyfold.datasets.digits import mnist_he, mnist_l1
from polyfold.network import Network, load
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.spatial import Convolution


@dataclass(frozen=True)
class Layer:
    """One layer's neurons: the share of negative weights among those that come in, and how much they weigh.

    `share` counts weights; `part` is the sum of the absolute negative ones divided by that of all. Both are (mean,
    smallest, largest) over the neurons. `none_negative` counts neurons without a negative weight.
    """

    network: str
    layer: str
    neurons: int
    weights: int
    share: tuple[float, float, float]
    part: tuple[float, float, float]
    none_negative: int


def trained_networks() -> dict[str, Network]:
    """The trained networks that come with polyfold."""
    return {
        "mnist_he": load(mnist_he()),
        "mnist_l1": load(mnist_l1()),
        "mnist_conv": mnist_conv(),
        "iris": load(iris()),
    }


def negative_weights(networks: Mapping[str, Network]) -> list[Layer]:
    """All layers with weights, the last one too."""
    return [
        _layer(name, node.name, node.op.weight if isinstance(node.op, Linear) else node.op.kernel)
        for name, network in networks.items()
        for node in network.nodes
        if isinstance(node.op, Linear | Convolution)
    ]


def _layer(network: str, name: str, weights: Array) -> Layer:
    incoming = weights.reshape(len(weights), -1)
    share = (incoming < 0).mean(axis=1)
    negative, total = np.where(incoming < 0, -incoming, 0.0).sum(axis=1), np.abs(incoming).sum(axis=1)
    # A neuron that reads nothing has no negative part either.
    part = np.divide(negative, total, out=np.zeros(len(total)), where=total > 0)
    none = int((~(incoming < 0).any(axis=1)).sum())
    return Layer(network, name, len(incoming), incoming.shape[1], _spread(share), _spread(part), none)


def _spread(values: Array) -> tuple[float, float, float]:
    return float(values.mean()), float(values.min()), float(values.max())


def table(layers: list[Layer]) -> str:
    """The study for people."""
    head = "network     layer          neurons  weights   negative: mean  min   max   by size: mean  min   max   none"
    lines = [head]
    for one in layers:
        share, part = (f"{mean:6.2f} {low:5.2f} {high:5.2f}" for mean, low, high in (one.share, one.part))
        lines.append(
            f"{one.network:11} {one.layer:14} {one.neurons:7} {one.weights:8}         {share}        {part}  "
            f"{one.none_negative:5}"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the study."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.negative_weights",
        description="How many of a neuron's incoming weights are negative, in the bundled trained networks.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    layers = negative_weights(trained_networks())
    facts: dict[str, Any] = {"layers": [asdict(one) for one in layers]}
    print(json.dumps(facts, allow_nan=False) if options.json else table(layers))


if __name__ == "__main__":
    main()
