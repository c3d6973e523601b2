"""A plain pass that also tells how large numbers get on the way: what rounding errors are measured against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.program.program import Program, forget

Array = npt.NDArray[np.float64]

# Floats that one part of a pass may hold: 16 MB.
_FLOATS = 1 << 21
_SHORT = 32


def with_sizes(program: Program, X: Array) -> tuple[Array, Array]:
    """The outputs (n, m) at input rows, and the largest absolute value (n,) that each meets, itself included."""
    outputs, largest = np.empty((len(X), program.output_dim)), np.empty(len(X))
    step = max(1, _FLOATS // max([program.input_dim, *program.steps.widths, program.output_dim]))
    for first in range(0, len(X), step):
        part = slice(first, first + step)
        outputs[part], largest[part] = _pass(program, X[part])
    return outputs, largest


def _pass(program: Program, X: Array) -> tuple[Array, Array]:
    largest = _largest_of_rows(X)
    values = [X]
    for number, step in enumerate(program.steps.steps):
        z = step.affine(values)
        largest = np.maximum(largest, _largest_of_rows(z))
        if step.stage is not None:
            stage = program.stages[step.stage]
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
