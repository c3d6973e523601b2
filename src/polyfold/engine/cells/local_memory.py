"""How many inputs and outputs of a network go through it together, given the memory to work with."""

from __future__ import annotations

from dataclasses import dataclass

from polyfold.errors import LimitError
from polyfold.network.ops.convolve import WINDOWS
from polyfold.program.affine import operators
from polyfold.program.program import Program

# Floats that are held for each value of the widest stage: a pass with error bounds, and coefficients pulled back.
_A_VALUE, _A_COEFFICIENT = 18, 12
# Bytes that are held for each gate: its sign and what is known of it, while they are put together.
_A_GATE = 8


@dataclass(frozen=True)
class Parts:
    """So many inputs at once, and so many of the rows of their maps."""

    inputs: int
    outputs: int


def parts(program: Program, memory: int) -> Parts:
    """The largest parts that the memory allows, or an error that says how much one input takes."""
    widest = max([program.input_dim, *(stage.width for stage in program.stages)])
    one_input = _A_GATE * program.gates + 8 * (_A_VALUE * widest + 2 * _held(program))
    one_row = 8 * _A_COEFFICIENT * widest
    weights, windows = _scratch(program)
    least = weights + windows + max(one_input, one_row)
    if memory < least:
        raise LimitError(
            f"max_memory={memory} is too little: to work with one input of this network takes about {least:,} bytes; "
            f"give max_memory={least} or more"
        )
    # Several rows have their windows laid out together, up to a limit.
    room = memory - weights - max(windows, 8 * WINDOWS if windows else 0)
    inputs = max(1, room // (one_input + program.output_dim * one_row))
    return Parts(inputs, max(1, room // (one_row * inputs)))


def _held(program: Program) -> int:
    """How many values are held at most for later stages."""
    widths = [program.input_dim, *(stage.width for stage in program.stages)]
    return max(
        sum(widths[source] for source in range(number + 1) if not source or program.last_reader[source] >= number)
        for number in range(len(program.affines))
    )


def _scratch(program: Program) -> tuple[int, int]:
    """Bytes for one stage's coefficients made positive, and for the windows of a convolution of one row."""
    weights, windows = 0, 0
    for affine in program.affines:
        used = list(operators(affine))
        weights = max(weights, sum(operator.factors.size for operator in used))
        windows = max([windows, *(operator.laid_out for operator in used)])
    return 8 * weights, 8 * windows
