"""Is the imported network the original? Both are evaluated at random points; a difference is an error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyfold.errors import NetworkError, how_many
from polyfold.network.graph import Network
from polyfold.network.head import JUMPING
from polyfold.network.ops import Array, size

POINTS = 140
# Numbers computed while comparing: a network of millions of neurons is compared at fewer points.
NUMBERS = 1 << 25
FEWEST_POINTS = 2
_POINTS_FOR_HEADS = 28


def sample_points(dimension: int, count: int = POINTS, *, seed: int = 0) -> Array:
    """Input rows near and far: normal directions, lengths spread over two decades."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(count, dimension)) * 10.0 ** rng.uniform(-1, 1, size=(count, 1)))


def affordable_points(network: Network) -> int:
    """How many points the network is compared at."""
    numbers = sum(size(shape) for shape in network.shapes.values())
    return min(POINTS, max(FEWEST_POINTS, NUMBERS // numbers))


def _outputs_and_scale(network: Network, points: Array) -> tuple[Array, float]:
    """The outputs, and the largest number on the way to them; no more values are kept than have to be."""
    found: dict[str, Array] = {}
    scale = 0.0
    for name, value in network.walk(points):
        scale = max(scale, float(np.abs(value).max(initial=0.0)))
        if name in network.outputs:
            found[name] = value.reshape(len(points), -1)
    return np.concatenate([found[name] for name in network.outputs], axis=1), scale


def verify(
    network: Network,
    original: Callable[[Array], Array],
    *,
    tolerance: float,
    points: Array | None = None,
    finish: Callable[[Array], Array] | None = None,
) -> None:
    """Raise a NetworkError unless `original` gives the network's outputs at all rows of `points`.

    `finish` is applied to the network's outputs first: the output function that the original still has.
    The tolerance is relative to the largest number that the network computes on the way, because that is what
    rounding errors are relative to.
    """
    if points is None:
        points = sample_points(network.input_dim, affordable_points(network))
    outputs, scale = _outputs_and_scale(network, points)
    expected = original(points)
    actual = outputs if finish is None else finish(outputs)
    if actual.shape != expected.shape:
        raise NetworkError(
            f"the network read from {network.source} gives {how_many(actual.shape[1], 'output')}, "
            f"the original gives an array of shape {expected.shape} for {how_many(len(points), 'row')}: "
            "please report this model"
        )
    difference = np.abs(actual - expected)
    worst = float(difference.max(initial=0.0))
    if not worst <= tolerance * scale:
        row, column = np.unravel_index(int(np.argmax(difference)), difference.shape)
        raise NetworkError(
            f"the network read from {network.source} is not the original: "
            f"output {column} differs by {worst:.3g} "
            f"({actual[row, column]:.9g} instead of {expected[row, column]:.9g}) at a random point; "
            "please report this model"
        )


def verify_head(
    network: Network,
    scores: Callable[[Array], Array],
    outputs: Callable[[Array], Array],
    *,
    tolerance: float,
) -> None:
    """Raise a NetworkError unless the network's head makes the original's outputs of the original's own scores.

    Behind other ops, an argmax is not compared: where these round, it may tie in the original and nowhere else.
    """
    head = network.head
    if head is None or any(op.kind in JUMPING for output in head.outputs for op in output.ops[1:]):
        return
    points = sample_points(network.input_dim, min(_POINTS_FOR_HEADS, affordable_points(network)))
    given = scores(points)
    actual, expected = head(given), outputs(points)
    scale = max(1.0, float(np.abs(given).max(initial=0.0)))
    if actual.shape != expected.shape or not np.abs(actual - expected).max(initial=0.0) <= tolerance * scale:
        raise NetworkError(
            f"the head read from {network.source} ({head}) does not give the original's outputs; please report this "
            "model"
        )
