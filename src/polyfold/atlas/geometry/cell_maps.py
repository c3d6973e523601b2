"""The affine maps of cells: in floats with bounds on how far they can be wrong, and in rationals."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.atlas.atlas import Atlas
from polyfold.domain.points import jets_around
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rounding import relative
from polyfold.program.passes.jets import sizes_of_terms
from polyfold.program.passes.pulled_back import roundings
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.passes.underflow import underflow


def bounded_maps(atlas: Atlas, cells: npt.NDArray[np.int64]) -> BoundedValues:
    """The maps over the domain's parameters (n, m, d + 1): slopes, and the constant behind them."""
    error = relative(roundings(atlas.program) + 2 * atlas.program.input_dim)
    A, c = atlas.maps(cells, over="parameters")
    size_A, size_c = sizes_of_terms(atlas.program, atlas.domain, atlas.signs(cells))
    sizes = np.concatenate([size_A, size_c[..., None]], axis=2)
    errors = sizes * error + underflow(atlas.program, atlas.domain)
    return BoundedValues(np.concatenate([A, c[..., None]], axis=2), errors)


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
