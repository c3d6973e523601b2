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
from polyfold.program.program import Program

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
    steps = program.steps
    # Segment `start[r]` is the first one of run r; before any gate is met all segments are one run.
    start = np.zeros(1, dtype=np.int64)
    changed = np.zeros(len(signs), dtype=bool)
    changed[:1] = True
    pending = {value: rows[None] for value, rows in steps.output.rows(outputs).items()}
    for value in range(len(steps.steps), 0, -1):
        if value not in pending:
            continue
        tick()
        step, rows = steps.steps[value - 1], pending.pop(value)
        if step.stage is not None:
            stage, first = program.stages[step.stage], program.first_gate[step.stage]
            on = signs[:, first : first + stage.width]
            changed[1:] |= (on[1:] != on[:-1]).any(axis=1)
            finer = np.flatnonzero(changed)
            parent = np.searchsorted(start, finer, side="right") - 1
            rows = rows[parent] * np.where(on[finer], stage.slope_on, stage.slope_off)[:, None, :]
            pending = {k: waiting[parent] for k, waiting in pending.items()}
            start = finer
            if not any(each.stage is not None for each in steps.steps[: value - 1]):
                shares = np.add.reduceat(weights, start)
                rows, pending = _averaged(rows, shares), {k: _averaged(each, shares) for k, each in pending.items()}
                start, weights = np.zeros(1, dtype=np.int64), np.ones(1)
        for k, carried in step.affine.pull(rows).items():
            pending[k] = pending[k] + carried if k in pending else carried
    left = pending.get(0, np.zeros((1, len(outputs), program.input_dim)))
    gradients: Array = _averaged(left, np.add.reduceat(weights, start))[0]
    return gradients


def _averaged(rows: Array, shares: Array) -> Array:
    """One row for all runs."""
    return np.tensordot(shares, rows, axes=1)[None]
