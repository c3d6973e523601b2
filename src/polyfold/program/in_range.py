"""Programs whose coefficients leave the range of floats: linear steps that follow each other are multiplied.

An infinite coefficient is not a number, so nothing can be proved with it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.errors import LimitError
from polyfold.exact.rounding import LARGEST
from polyfold.program.affine import Affine, WrittenOut
from polyfold.program.program import Program, Stage


def in_range(program: Program) -> Program:
    """The same program, or a LimitError that names a row with a number that no float holds."""
    for number, affine in enumerate(program.affines):
        finite = _finite(affine)
        if not finite.all():
            row = int(np.argmin(finite))
            last = number == len(program.stages)
            name = f"output {row}" if last else f"gate {program.origins[program.first_gate[number] + row]}"
            raise LimitError(
                f"linear steps before {name}, put together, have numbers beyond {LARGEST:.2g}, the largest float: "
                "rescale their weights"
            )
    return program


def clipped(program: Program) -> Program:
    """The program with the largest floats in place of infinite coefficients: a neighbour, however far away."""
    if all(_finite(affine).all() for affine in program.affines):
        return program
    stages = (Stage(stage.affine.changed(_clipped), stage.slope_on, stage.slope_off) for stage in program.stages)
    return replace(program, stages=tuple(stages), output=program.output.changed(_clipped))


def _clipped(values: Array) -> Array:
    return np.clip(values, -LARGEST, LARGEST)


def _finite(affine: Affine) -> npt.NDArray[np.bool_]:
    """Which rows are all finite; numbers of structured functions that are not written out are."""
    finite = np.isfinite(affine.bias)
    if isinstance(affine, WrittenOut):
        for block in affine.blocks:
            finite &= np.isfinite(block.weight).all(axis=1)
    return finite
