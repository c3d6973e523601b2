"""Cells that were found with few of the domain's parameters, handed out with all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._core import FoundCells
from polyfold.program.derive.few_coordinates import FewCoordinates


@dataclass(frozen=True, eq=False)
class LiftedCells:
    """Cells of the smaller domain, times a linear space: none is bounded, and all else stays as it is.

    Witnesses have zeros in the parameters that were left out.
    """

    found: FoundCells
    few: FewCoordinates

    @property
    def complete(self) -> bool:
        return self.found.complete

    def put_together(self, wanted: Callable[[], bool]) -> dict[str, Any]:
        arrays = self.found.put_together(wanted)
        exact = [(cell, self._lifted(numbers)) for cell, numbers in arrays["exact_witnesses"]]
        return arrays | {
            "witnesses": self.few.lifted(arrays["witnesses"]),
            "bounded": np.zeros_like(arrays["bounded"]),
            "exact_witnesses": exact,
        }

    def _lifted(self, homogeneous: list[str]) -> list[str]:
        *numbers, weight = homogeneous
        whole = ["0"] * self.few.dim
        for axis, number in zip(self.few.axes.tolist(), numbers, strict=True):
            whole[axis] = number
        return [*whole, weight]
