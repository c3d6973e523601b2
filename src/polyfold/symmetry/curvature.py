"""flatness: how curved the loss is in each layer's weights, by a plain trace and in forms that no rescaling changes.

Inside a cell the outputs are linear in one layer's weights W: a change of W changes them by J dW h, where h is what the
layer reads and J the outputs' derivative by its pre-activations. So the Hessian of the loss in W is the mean of
(J' G J) kron (h h'), G being the loss's second derivative by the outputs, and every sum below is computed from J, G
and h without writing a Hessian down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from polyfold.program.passes.bounded_layers import Layer, Layers, bounded_pass, in_floats
from polyfold.program.passes.walk import Gates, outputs, walk_back
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
    program = exactly(source)
    weights = _Weights(program)
    inputs = _some_rows(X, program.input_dim, "X")
    targets = _targets(loss, y, len(inputs), program.output_dim)
    totals = np.zeros(1 + 3 * len(program.affines))
    step = max(1, _BATCH // (program.output_dim * max(program.widths)))
    for first in range(0, len(inputs), step):
        tick()
        passed = weights.passed(inputs[first : first + step])
        curvature = _curvature(loss, passed.outputs, targets[first : first + step])
        sums = [_sums(J, layer, passed.sources, curvature) for J, layer in weights.derivatives(passed)]
        totals += [curvature.loss, *np.transpose(sums).ravel()]
        running().tell(min(first + step, len(inputs)), len(inputs), "inputs")
    value, *means = (totals / len(inputs)).tolist()
    count = len(program.affines)
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


class _Passed:
    """What inputs make of a network whose gates are on or off as is known: all sources, the slopes of all gates, and
    at last the outputs."""

    def __init__(self, inputs: Array, on: Sequence[Flags]) -> None:
        self.sources, self.slopes, self._on = [inputs], list[Array](), on
        self.outputs = inputs[:, :0]

    def affine(self, layer: Layer, values: Sequence[Array]) -> Array:
        z = np.broadcast_to(layer.bias, (len(values[0]), layer.width))
        for source, matrix in layer.blocks:
            z = z + values[source] @ matrix.T
        self.outputs = z
        return z

    def decide(self, gates: Gates[Layer], z: Array) -> Array:
        self.slopes.append(np.where(self._on[gates.number], gates.stage.on, gates.stage.off))
        return self.slopes[-1]

    def output(self, gates: Gates[Layer], z: Array, slopes: Array) -> Array:
        self.sources.append(z * slopes)
        return self.sources[-1]

    def nothing(self, inputs: Array) -> Array:
        return inputs[:, :0]


class _Derivatives:
    """The derivatives (inputs, outputs, rows) of the outputs by the values of gates, noted by stage."""

    def __init__(self, slopes: list[Array]) -> None:
        self.by_stage: dict[int, Array] = {}
        self._slopes = slopes

    def through(self, gates: Gates[Layer], J: Array) -> Array:
        self.by_stage[gates.number] = J * self._slopes[gates.number][:, None, :]
        return self.by_stage[gates.number]

    def pull(self, layer: Layer, J: Array) -> dict[int, Array]:
        tick()
        return {source: J @ matrix for source, matrix in layer.blocks if source}

    def plus(self, one: Array, other: Array) -> Array:
        return one + other


class _Weights:
    """A program in the nearest floats, whatever they lose: flatness is no bound."""

    def __init__(self, program: ExactProgram) -> None:
        self._program, self._bounded = program, in_floats(program)
        *layers, output = (
            replace(layer, bias=nearest(rows.bias))
            for layer, rows in zip(self._bounded.steps.affines, program.affines, strict=True)
        )
        self._layers = Layers(program.input_dim, tuple(layers), output)

    def passed(self, inputs: Array) -> _Passed:
        found = _Passed(inputs, self._signs(inputs))
        outputs(self._layers, found, inputs)
        return found

    def _signs(self, inputs: Array) -> list[Flags]:
        """Which gates are on: exactly, because a rescaled network must not see an input on another side of a wall."""
        values, errors = bounded_pass(self._bounded, inputs)
        on = [z > 0 for z in values]
        doubtful = np.zeros(len(inputs), dtype=bool)
        for z, error in zip(values, errors, strict=True):
            doubtful |= ~(np.abs(z) > error).all(axis=1)
        for first in range(0, len(rows := np.flatnonzero(doubtful)), _EXACT):
            some = rows[first : first + _EXACT]
            for stage, exact in enumerate(apart(lambda: self._program.passes(inputs[some]))[:-1]):  # noqa: B023  # called at once
                on[stage][some] = (exact > 0).T
        return on

    def derivatives(self, passed: _Passed) -> list[tuple[Array, Layer]]:
        """For each affine function the derivatives (inputs, outputs, rows) of the outputs by it, and its matrices."""
        layers, (count, size) = self._layers, passed.outputs.shape
        of_outputs = np.broadcast_to(np.eye(size), (count, size, size))
        by = _Derivatives(passed.slopes)
        walk_back(layers, by, by.pull(layers.output, of_outputs))
        # What nobody reads changes nothing.
        found = [by.by_stage.get(k, np.zeros((count, size, layer.width))) for k, layer in enumerate(layers.layers)]
        return list(zip([*found, of_outputs], [*layers.layers, layers.output], strict=True))


def _sums(J: Array, layer: Layer, sources: list[Array], curvature: _Curvature) -> tuple[float, float, float]:
    """The trace, relative and neuronwise flatness of one layer, summed over inputs."""
    own = curvature.diagonals(J).sum(axis=1)
    trace = relative = neuronwise = np.zeros(len(J))
    for source, matrix in layer.blocks:
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
