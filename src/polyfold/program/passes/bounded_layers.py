"""A program's stages over the parameters of a domain, in floats, with what is needed to bound rounding errors.

Coefficients are the floats nearest to the exact ones. That is one more rounding each, and all bounds allow for it.
Rows with coefficients beyond the floats, too large or so small that they lose digits, have no number as their bias: so
nothing is ever said of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from polyfold._base.types import Array, Flags
from polyfold.domain.domain import Domain
from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.rational import rational
from polyfold.exact.rational_arrays import Rationals, nearest, product, rationals, zeros
from polyfold.exact.rounding import LEAST_NORMAL, TINY, relative
from polyfold.network.graph import Port
from polyfold.program.exact_program import ExactProgram, ExactStage, Frame
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.steps import Steps, one_each

# Lower and upper bounds.
Range = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Layer:
    """Pre-activations z = sum of W @ source + bias, and slopes: off * z + bend * relu(z) comes out, bend = on - off.

    `bend` is rounded, so off + bend need not be near `on`.
    """

    blocks: tuple[tuple[int, Array], ...]
    bias: Array
    on: Array
    off: Array
    bend: Array

    @property
    def width(self) -> int:
        return len(self.bias)

    @property
    def sources(self) -> frozenset[int]:
        """The sources that it reads."""
        return frozenset(source for source, _ in self.blocks)


@dataclass(frozen=True, eq=False)
class Layers:
    """All stages of a program and its output, which is one more layer without gates: as bounds walk them."""

    input_dim: int
    layers: tuple[Layer, ...]
    output: Layer

    @property
    def stages(self) -> tuple[Layer, ...]:
        return self.layers

    @cached_property
    def steps(self) -> Steps[Layer]:
        """The stages and the output in the order of a pass."""
        return one_each((*self.layers, self.output))

    def gates_of(self, stage: int) -> slice:
        """The numbers of a stage's gates: their columns in patterns."""
        before = sum(each.width for each in self.layers[:stage])
        return slice(before, before + self.layers[stage].width)

    @cached_property
    def error(self) -> float:
        """A bound on the relative error of any sum of products along one pass, forwards or backwards."""
        longest = self.input_dim + sum(layer.width for layer in self.layers)
        return relative(2 * longest + 16 * len(self.layers) + 64)


def over_parameters(program: ExactProgram, domain: Domain) -> ExactProgram:
    """The program as a function of a slice's parameters; the same one if the domain is none."""
    if not domain.is_slice:
        return program
    basis, origin = rationals(domain.basis), rationals(domain.origin)
    stages = tuple(
        ExactStage(_on_slice(stage.rows, basis, origin), stage.slope_on, stage.slope_off, stage.origins)
        for stage in program.stages
    )
    frame = Frame((Port("parameters", (domain.dim,)),), program.frame.outputs, head=program.frame.head)
    return ExactProgram(frame, stages, _on_slice(program.output, basis, origin))


def in_floats(program: ExactProgram, stages: int | None = None) -> Layers:
    """The nearest floats of all stages and of the output; or of the first few stages, which then have no output."""
    one = np.full(program.output_dim, rational(1), dtype=object)
    output = program.output if stages is None or stages >= len(program.stages) else RationalRows({}, zeros(0))
    return Layers(
        program.input_dim,
        tuple(_layer(stage.rows, stage.slope_on, stage.slope_off) for stage in program.stages[:stages]),
        _layer(output, one[: output.size], one[: output.size]),
    )


def _layer(rows: RationalRows, slope_on: Rationals, slope_off: Rationals) -> Layer:
    blocks = tuple((source, nearest(matrix)) for source, matrix in rows.terms.items())
    lost = _beyond_floats(rows.bias, nearest(rows.bias))
    for (_, W), matrix in zip(blocks, rows.terms.values(), strict=True):
        lost = lost | _beyond_floats(matrix, W).any(axis=1)
    bias = np.where(lost, np.nan, nearest(rows.bias))
    return Layer(blocks, bias, nearest(slope_on), nearest(slope_off), nearest(slope_on - slope_off))


def _beyond_floats(exact: Rationals, rounded: Array) -> Flags:
    """Where the nearest float may be farther away than half a unit in the last place of a normal number."""
    doubtful = ~np.isfinite(rounded) | (np.abs(rounded) < LEAST_NORMAL)
    pairs = zip(exact[doubtful].tolist(), rounded[doubtful].tolist(), strict=True)
    doubtful[doubtful] = [bool(value) and not (np.isfinite(near) and rational(near) == value) for value, near in pairs]
    return doubtful


def _on_slice(rows: RationalRows, basis: Rationals, origin: Rationals) -> RationalRows:
    if 0 not in rows.terms:
        return rows
    matrix = rows.terms[0]
    return RationalRows({**rows.terms, 0: product(matrix, basis)}, rows.bias + product(matrix, origin))


def bounded_pass(layers: Layers, points: Array) -> tuple[list[Array], list[Array]]:
    """Pre-activations (n, width) of all stages at points that are meant as they stand, and bounds on their errors."""
    passed = [at.z for at in islice(walk(layers, _Bounded(layers.error), exact_values(points)), len(layers.layers))]
    return [z.values for z in passed], [z.errors for z in passed]


class _Bounded:
    """Rows of floats with bounds on their errors, as in `bounded.py`, but for coefficients that are rounded themselves.

    One relative error does for every sum of products of a pass. A gate is on where its value is positive.
    """

    def __init__(self, error: float) -> None:
        self._error = error

    def affine(self, layer: Layer, values: Sequence[BoundedValues]) -> BoundedValues:
        z, size, doubt = (np.zeros((len(values[0].values), layer.width)) for _ in range(3))
        for source, W in layer.blocks:
            value, error = values[source].values, values[source].errors
            z += value @ W.T
            size += np.abs(value) @ np.abs(W).T
            doubt += error @ np.abs(W).T
        doubt = (doubt + self._error * (size + doubt + np.abs(layer.bias))) * (1 + self._error) + TINY
        return BoundedValues(z + layer.bias, doubt)

    def decide(self, gates: Gates[Layer], z: BoundedValues) -> Flags:
        return z.values > 0

    def output(self, gates: Gates[Layer], z: BoundedValues, positive: Flags) -> BoundedValues:
        layer, (value, doubt) = gates.stage, (z.values, z.errors)
        on, off = np.abs(layer.on), np.abs(layer.off)
        steepest = np.where(value > doubt, on, np.where(value < -doubt, off, np.maximum(on, off)))
        out = np.where(positive, layer.on, layer.off) * value
        return BoundedValues(out, (steepest * doubt + self._error * np.abs(out)) * (1 + self._error) + TINY)

    def nothing(self, inputs: BoundedValues) -> BoundedValues:
        return exact_values(inputs.values[:, :0])


def halves(low: Array, high: Array) -> tuple[Array, Array]:
    """Centres and half lengths of intervals; nothing is lost to rounding."""
    centre = low + (high - low) / 2
    half = np.nextafter(np.maximum(high - centre, centre - low), np.inf)
    return centre, half
