"""A program with its patterns held fixed is an affine function: points and directions pushed through it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from polyfold.domain.domain import Domain
from polyfold.program.passes.pulled_back import gate_forms
from polyfold.program.program import Program, forget

Array = npt.NDArray[np.float64]
Signs = npt.NDArray[np.bool_]


def pushed(program: Program, signs: Signs, rows: Array, *, linear: bool = False) -> Iterator[Array]:
    """The gates' values stage by stage, and at last the outputs, at input rows with the patterns `signs` held.

    One pattern a row, or one for all. With linear=True rows are directions, and no bias is added.
    """
    steps = program.steps
    values = [rows]
    for number, step in enumerate(steps.steps):
        z = step.affine.linear(values) if linear else step.affine(values)
        if step.stage is not None:
            yield z
            z = z * slopes(program, step.stage, signs)
        values.append(z)
        # Nothing of a stage may outlive its last reader: at large networks all of them together do not fit.
        del z
        forget(values, steps.last_reader, number)
    yield steps.output.linear(values) if linear else steps.output(values)


def slopes(program: Program, stage: int, signs: Signs) -> Array:
    """What the gates of a stage multiply with under each pattern (n, width)."""
    gates, first = program.stages[stage], program.first_gate[stage]
    return np.where(signs[:, first : first + gates.width], gates.slope_on, gates.slope_off)


def all_gate_forms(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """(a, b) with a . u + b the value of every gate under one pattern, over the domain's parameters.

    Directions are pushed forward, or gates pulled back: whichever are fewer.
    """
    one = signs[None, :]
    if domain.dim <= program.gates:
        *stages, _ = pushed(program, one, domain.basis.T, linear=True)
        *values, _ = pushed(program, one, domain.origin[None, :])
        return _joined(stages, domain.dim).T, _joined(values, 1)[0]
    a, b = gate_forms(program, np.broadcast_to(signs, (program.gates, program.gates)), np.arange(program.gates))
    return (a @ domain.basis, b + a @ domain.origin) if domain.is_slice else (a, b)


def _joined(stages: list[Array], rows: int) -> Array:
    return np.concatenate([np.zeros((rows, 0)), *stages], axis=1)
