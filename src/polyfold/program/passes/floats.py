"""Plain floats: outputs and patterns at input rows, and how large numbers get on the way.

Nothing is proved here. Rounding errors are measured against the largest size that a row meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from polyfold._base.types import Array, Signs
from polyfold.program.affine import Affine
from polyfold.program.passes.walk import Gates, outputs

if TYPE_CHECKING:
    from polyfold.program.program import Program, Stage

# Floats that one part of a pass may hold in a layer: 2 MB, to stay in the processor's cache.
_FLOATS = 1 << 18
_SHORT = 32


def evaluate(program: Program, X: Array) -> tuple[Array, Signs]:
    """Outputs (n, m) and patterns (n, gates) at input rows."""
    signs = np.empty((len(X), program.gates), dtype=bool)
    return outputs(program, _Floats(signs), X), signs


class _Floats:
    """Rows of floats (n, width). A gate is on where z > 0; which are is written into `signs`."""

    def __init__(self, signs: Signs) -> None:
        self._signs = signs

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        return affine(values)

    def decide(self, gates: Gates[Stage], z: Array) -> Signs:
        on: Signs = np.greater(z, 0, out=self._signs[:, gates.numbers])
        return on

    def output(self, gates: Gates[Stage], z: Array, on: Signs) -> Array:
        stage = gates.stage
        return np.where(on, z, 0.0) if stage.is_relu else z * np.where(on, stage.slope_on, stage.slope_off)

    def nothing(self, inputs: Array) -> Array:
        return inputs[:, :0]


def with_sizes(program: Program, X: Array, signs: Signs | None = None) -> tuple[Array, Array]:
    """The outputs (n, m) at input rows, and the largest absolute value (n,) that each meets, itself included.

    `signs` (n, gates) is filled with which gates are on, as plain floats have it.
    """
    found, largest = np.empty((len(X), program.output_dim)), np.empty(len(X))
    step = max(1, _FLOATS // max([program.input_dim, *program.steps.widths, program.output_dim]))
    for first in range(0, len(X), step):
        part = slice(first, first + step)
        by = _Sized(X[part], None if signs is None else signs[part])
        found[part], largest[part] = outputs(program, by, X[part]), by.largest
    return found, largest


class _Sized:
    """The same, and the largest absolute value of each row so far; signs are noted only where they are asked for."""

    def __init__(self, inputs: Array, signs: Signs | None) -> None:
        self._signs = signs
        self.largest = _largest_of_rows(inputs)

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        z = affine(values)
        self.largest = np.maximum(self.largest, _largest_of_rows(z))
        return z

    def decide(self, gates: Gates[Stage], z: Array) -> None:
        if self._signs is not None:
            np.greater(z, 0, out=self._signs[:, gates.numbers])

    def output(self, gates: Gates[Stage], z: Array, decided: None) -> Array:
        stage = gates.stage
        return np.maximum(z, 0.0) if stage.is_relu else z * np.where(z > 0, stage.slope_on, stage.slope_off)

    def nothing(self, inputs: Array) -> Array:
        return inputs[:, :0]


def _largest_of_rows(values: Array) -> Array:
    """The largest absolute value in each row; column by column, which is faster, where rows are short."""
    sizes = np.abs(values)
    if values.shape[1] > _SHORT:
        long: Array = sizes.max(axis=1)
        return long
    largest = np.zeros(len(values))
    for column in sizes.T:
        np.maximum(largest, column, out=largest)
    return largest
