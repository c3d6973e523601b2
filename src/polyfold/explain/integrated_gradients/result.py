"""What integrated gradients are, and the check that they add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.result import Rows
from polyfold._base.types import Array, Ids
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.tolerances import ADDS_UP


@dataclass(frozen=True, eq=False, repr=False)
class IntegratedGradients(Rows):
    """What each entry of an input contributes to outputs, on the way from a baseline to the input.

    That the values add up to f_x - f_baseline was checked when this was made, to 1e-9 of the largest number met.

    Attributes
    ----------
    X, baseline : array of float, shape (n, d)
        Both ends of each way.
    values : array of float, shape (n, d, k)
        values[i, j, k] is what entry j contributes to output outputs[i, k].
    outputs : array of int, shape (n, k)
        The numbers of the outputs asked for.
    f_x, f_baseline : array of float, shape (n, k)
        The outputs at both ends.
    segments : array of int, shape (n,)
        On how many segments the gradient was looked at, which are all that there are.
    undecided : array of int, shape (n,)
        How many gates floats could not tell from zero at ends of segments, as happens where gates vanish along the way:
        they count as off.
    scale : array of float, shape (n,)
        The largest number met.
    feature_names : tuple of str
        Of the entries.
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
    feature_names: tuple[str, ...]

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
        if len(self.feature_names) != d:
            raise ShapeError(f"there are {d} features and {len(self.feature_names)} names for them")
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
            f"complete to {worst:.1e}" + (f"; stopped by {self.stopped_by}" if self.stopped_by else "")
        )

    def rows(self) -> dict[str, Any]:
        """One row per input and output: what each feature contributes."""
        n, _, k = self.values.shape
        columns: dict[str, Any] = {"input": np.repeat(np.arange(n), k), "output": self.outputs.ravel()}
        flat = self.values.transpose(0, 2, 1).reshape(n * k, -1)
        return columns | {name: flat[:, j] for j, name in enumerate(self.feature_names)}

    @property
    def completeness_error(self) -> Array:
        """|sum of the values - (f(x) - f(baseline))| of every input, the largest over the outputs asked for."""
        gaps = np.abs(self.values.sum(axis=1) - (self.f_x - self.f_baseline))
        found: Array = gaps.max(axis=1, initial=0.0)
        return found
