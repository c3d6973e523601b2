"""What integrated gradients are, and the check that they add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.tolerances import ADDS_UP

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class IntegratedGradients(InNotebooks):
    """values[i, j, k] is what input entry j contributes to output outputs[i, k], on the way from baseline[i] to X[i].

    `f_x` and `f_baseline` (n, outputs asked for) are the outputs at both ends. `segments[i]` is on how many segments
    the gradient was looked at, which are all that there are. `undecided[i]` counts gates that floats could not tell
    from zero at ends of segments, as happens where gates vanish along the way: they count as off. `completeness_error`
    is how far the values are from adding up to f_x - f_baseline, at worst over the outputs; it was checked to be within
    1e-9 of the largest number met.
    """

    X: Array
    baseline: Array
    values: Array
    outputs: Ids
    f_x: Array
    f_baseline: Array
    segments: Ids
    undecided: Ids
    scale: Array

    def __post_init__(self) -> None:
        n, d, m = self.values.shape
        expected = {
            "X": (n, d),
            "baseline": (n, d),
            "outputs": (n, m),
            "f_x": (n, m),
            "f_baseline": (n, m),
            "segments": (n,),
            "undecided": (n,),
            "scale": (n,),
        }
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ShapeError(f"integrated gradients' {name} must have shape {shape}")
        for name in ("values", *expected):
            getattr(self, name).setflags(write=False)
        off = self.completeness_error
        wrong = np.flatnonzero(~(off <= ADDS_UP * self.scale))
        if len(wrong):
            raise PolyfoldError(
                f"the integrated gradients of input {int(wrong[0])} miss f(x) - f(baseline) by {off[wrong[0]]:.3g}, "
                f"where the largest number met is {self.scale[wrong[0]]:.3g}: float64 does not suffice for this network"
            )

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        worst = float(self.completeness_error.max(initial=0.0))
        return (
            f"IntegratedGradients: {how_many(len(self), 'input')}, {how_many(int(self.segments.sum()), 'segment')}, "
            f"complete to {worst:.1e}"
        )

    @property
    def completeness_error(self) -> Array:
        """|sum of the values - (f(x) - f(baseline))| of every input, the largest over the outputs asked for."""
        gaps = np.abs(self.values.sum(axis=1) - (self.f_x - self.f_baseline))
        found: Array = gaps.max(axis=1, initial=0.0)
        return found
