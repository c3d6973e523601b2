"""A program and a domain in the form that the compiled core takes."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.domain import Domain
from polyfold.core import Problem
from polyfold.program.program import Program


def core_problem(program: Program, domain: Domain) -> Problem:
    """Hand all coefficients over, as they are."""
    problem = Problem.over(
        frame=np.column_stack([domain.basis, domain.origin]),
        input_rows=np.ascontiguousarray(domain.input_rows),
        input_offsets=domain.input_offsets,
        parameter_rows=np.ascontiguousarray(domain.parameter_rows),
        parameter_offsets=domain.parameter_offsets,
    )
    for stage in program.stages:
        problem.add_stage(
            sources=[block.source for block in stage.affine.blocks],
            weights=[np.ascontiguousarray(block.weight) for block in stage.affine.blocks],
            bias=stage.affine.bias,
            slope_on=stage.slope_on,
            slope_off=stage.slope_off,
        )
    return problem
