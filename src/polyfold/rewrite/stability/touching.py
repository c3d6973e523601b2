"""Ranges that end at zero exactly, which floats with room for rounding never prove: intervals in rationals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.rational import rational
from polyfold.program.exact_program import ExactProgram
from polyfold.program.passes.intervals import output_range
from polyfold.rewrite.stability.claims import Claim, Ledger


def settle_touching(ledger: Ledger, program: ExactProgram, low: Array, high: Array) -> None:
    """Prove claims whose range ends so near zero that rounding alone may hide the proof."""
    sources = [(low, high)]
    for stage, exact in enumerate(program.stages):
        layer = ledger.layers.layers[stage]
        for side, end in ((1, 0), (-1, 1)):
            bounds = side * ledger.ranges[stage][end]
            reach = np.abs(layer.bias)
            for source, W in layer.blocks:
                reach = reach + np.abs(W) @ np.maximum(np.abs(sources[source][0]), np.abs(sources[source][1]))
            near = np.flatnonzero((bounds < 0) & (bounds >= -4 * ledger.layers.error * reach) & np.isfinite(reach))
            for gate in near.tolist():
                tick()
                terms = exact.rows.terms.items()
                total = side * exact.rows.bias[gate] + sum(
                    (_least(side * matrix[gate], *sources[source]) for source, matrix in terms), fmpq(0)
                )
                if total >= 0:
                    ledger.prove(Claim(stage, gate, side), "interval arithmetic in rationals")
        sources.append(output_range(ledger.layers, layer, ledger.ranges[stage]))


def _least(row: npt.NDArray[np.object_], low: Array, high: Array) -> fmpq:
    """The least value of row . x over a box."""
    return sum(
        (w * rational(low[k] if w > 0 else high[k]) for k, w in enumerate(row.tolist()) if w),
        fmpq(0),
    )
