"""A program's stages over the parameters of a domain, in floats, with what is needed to bound rounding errors.

Coefficients are the floats nearest to the exact ones. That is one more rounding each, and all bounds allow for it.
Rows with coefficients beyond the floats, too large or so small that they lose digits, have no number as their bias: so
nothing is ever said of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from polyfold.domain.domain import Domain
from polyfold.exact.rational import rational
from polyfold.exact.rational_arrays import Rationals, nearest, product, rationals
from polyfold.exact.rounding import LEAST_NORMAL, TINY, relative
from polyfold.network.graph import Port
from polyfold.program.exact_program import ExactProgram, ExactStage, Frame
from polyfold.program.lower.rational_rows import RationalRows

Array = npt.NDArray[np.float64]
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


@dataclass(frozen=True, eq=False)
class Layers:
    """All stages of a program, as `linear_bounds.py` and `programs.py` walk them."""

    input_dim: int
    layers: tuple[Layer, ...]

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
    """The nearest floats of all stages, or of the first few."""
    return Layers(program.input_dim, tuple(_layer(stage) for stage in program.stages[:stages]))


def _layer(stage: ExactStage) -> Layer:
    blocks = tuple((source, nearest(matrix)) for source, matrix in stage.rows.terms.items())
    lost = _beyond_floats(stage.rows.bias, nearest(stage.rows.bias))
    for (_, W), matrix in zip(blocks, stage.rows.terms.values(), strict=True):
        lost = lost | _beyond_floats(matrix, W).any(axis=1)
    bias = np.where(lost, np.nan, nearest(stage.rows.bias))
    bend = nearest(stage.slope_on - stage.slope_off)
    return Layer(blocks, bias, nearest(stage.slope_on), nearest(stage.slope_off), bend)


def _beyond_floats(exact: Rationals, rounded: Array) -> npt.NDArray[np.bool_]:
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
    sources: list[tuple[Array, Array]] = [(points, np.zeros_like(points))]
    values, errors = [], []
    for layer in layers.layers:
        z, size, doubt = (np.zeros((len(points), layer.width)) for _ in range(3))
        for source, W in layer.blocks:
            value, error = sources[source]
            z += value @ W.T
            size += np.abs(value) @ np.abs(W).T
            doubt += error @ np.abs(W).T
        z = z + layer.bias
        doubt = (doubt + layers.error * (size + doubt + np.abs(layer.bias))) * (1 + layers.error) + TINY
        values.append(z)
        errors.append(doubt)
        on, off = np.abs(layer.on), np.abs(layer.off)
        steepest = np.where(z > doubt, on, np.where(z < -doubt, off, np.maximum(on, off)))
        out = np.where(z > 0, layer.on, layer.off) * z
        sources.append((out, (steepest * doubt + layers.error * np.abs(out)) * (1 + layers.error) + TINY))
    return values, errors


def halves(low: Array, high: Array) -> tuple[Array, Array]:
    """Centres and half lengths of intervals; nothing is lost to rounding."""
    centre = low + (high - low) / 2
    half = np.nextafter(np.maximum(high - centre, centre - low), np.inf)
    return centre, half
