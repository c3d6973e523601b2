"""How large a program is once it is written out."""

from __future__ import annotations

from polyfold.program.affine import Affine
from polyfold.program.program import Program


def coefficients(program: Program) -> int:
    """How many numbers all matrices of a program hold when they are written out."""
    widths = [program.input_dim, *(stage.width for stage in program.stages)]

    def numbers(affine: Affine) -> int:
        return len(affine.bias) * sum(widths[source] for source in affine.sources)

    return sum(numbers(affine) for affine in program.affines)
