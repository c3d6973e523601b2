"""A plain pass that also tells how large numbers get on the way: what rounding errors are measured against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.program.program import Program, forget

Array = npt.NDArray[np.float64]
Signs = npt.NDArray[np.bool_]

# Floats that one part of a pass may hold in a layer: 2 MB, to stay in the processor's cache.
_FLOATS = 1 << 18
_SHORT = 32


def with_sizes(program: Program, X: Array, signs: Signs | None = None) -> tuple[Array, Array]:
    """The outputs (n, m) at input rows, and the largest absolute value (n,) that each meets, itself included.

    `signs` (n, gates) is filled with which gates are on, as plain floats have it.
    """
    outputs, largest = np.empty((len(X), program.output_dim)), np.empty(len(X))
    step = max(1, _FLOATS // max([program.input_dim, *program.steps.widths, program.output_dim]))
    for first in range(0, len(X), step):
        part = slice(first, first + step)
        outputs[part], largest[part] = _pass(program, X[part], None if signs is None else signs[part])
    return outputs, largest


def _pass(program: Program, X: Array, signs: Signs | None) -> tuple[Array, Array]:
    largest = _largest_of_rows(X)
    values = [X]
    for number, step in enumerate(program.steps.steps):
        z = step.affine(values)
        largest = np.maximum(largest, _largest_of_rows(z))
        if step.stage is not None:
            stage, gate = program.stages[step.stage], program.first_gate[step.stage]
            if signs is not None:
                np.greater(z, 0, out=signs[:, gate : gate + stage.width])
            z = np.maximum(z, 0.0) if stage.is_relu else z * np.where(z > 0, stage.slope_on, stage.slope_off)
        values.append(z)
        forget(values, program.steps.last_reader, number)
    outputs = program.steps.output(values)
    return outputs, np.maximum(largest, _largest_of_rows(outputs))


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
