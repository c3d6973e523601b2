"""Gradients of a network averaged over the segments of ways through it.

Neighbouring segments differ in a gate or two, mostly of early layers. Coefficients are pulled back from the outputs to
the inputs, and behind a layer they are the same for all segments in a row that have the same pattern from there on: so
a layer is passed once for each such run, not once for each segment. Below the first gates there is one row a way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Ids, Signs
from polyfold.program.affine import Affine
from polyfold.program.passes.walk import Gates, walk_back
from polyfold.program.program import Program, Stage

# Floats that the coefficients of one part may take: 8 MB. Much more would leave the processor's cache, much less would
# cut runs into pieces.
_FLOATS = 1 << 20


def mean_gradients(program: Program, signs: Signs, weights: Array, outputs: Sequence[int]) -> Array:
    """sum_k weights[k] * (gradient under pattern signs[k]) of some outputs: (outputs, inputs)."""
    widest = max([program.input_dim, *program.steps.widths])
    step = max(1, _FLOATS // (3 * widest * len(outputs)))
    total = np.zeros((len(outputs), program.input_dim))
    for first in range(0, len(signs), step):
        tick()
        part = slice(first, first + step)
        total += _pulled_back(program, signs[part], weights[part], np.asarray(outputs))
    return total


def _pulled_back(program: Program, signs: Signs, weights: Array, outputs: Ids) -> Array:
    pending = {value: rows[None] for value, rows in program.steps.output.rows(outputs).items()}
    by = _Runs(signs, weights, pending)
    left = walk_back(program, by, pending)
    if left is None:
        left = np.zeros((1, len(outputs), program.input_dim))
    gradients: Array = _averaged(left, by.shares)[0]
    return gradients


class _Runs:
    """Coefficients (runs, outputs, width) on values. Segments that agree on all gates met so far are one run, and are
    carried on as one: at every stage runs become shorter, in all that is still `pending`."""

    def __init__(self, signs: Signs, weights: Array, pending: dict[int, Array]) -> None:
        self._signs, self._weights, self._pending = signs, weights, pending
        # Segment `start[r]` is the first one of run r; before any gate is met all segments are one run.
        self._start = np.zeros(1, dtype=np.int64)
        self._changed = np.zeros(len(signs), dtype=bool)
        self._changed[:1] = True

    @property
    def shares(self) -> Array:
        """The weights of the runs."""
        return np.add.reduceat(self._weights, self._start)

    def through(self, gates: Gates[Stage], rows: Array) -> Array:
        tick()
        stage, on = gates.stage, self._signs[:, gates.numbers]
        self._changed[1:] |= (on[1:] != on[:-1]).any(axis=1)
        finer = np.flatnonzero(self._changed)
        parent = np.searchsorted(self._start, finer, side="right") - 1
        rows = rows[parent] * np.where(on[finer], stage.slope_on, stage.slope_off)[:, None, :]
        self._pending.update({k: waiting[parent] for k, waiting in self._pending.items()})
        self._start = finer
        if gates.number:
            return rows
        # No gate comes before these: from here on all runs are one.
        shares = self.shares
        self._pending.update({k: _averaged(waiting, shares) for k, waiting in self._pending.items()})
        self._start, self._weights = np.zeros(1, dtype=np.int64), np.ones(1)
        return _averaged(rows, shares)

    def pull(self, affine: Affine, rows: Array) -> dict[int, Array]:
        return affine.pull(rows)

    def plus(self, one: Array, other: Array) -> Array:
        return one + other


def _averaged(rows: Array, shares: Array) -> Array:
    """One row for all runs."""
    return np.tensordot(shares, rows, axes=1)[None]
