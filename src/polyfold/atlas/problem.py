"""A program and a domain in the form that the compiled core takes."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.domain import Domain
from polyfold.core import Problem
from polyfold.program.affine import Affine
from polyfold.program.program import Program

# Numbers in a program's matrices, up to which they are written out for the core: 8 MB.
_MOST_NUMBERS = 1 << 20


def beyond_core(program: Program, domain: Domain) -> bool:
    """Whether cells are found and measured without the core's forms: on lines and planes through large programs.

    The core needs every matrix written out, zeros included, which a convolution's or a long chain of skips' is not.
    """
    return domain.dim <= 2 and coefficients(program) > _MOST_NUMBERS


def stays_structured(program: Program) -> bool:
    """Whether a program has no matrices and is too large for them to be made only to look something over."""
    return not program.written_out and coefficients(program) > _MOST_NUMBERS


def coefficients(program: Program) -> int:
    """How many numbers all matrices of a program hold when they are written out."""
    widths = [program.input_dim, *(stage.width for stage in program.stages)]

    def numbers(affine: Affine) -> int:
        return len(affine.bias) * sum(widths[source] for source in affine.sources)

    return sum(numbers(affine) for affine in program.affines)


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
