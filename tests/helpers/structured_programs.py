"""Programs as forms: written-out ones with their matrices as operators, and one whose stages share a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyfold.program import Program
from polyfold.program.affine import Affine, Structured
from polyfold.program.forms import Applied, Entries, Form, Scaled, Summed, Taken
from polyfold.program.operators import Matrix
from polyfold.program.origins import GateOrigin
from polyfold.program.program import Stage


def as_structured(program: Program) -> Program:
    """The same function to the last digit, as forms over its sources."""
    widths = (program.input_dim, *(stage.width for stage in program.stages))

    def turned(affine: Affine, number: int) -> Affine:
        return Structured(affine.form, affine.bias, widths[: number + 1])

    stages = tuple(
        Stage(turned(stage.affine, number), stage.slope_on, stage.slope_off)
        for number, stage in enumerate(program.stages)
    )
    return replace(program, stages=stages, output=turned(program.output, len(stages)))


def with_shared_values(seed: int) -> Program:
    """Two stages and an output that all read one product of the inputs: it is a step without gates."""
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Matrix:
        return Matrix(np.round(rng.normal(size=(rows, columns)), 1))

    shared = Applied(matrix(5, 3), Entries(0, 0, 3))
    forms: list[Form] = [
        Scaled(np.array([1.0, -2.0, 0.5, 1.0, 3.0]), shared),
        Summed((Taken(np.array([4, 0, 0, 2]), shared), Applied(matrix(4, 5), Entries(1, 0, 5)))),
        Summed((Applied(matrix(2, 5), shared), Applied(matrix(2, 4), Entries(2, 0, 4)))),
    ]
    widths = (3, 5, 4)
    affines = [
        Structured(form, np.round(rng.normal(size=form.rows), 1), widths[: number + 1])
        for number, form in enumerate(forms)
    ]
    slopes = [(np.ones(5), np.zeros(5)), (np.array([1.0, 1.0, 0.0, 2.0]), np.array([0.0, 0.5, -1.0, 1.0]))]
    stages = tuple(Stage(affine, on, off) for affine, (on, off) in zip(affines[:-1], slopes, strict=True))
    origins = tuple(GateOrigin(f"gates{k + 1}", (i,)) for k, stage in enumerate(stages) for i in range(stage.width))
    return Program(3, stages, affines[-1], origins)
