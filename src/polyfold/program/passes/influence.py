"""Whether a gate's output reaches the network's outputs: a push on it, passed on with error bounds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.rounding import TINY, relative
from polyfold.program.passes.held import slopes
from polyfold.program.passes.pushes import pushed
from polyfold.program.program import Program

Ids = npt.NDArray[np.int64]
Signs = npt.NDArray[np.bool_]


@np.errstate(over="ignore", invalid="ignore")
def heard(program: Program, signs: Signs, gates: Ids, blocked: Signs) -> BoundedValues:
    """How much each output (n, m) changes with what gate gates[i] puts out, where pattern signs[i] is held.

    All gates lie in one stage. What passes a gate of `blocked` is left out. A 0 without error is proved: every way to
    the output has a factor zero.
    """
    steps = program.steps
    stage = int(np.searchsorted(program.first_gate, gates[0], side="right")) - 1
    start = steps.value_of_source[stage + 1]
    push = np.zeros((len(gates), program.stages[stage].width))
    push[np.arange(len(gates)), gates - program.first_gate[stage]] = 1.0
    nothing = exact_values(np.zeros((len(gates), 0)))
    values = [exact_values(np.zeros((len(gates), program.input_dim))), *[nothing] * len(steps.steps)]
    reached = {start}
    values[start] = exact_values(push)
    for number, step in enumerate(steps.steps[start:], start=start + 1):
        # What reads nothing of the push stays zero.
        if not reached & step.affine.sources:
            continue
        reached.add(number)
        _fill(values, step.affine.sources, steps.widths)
        z = pushed(step.affine, values)
        values[number] = z if step.stage is None else _passed(program, step.stage, signs, blocked, z)
        for value in range(1, number):
            if steps.last_reader[value] < number:
                values[value] = nothing
    if not reached & steps.output.sources:
        return exact_values(np.zeros((len(gates), program.output_dim)))
    _fill(values, steps.output.sources, steps.widths)
    return pushed(steps.output, values)


def _fill(values: list[BoundedValues], sources: frozenset[int], widths: list[int]) -> None:
    """Zeros for the values that are read but were not reached."""
    for value in sources - {0}:
        if values[value].values.shape[1] != widths[value - 1]:
            values[value] = exact_values(np.zeros((len(values[0].values), widths[value - 1])))


def _passed(program: Program, stage: int, signs: Signs, blocked: Signs, z: BoundedValues) -> BoundedValues:
    first, width = program.first_gate[stage], program.stages[stage].width
    slope = np.where(blocked[:, first : first + width], 0.0, slopes(program, stage, signs))
    values = z.values * slope
    errors = (z.errors * np.abs(slope) + relative(2) * np.abs(values)) * (1 + relative(8)) + TINY
    exact = (slope == 0) | ((z.errors == 0) & (np.isin(slope, (1.0, -1.0)) | (z.values == 0)))
    return BoundedValues(np.where(slope == 0, 0.0, values), np.where(exact, 0.0, errors))
