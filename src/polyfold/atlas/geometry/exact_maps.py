"""The affine maps of an atlas's cells in rationals."""

from __future__ import annotations

from functools import cached_property

from flint import fmpq

from polyfold.atlas.atlas import Atlas
from polyfold.domain.points import jets_around
from polyfold.program.passes.rationals import RationalProgram


class ExactMaps:
    """Maps of cells over the domain's parameters, each computed once: (slopes, constant), output by output."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._known: dict[int, tuple[fmpq, ...]] = {}

    @cached_property
    def _program(self) -> RationalProgram:
        return RationalProgram(self._atlas.program)

    def __getitem__(self, cell: int) -> tuple[fmpq, ...]:
        if cell not in self._known:
            witness = self._atlas.rational_witness(int(cell))
            numbers: list[fmpq] = []
            for value, *slopes in self._program.forward(jets_around(self._atlas.domain, witness)).outputs:
                constant = value - sum((a * w for a, w in zip(slopes, witness, strict=True)), fmpq(0))
                numbers += [*slopes, constant]
            self._known[cell] = tuple(numbers)
        return self._known[cell]
