"""What depends on what: sets of inputs, and the gates and outputs that a change of them can reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polyfold._base.types import Flags, Signs
from polyfold.program.affine import Affine, is_there
from polyfold.program.passes.held import slopes
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.program import Program, Stage


def reached(program: Program, sets: Flags, signs: Signs, free: Flags) -> Iterator[Flags]:
    """Which gates (n, width) each set (n, inputs) can change, stage by stage, and at last which outputs.

    A gate passes changes on unless it is flat: it has its side for sure, that of the pattern `signs` (gates,), and the
    slope there is zero. Gates that are `free` may be on either side.
    """
    return (at.z for at in walk(program, _Sets(program, signs, free), sets))


class _Sets:
    """Sets (n, width): a value belongs to one if any of its terms does. Nothing is multiplied, so nothing is lost."""

    def __init__(self, program: Program, signs: Signs, free: Flags) -> None:
        self._program, self._signs, self._free = program, signs[None], free

    def affine(self, affine: Affine, values: Sequence[Flags]) -> Flags:
        sets = [value.astype(np.float64) for value in values]
        some: Flags = affine.changed(is_there).linear(sets) > 0
        return some

    def decide(self, gates: Gates[Stage], z: Flags) -> Flags:
        """Which of the gates pass changes on."""
        passing: Flags = self._free[gates.numbers] | (slopes(self._program, gates.number, self._signs)[0] != 0)
        return passing

    def output(self, gates: Gates[Stage], z: Flags, passing: Flags) -> Flags:
        return z & passing

    def nothing(self, inputs: Flags) -> Flags:
        return inputs[:, :0]
