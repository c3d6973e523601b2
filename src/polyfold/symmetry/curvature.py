"""flatness: how curved the loss is in each layer's weights, by a plain trace and in forms that no rescaling changes.

Inside a cell the outputs are linear in one layer's weights W: a change of W changes them by J dW h, where h is what the
layer reads and J the outputs' derivative by its pre-activations. So the Hessian of the loss in W is the mean of
(J' G J) kron (h h'), G being the loss's second derivative by the outputs, and every sum below is computed from J, G
and h without writing a Hessian down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.clock import Report, running, tick
from polyfold._base.inputs import class_numbers, rows_of
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Flags
from polyfold.engine.source import SourceLike
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.rational_arrays import nearest
from polyfold.program.exact_program import ExactProgram
from polyfold.program.passes.bounded_layers import bounded_pass, in_floats
from polyfold.symmetry.exact_layers import evidence_for, exactly

Loss = Literal["squared", "cross_entropy"]
LOSSES = get_args(Loss)
# How many derivatives are held at once: of every output by every entry of the widest layer, for each input.
_BATCH = 1 << 19
# How many inputs near walls are looked at in rationals at once.
_EXACT = 16


@dataclass(frozen=True)
class Flatness(Rows):
    """Second derivatives of the loss in the weights of each hidden layer and of the output layer, biases apart.

    H[s t, s' t'] is the derivative by the weights of neuron s on entry t and of s' on t', and W the weights.

    Attributes
    ----------
    loss : float
        The loss itself.
    trace : tuple of float
        The trace of H. It changes when neurons are rescaled, though the function does not.
    relative : tuple of float
        The sum over s, s' of <W[s], W[s']> trace H[s, s']: relative flatness (Petzka et al. 2021). It stays the same
        when whole layers are multiplied by factors, or the layer's own neurons each by its own; not when neurons that
        it reads are. (A layer that reads several others has one such sum for each of them, and these are added up.)
    neuronwise : tuple of float
        The sum over s, s', t of W[s t] W[s' t] H[s t, s' t]. No permutation or rescaling of any neurons changes it.
    """

    loss: float
    trace: tuple[float, ...]
    relative: tuple[float, ...]
    neuronwise: tuple[float, ...]

    def rows(self) -> dict[str, Any]:
        """One row per layer, the output layer last."""
        layers = range(1, len(self.trace) + 1)
        return {"layer": layers, "trace": self.trace, "relative": self.relative, "neuronwise": self.neuronwise}


@question("symmetry.flatness")
def flatness(
    source: SourceLike | ExactProgram,
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: Loss = "squared",
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Flatness:
    """How curved the loss on data is in the weights of each layer, plainly and in forms that rescaling leaves alone.

    Computed in floats, but for which gates are on. Where an input lies on a wall there is no second derivative, and
    that of the side on which the gate is off is taken.

    Parameters
    ----------
    source : SourceLike or ExactProgram
        A model, or an atlas of one.
    X : ArrayLike, shape (n, d)
        Inputs.
    y : ArrayLike, shape (n, outputs) or (n,)
        Targets: for "squared" the outputs wanted; for "cross_entropy" the numbers of the classes.
    loss : "squared" or "cross_entropy"
        The mean over inputs of the squared length of output - target, or of minus the logarithm of the right class's
        softmax.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Flatness
        The loss, and for each layer three sums of its second derivatives.

    Examples
    --------
    >>> import polyfold as pf
    >>> network = [([[1.0], [2.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    >>> pf.symmetry.flatness(network, [[1.0]], [[0.0]])
    Flatness(loss=9.0, trace=(4.0, 10.0), relative=(18.0, 20.0), neuronwise=(18.0, 10.0))
    """
    weights = _Weights(exactly(source))
    inputs = _some_rows(X, weights.widths[0], "X")
    targets = _targets(loss, y, len(inputs), weights.outputs)
    totals = np.zeros(1 + 3 * len(weights.affines))
    step = max(1, _BATCH // (weights.outputs * max(weights.widths)))
    for first in range(0, len(inputs), step):
        tick()
        passed = weights.passed(inputs[first : first + step])
        curvature = _curvature(loss, passed.outputs, targets[first : first + step])
        sums = [_sums(J, matrices, passed.sources, curvature) for J, matrices in weights.derivatives(passed)]
        totals += [curvature.loss, *np.transpose(sums).ravel()]
        running().tell(min(first + step, len(inputs)), len(inputs), "inputs")
    value, *means = (totals / len(inputs)).tolist()
    count = len(weights.affines)
    found = Flatness(value, *(tuple(means[k * count : (k + 1) * count]) for k in range(3)))
    return answered(found, evidence_for(source, None))


@dataclass(frozen=True, eq=False)
class _Curvature:
    """The sum of losses, and each one's second derivative by the outputs: diag(weights), less the mean if `centred`."""

    loss: float
    weights: Array
    centred: bool

    def diagonals(self, M: Array) -> Array:
        """The diagonals (inputs, k) of M' G M, for M of shape (inputs, outputs, k)."""
        if self.centred:
            # For probabilities p, the form of diag(p) - p p' is a variance; so written it cannot be negative.
            M = M - np.einsum("no,nok->nk", self.weights, M)[:, None, :]
        return np.asarray(np.einsum("no,nok->nk", self.weights, M * M))


@dataclass(frozen=True, eq=False)
class _Passed:
    """What inputs make of a network: all sources, the slopes of all gates, and the outputs."""

    sources: list[Array]
    slopes: list[Array]
    outputs: Array


class _Weights:
    """A program in floats: for each affine function its matrices by source."""

    def __init__(self, program: ExactProgram) -> None:
        self.widths, self.outputs = program.widths, program.output_dim
        self._program, self._layers = program, in_floats(program)
        self.affines = [
            ({source: nearest(matrix) for source, matrix in rows.terms.items()}, nearest(rows.bias))
            for rows in program.affines
        ]
        self.slopes = [(nearest(stage.slope_on), nearest(stage.slope_off)) for stage in program.stages]

    def passed(self, inputs: Array) -> _Passed:
        sources, slopes, on = [inputs], [], self._signs(inputs)
        for number, (matrices, bias) in enumerate(self.affines):
            z = np.broadcast_to(bias, (len(inputs), len(bias)))
            for source, matrix in matrices.items():
                z = z + sources[source] @ matrix.T
            if number == len(self.slopes):
                break
            slopes.append(np.where(on[number], *self.slopes[number]))
            sources.append(z * slopes[-1])
        return _Passed(sources, slopes, z)

    def _signs(self, inputs: Array) -> list[Flags]:
        """Which gates are on: exactly, because a rescaled network must not see an input on another side of a wall."""
        values, errors = bounded_pass(self._layers, inputs)
        on = [z > 0 for z in values]
        doubtful = np.zeros(len(inputs), dtype=bool)
        for z, error in zip(values, errors, strict=True):
            doubtful |= ~(np.abs(z) > error).all(axis=1)
        for first in range(0, len(rows := np.flatnonzero(doubtful)), _EXACT):
            some = rows[first : first + _EXACT]
            for stage, exact in enumerate(apart(lambda: self._program.passes(inputs[some]))[:-1]):  # noqa: B023  # called at once
                on[stage][some] = (exact > 0).T
        return on

    def derivatives(self, passed: _Passed) -> list[tuple[Array, dict[int, Array]]]:
        """For each affine function the derivatives (inputs, outputs, rows) of the outputs by it, and its matrices."""
        count, size = passed.outputs.shape
        by_source = [np.zeros((count, size, width if source else 0)) for source, width in enumerate(self.widths)]
        J = np.broadcast_to(np.eye(size), (count, size, size))
        found = []
        for number in range(len(self.affines), 0, -1):
            tick()
            matrices = self.affines[number - 1][0]
            if number <= len(self.slopes):
                J = by_source[number] * passed.slopes[number - 1][:, None, :]
            for source, matrix in matrices.items():
                if source:
                    by_source[source] = by_source[source] + J @ matrix
            found.append((J, matrices))
        return found[::-1]


def _sums(
    J: Array, matrices: dict[int, Array], sources: list[Array], curvature: _Curvature
) -> tuple[float, float, float]:
    """The trace, relative and neuronwise flatness of one layer, summed over inputs."""
    own = curvature.diagonals(J).sum(axis=1)
    trace = relative = neuronwise = np.zeros(len(J))
    for source, matrix in matrices.items():
        tick()
        through, squares = curvature.diagonals(J @ matrix), np.square(sources[source])
        trace = trace + own * squares.sum(axis=1)
        relative = relative + through.sum(axis=1) * squares.sum(axis=1)
        neuronwise = neuronwise + (through * squares).sum(axis=1)
    return float(trace.sum()), float(relative.sum()), float(neuronwise.sum())


def _curvature(loss: str, outputs: Array, targets: Array) -> _Curvature:
    if loss == "squared":
        return _Curvature(float(np.square(outputs - targets).sum()), np.full(outputs.shape, 2.0), False)
    shifted = outputs - outputs.max(axis=1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return _Curvature(-float((logarithms * targets).sum()), np.exp(logarithms), True)


def _targets(loss: str, y: Any, count: int, size: int) -> Array:
    """One row for each input: the outputs wanted, or 1 for the right class."""
    if loss == "squared":
        targets = rows_of(y, size, what="y")
        if len(targets) != count:
            raise ShapeError(f"y has {how_many(len(targets), 'row')}, and X has {count:,}: give one target per input")
        return targets
    if loss == "cross_entropy":
        if size < 2:
            raise PolyfoldError("cross entropy needs one output per class, at least two; this network has one output")
        return np.eye(size)[class_numbers(y, count, size)]
    raise PolyfoldError(f"loss must be {' or '.join(map(repr, LOSSES))}, got {loss!r}")


def _some_rows(values: Any, width: int, what: str) -> Array:
    rows = rows_of(values, width, what=what)
    if not len(rows):
        raise ShapeError(f"{what} has no rows: give at least one input")
    return rows
