"""A program and a domain in the form that the compiled core takes."""

from __future__ import annotations

import numpy as np

from polyfold._core import Problem
from polyfold.domain.domain import Domain
from polyfold.errors import LimitError, how_many
from polyfold.program.coefficients import coefficients
from polyfold.program.program import Program

# Numbers in a program's matrices, up to which they are written out for the core: 8 MB.
_MOST_NUMBERS = 1 << 20


def beyond_core(program: Program, domain: Domain) -> bool:
    """Whether cells are found and measured without the core's forms: on lines and planes through large programs.

    The core needs every matrix written out, zeros included, which a convolution's or a long chain of skips' is not.
    """
    if domain.dim > 2:
        return False
    # No more than if every stage read all that comes before the last: this much is known at once.
    at_most = (program.gates + program.output_dim) * (program.input_dim + program.gates)
    return at_most > _MOST_NUMBERS and coefficients(program) > _MOST_NUMBERS


def stays_structured(program: Program) -> bool:
    """Whether a program has no matrices and is too large for them to be made only to look something over."""
    return not program.written_out and coefficients(program) > _MOST_NUMBERS


def core_problem(program: Program, domain: Domain, *, rounded: bool = True) -> Problem:
    """Hand all coefficients over, as they are.

    Those of a large structured program are rounded where they have to be multiplied: `program.exact_matrices` is None
    then, and what the core finds is to be taken for floats. With rounded=False that is refused.
    """
    exact = program.exact_matrices
    if exact is None and not rounded:
        raise LimitError(
            f"the faces of a network with {how_many(program.gates, 'gate')} that is not written out as matrices are "
            "not counted, because these would be rounded: unfold the network instead of exploring it, which writes "
            "them out and says so"
        )
    problem = Problem.over(
        frame=np.column_stack([domain.basis, domain.origin]),
        input_rows=domain.input_rows,
        input_offsets=domain.input_offsets,
        parameter_rows=np.ascontiguousarray(domain.parameter_rows),
        parameter_offsets=domain.parameter_offsets,
    )
    for number, stage in enumerate(program.stages):
        blocks = stage.affine.blocks if exact is None else exact[number]
        problem.add_stage(
            sources=[block.source for block in blocks],
            weights=[np.ascontiguousarray(block.weight) for block in blocks],
            bias=stage.affine.bias,
            slope_on=stage.slope_on,
            slope_off=stage.slope_off,
        )
    return problem
