"""integrated_gradients: the mean gradient on the way from a baseline to an input, exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import real_array
from polyfold._base.numbers import some_outputs
from polyfold._base.progress import reporter
from polyfold.engine.cells.local import input_rows
from polyfold.errors import PolyfoldError, ShapeError
from polyfold.explain.integrated_gradients.mean_gradients import mean_gradients
from polyfold.explain.integrated_gradients.result import IntegratedGradients
from polyfold.explain.integrated_gradients.segments import segments
from polyfold.network.load import load
from polyfold.program.lower.lower import lower
from polyfold.program.passes.floats import with_sizes
from polyfold.program.program import Program

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def integrated_gradients(
    network: Any,
    X: Any,
    baseline: Any,
    *,
    outputs: int | list[int] | Literal["largest"] | None = None,
    progress: bool | Callable[[int], None] = False,
) -> IntegratedGradients:
    """Exact integrated gradients: (x - baseline) times the mean gradient on the straight way between the two.

    The way is cut where the network bends, so there is no number of steps to choose: on each segment the gradient is
    constant. The values of an input add up to f(x) - f(baseline).

    Parameters
    ----------
    network: anything that `pf.load` takes; convolutional networks of any size too.
    X: inputs, (n, d) or (n, *the network's input shape).
    baseline: one input for all of X, or one for each, in the shape of X.
    outputs: which outputs to explain: None for all, a number or a list of numbers, or "largest" for each input's
        own largest output. The fewer, the faster.
    progress: True for a progress line on standard error, or a function that is called with the number of inputs so far.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> found = pf.explain.integrated_gradients(corner, [[3.0, 1.0]], [-1.0, 0.0])
    >>> found.values[0, :, 0].round(9).tolist(), int(found.segments[0])
    ([3.0, 1.0], 2)
    """
    program = network if isinstance(network, Program) else lower(load(network))
    rows = input_rows(program, X)
    starts = _baselines(program, baseline, rows)
    (f_x, here), (f_start, there) = with_sizes(program, rows), with_sizes(program, starts)
    asked = _outputs(outputs, f_x)
    values = np.zeros((len(rows), program.input_dim, asked.shape[1]))
    counts, undecided = np.ones(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    with reporter(progress, "inputs") as report:
        for i, (start, end) in enumerate(zip(starts, rows, strict=True)):
            # Where both are the same there is no way to go, and nothing to explain.
            if not np.array_equal(start, end):
                way = segments(program, start, end)
                counts[i], undecided[i] = len(way.lengths), way.undecided
                gradients = mean_gradients(program, way.signs, way.lengths, asked[i].tolist())
                values[i] = (gradients * (end - start)).T
            report(i + 1)
    picked = np.arange(len(rows))[:, None]
    return IntegratedGradients(
        rows,
        starts,
        values,
        asked,
        f_x[picked, asked],
        f_start[picked, asked],
        counts,
        undecided,
        np.maximum(here, there),
    )


def _baselines(program: Program, baseline: Any, rows: Array) -> Array:
    """One baseline a row."""
    given = real_array("the baseline is an input, or one for each input", baseline)
    if given.size == program.input_dim:
        given = np.repeat(given.reshape(1, -1), len(rows), axis=0)
    elif given.ndim < 2 or len(given) != len(rows) or given.size != rows.size:
        raise ShapeError(
            f"the baseline is one input of {program.input_dim} numbers, or one for each of the {len(rows)} inputs; "
            f"it has shape {given.shape}"
        )
    return input_rows(program, given) if len(rows) else given.reshape(rows.shape)


def _outputs(outputs: Any, f_x: Array) -> Ids:
    """The outputs asked for, (n, k)."""
    n, m = f_x.shape
    if outputs is None:
        return np.tile(np.arange(m), (n, 1))
    if isinstance(outputs, str):
        if outputs != "largest":
            raise PolyfoldError(f"outputs={outputs!r} is no option: use None, numbers of outputs, or 'largest'")
        largest: Ids = np.argmax(f_x, axis=1)[:, None]
        return largest
    numbers = some_outputs(outputs, m)
    if not numbers:
        raise PolyfoldError("outputs=[] asks for nothing: give numbers of outputs, or None for all")
    return np.tile(np.array(numbers, dtype=np.int64), (n, 1))
