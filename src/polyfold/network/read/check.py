"""Is the imported network the original? Both are evaluated at many points; a difference is an error.

How much they may differ is found out by shaking: every number that a node reads is changed by a small part of itself,
up or down, and what comes of it says how rounding moves each output at each point. So an output is held to its own
size, however large others are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import NetworkError, how_many
from polyfold.exact.tolerances import IMPORT_FLOAT16, IMPORT_FLOAT32, SHAKEN
from polyfold.network.graph import Network
from polyfold.network.head import JUMPING
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.op import Op, size
from polyfold.network.ops.spatial import Combine
from polyfold.network.ops.unrounded import Unrounded
from polyfold.network.read.telling_points import both_sides, corners, where_numbers_fit

POINTS = 140
# Numbers computed while comparing: a network of millions of neurons is compared at fewer points.
NUMBERS = 1 << 25
FEWEST_POINTS = 2
_POINTS_FOR_HEADS = 28

# By how coarse the original's floats are: numbers that are surely no infinite ones there.
_LARGEST = ((IMPORT_FLOAT16, 3e4), (IMPORT_FLOAT32, 1e30), (0.0, 1e300))
# How often the network is shaken, at all points and then again where it differs.
_SHAKES, _MORE_SHAKES = 3, 20
# Coordinates of a point that an error shows.
_SHOWN = 6


def sample_points(dimension: int, count: int = POINTS, *, seed: int = 0) -> Array:
    """Input rows near and far: normal directions, lengths spread over two decades."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(count, dimension)) * 10.0 ** rng.uniform(-1, 1, size=(count, 1)))


def affordable_points(network: Network) -> int:
    """How many points the network is compared at."""
    numbers = sum(size(shape) for shape in network.shapes.values())
    return min(POINTS, max(FEWEST_POINTS, NUMBERS // numbers))


def telling_points(network: Network, largest: float = np.inf) -> Array:
    """Points of many directions and lengths, corners, and points on both sides of gates.

    Left out are points at which a number on the way is larger than `largest`; if nothing is left, there is the origin.
    """
    count = affordable_points(network)
    points = np.concatenate([sample_points(network.input_dim, count), corners(network.input_dim, count // 3)])
    points = np.concatenate([points, both_sides(network, points, count)])
    fitting = where_numbers_fit(network, points, largest)
    return fitting if len(fitting) else np.zeros((1, network.input_dim))


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
    The tolerance says by which part of itself a number on the way may be off.
    """
    if points is None:
        # A number that is too large for the original's floats is an infinite one there.
        points = telling_points(network, next(size for coarse, size in _LARGEST if tolerance >= coarse))
    compared = _Outputs(network, finish)
    actual, expected = compared.at(points), original(points)
    if actual.shape != expected.shape:
        raise NetworkError(
            f"the network read from {network.source} gives {how_many(actual.shape[1], 'output')}, "
            f"the original gives an array of shape {expected.shape} for {how_many(len(points), 'row')}: "
            "please report this model"
        )
    with np.errstate(invalid="ignore"):
        # Numbers may be too large for floats even at the origin: an infinite output tells nothing.
        difference = np.where(np.isfinite(actual), np.abs(actual - expected), 0.0)
    if not difference.any():
        return
    # Numbers that cancel when a model is read (the mean and the offset of a normalisation) cannot be shaken any more:
    # an output may always be off by a part of what it usually is. What a function like softmax makes of scores is
    # rounded relative to the largest of its results.
    usual = np.maximum(np.abs(actual), np.median(np.abs(actual), axis=0))
    sizes = usual if finish is None else usual.max(axis=1, keepdims=True)
    allowed = SHAKEN * compared.shaken(points, tolerance, _SHAKES) + tolerance * sizes
    rows = np.flatnonzero(~(difference <= allowed).all(axis=1))
    if not len(rows):
        return
    allowed[rows] = np.maximum(allowed[rows], SHAKEN * compared.shaken(points[rows], tolerance, _MORE_SHAKES))
    wrong = ~(difference <= allowed)
    if wrong.any():
        _refuse(network, points, actual, expected, np.where(wrong, difference, -1.0))


class _Outputs:
    """The outputs of a network behind a function, and how they move when it is shaken."""

    def __init__(self, network: Network, finish: Callable[[Array], Array] | None) -> None:
        self.network = network
        self.finish = finish

    def at(self, points: Array, reads: Callable[[Op, Array], Array] | None = None) -> Array:
        found = {
            name: value.reshape(len(points), -1)
            for name, value in self.network.walk(points, reads)
            if name in self.network.outputs
        }
        outputs = np.concatenate([found[name] for name in self.network.outputs], axis=1)
        return outputs if self.finish is None else self.finish(outputs)

    def shaken(self, points: Array, part: float, times: int) -> Array:
        """How far each output moves at each point, at most, when all that is read is off by this part of itself."""
        rng = np.random.default_rng(len(points))
        outputs = self.at(points)
        moved = np.zeros(outputs.shape)

        def off(op: Op, value: Array) -> Array:
            sizes = value
            if _interpolates(op):
                # Runtimes compute its weights from coordinates: a weight that should be zero is off by a part of one.
                sizes = np.abs(value).max(axis=tuple(range(1, value.ndim)), initial=0.0, keepdims=True)
            return np.asarray(value + part * sizes * (2.0 * rng.integers(0, 2, size=value.shape) - 1.0))

        for _ in range(times):
            moved = np.maximum(moved, np.abs(self.at(points, off) - outputs))
        return moved


def _interpolates(op: Op) -> bool:
    """Whether an op may interpolate: with weights that are no sums or averages, some of which are zero."""
    if isinstance(op, Unrounded):
        return isinstance(op.op, Linear)
    return isinstance(op, Combine) and not np.isin(op.matrix.data, (-1.0, 0.0, 1.0)).all()


def _refuse(network: Network, points: Array, actual: Array, expected: Array, difference: Array) -> None:
    worst = int(np.argmax(np.where(np.isnan(difference), np.inf, difference)))
    row, column = np.unravel_index(worst, difference.shape)
    shown = ", ".join(f"{number:.6g}" for number in points[row, :_SHOWN])
    more = ", ..." if points.shape[1] > _SHOWN else ""
    raise NetworkError(
        f"the network read from {network.source} is not the original: "
        f"output {column} differs by {difference[row, column]:.3g} "
        f"({actual[row, column]:.9g} instead of {expected[row, column]:.9g}) at the input [{shown}{more}]; "
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
    finite = np.isfinite(given).all(axis=1)
    if not finite.any():
        return
    points, given = points[finite], given[finite]
    actual, expected = head(given), outputs(points)
    scale = max(1.0, float(np.abs(given).max(initial=0.0)))
    if actual.shape != expected.shape or not np.abs(actual - expected).max(initial=0.0) <= tolerance * scale:
        raise NetworkError(
            f"the head read from {network.source} ({head}) does not give the original's outputs; please report this "
            "model"
        )
