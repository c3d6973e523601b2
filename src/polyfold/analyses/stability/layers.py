"""A program's stages over the parameters of a domain, in floats, with what is needed to bound rounding errors.

Coefficients are the floats nearest to the exact ones. That is one more rounding each, and all bounds allow for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from polyfold.atlas.domain import Domain
from polyfold.exact.rational_arrays import Rationals, nearest, product, rationals
from polyfold.exact.rounding import TINY, relative
from polyfold.network.graph import Port
from polyfold.program.exact_program import ExactProgram, ExactStage, Frame
from polyfold.program.rational_rows import RationalRows

Array = npt.NDArray[np.float64]
# Lower and upper bounds.
Range = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Layer:
    """Pre-activations z = sum of W @ source + bias, and slopes: off * z + (on - off) * relu(z) comes out."""

    blocks: tuple[tuple[int, Array], ...]
    bias: Array
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
    frame = Frame((Port("parameters", (domain.dim,)),), program.frame.outputs)
    return ExactProgram(frame, stages, _on_slice(program.output, basis, origin))


def in_floats(program: ExactProgram, stages: int | None = None) -> Layers:
    """The nearest floats of all stages, or of the first few."""
    return Layers(program.input_dim, tuple(_layer(stage) for stage in program.stages[:stages]))


def _layer(stage: ExactStage) -> Layer:
    blocks = tuple((source, nearest(matrix)) for source, matrix in stage.rows.terms.items())
    return Layer(blocks, nearest(stage.rows.bias), nearest(stage.slope_off), nearest(stage.slope_on - stage.slope_off))


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
        steepest = np.maximum(np.abs(layer.off), np.abs(layer.off + layer.bend)) * (1 + layers.error)
        out = layer.off * z + layer.bend * np.maximum(z, 0.0)
        out_size = (np.abs(layer.off) + np.abs(layer.bend)) * np.abs(z)
        sources.append((out, (steepest * doubt + layers.error * out_size) * (1 + layers.error)))
    return values, errors


def halves(low: Array, high: Array) -> tuple[Array, Array]:
    """Centres and half lengths of intervals; nothing is lost to rounding."""
    centre = low + (high - low) / 2
    half = np.nextafter(np.maximum(high - centre, centre - low), np.inf)
    return centre, half
