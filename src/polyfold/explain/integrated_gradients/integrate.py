"""integrated_gradients: the mean gradient on the way from a baseline to an input, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.clock import OutOfTimeError, Report, running, tick
from polyfold._base.inputs import features_of, rows_of, some_outputs
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.evidence import computed_in_floats
from polyfold.engine.source import SourceLike, as_program
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.explain.integrated_gradients.mean_gradients import mean_gradients
from polyfold.explain.integrated_gradients.result import IntegratedGradients
from polyfold.explain.integrated_gradients.segments import segments
from polyfold.program.passes.floats import with_sizes
from polyfold.program.program import Program


@question("explain.integrated_gradients")
def integrated_gradients(
    source: SourceLike,
    X: ArrayLike,
    *,
    baseline: ArrayLike,
    output: int | Sequence[int] | Literal["largest"] | None = None,
    feature_names: Sequence[str] | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> IntegratedGradients:
    """Exact integrated gradients: (x - baseline) times the mean gradient on the straight way between the two.

    The way is cut where the network bends, so there is no number of steps to choose: on each segment the gradient is
    constant. The values of an input add up to f(x) - f(baseline). The definition is that of Sundararajan, Taly and Yan
    (2017), "Axiomatic attribution for deep networks".

    Parameters
    ----------
    source : SourceLike
        A model, or an atlas of one; convolutional networks of any size too.
    X : ArrayLike, shape (n, d) or (n, *the network's input shape)
        Inputs.
    baseline : ArrayLike
        One input for all of X, or one for each, in the shape of X.
    output : int, list of int or "largest", optional
        Which outputs to explain: None for all, numbers, or "largest" for each input's own largest output. The fewer,
        the faster.
    feature_names : sequence of str, optional
        Of the inputs; by default those of a data frame's columns.
    max_seconds : float, optional
        Stop there, as Ctrl-C does: the first inputs are kept; LimitError if not even one was done.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    IntegratedGradients
        For each input, entry and output asked for, what the entry contributes.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> found = pf.explain.integrated_gradients(corner, [[3.0, 1.0]], baseline=[-1.0, 0.0])
    >>> found.values[0, :, 0].round(9).tolist(), int(found.segments[0])
    ([3.0, 1.0], 2)
    """
    program = as_program(source)
    names = features_of(feature_names, X, program.input_dim)
    rows = rows_of(X, program.input_dim, names=names)
    starts = _baselines(program, baseline, rows, names)
    (f_x, here), (f_start, there) = apart(lambda: (with_sizes(program, rows), with_sizes(program, starts)))
    asked = _outputs(output, f_x)
    values = np.zeros((len(rows), program.input_dim, asked.shape[1]))
    counts, undecided = np.ones(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    done, stopped_by, clock = 0, None, running()
    with clock.noting_interrupts():
        for i, (start, end) in enumerate(zip(starts, rows, strict=True)):
            try:
                tick()
                # Where both are the same there is no way to go, and nothing to explain.
                if not np.array_equal(start, end):
                    way = segments(program, start, end)
                    gradients = mean_gradients(program, way.signs, way.lengths, asked[i].tolist())
                    counts[i], undecided[i] = len(way.lengths), way.undecided
                    values[i] = (gradients * (end - start)).T
            except OutOfTimeError as error:
                if not i:
                    raise
                stopped_by = error.stopped_by
                break
            done = i + 1
            clock.tell(done, len(rows), "inputs")
    first, picked = slice(done), np.arange(done)[:, None]
    found = IntegratedGradients(
        rows[first].copy(),
        starts[first].copy(),
        values[first].copy(),
        asked[first].copy(),
        f_x[picked, asked[first]],
        f_start[picked, asked[first]],
        counts[first].copy(),
        undecided[first].copy(),
        np.maximum(here, there)[first],
        names,
    )
    return answered(found, computed_in_floats(program), stopped_by=stopped_by)


def _baselines(program: Program, baseline: ArrayLike, rows: Array, names: tuple[str, ...]) -> Array:
    """One baseline per row."""
    given = rows_of(
        baseline,
        program.input_dim,
        what="baseline",
        names=names,
        shape=np.shape(baseline) if np.size(baseline) == program.input_dim else None,
    )
    if len(given) == 1:
        return np.repeat(given, len(rows), axis=0)
    if len(given) != len(rows):
        raise ShapeError(
            f"baseline must be one input, or one for each of the {how_many(len(rows), 'row')} of X; it has "
            f"{how_many(len(given), 'row')}"
        )
    return given


def _outputs(output: Any, f_x: Array) -> Ids:
    """The outputs asked for, (n, k)."""
    n, m = f_x.shape
    if output is None:
        return np.tile(np.arange(m), (n, 1))
    if isinstance(output, str):
        if output != "largest":
            raise PolyfoldError(f"output must be None, numbers of outputs or 'largest', got {output!r}")
        largest: Ids = np.argmax(f_x, axis=1)[:, None]
        return largest
    numbers = some_outputs(output, m)
    if not numbers:
        raise PolyfoldError("output=[] asks for nothing: give numbers of outputs, or None for all")
    return np.tile(np.array(numbers, dtype=np.int64), (n, 1))
