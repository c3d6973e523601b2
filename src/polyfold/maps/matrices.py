"""local_maps: the rows [w, b] of a network around many inputs, batch by batch, into memory or files."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import check_seconds, interrupts_noted
from polyfold._base.numbers import some_outputs
from polyfold._base.options import thread_count
from polyfold._base.progress import Progress, reporter
from polyfold.errors import LimitError, PolyfoldError, ShapeError, how_many
from polyfold.maps.graph_backward import Backward
from polyfold.maps.graph_forward import Passed, passed
from polyfold.maps.result import MapMatrices
from polyfold.maps.storage import About, InFolder, InMemory, Place
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.network.ops.ops import size
from polyfold.program.lower.lower import lower

Array = npt.NDArray[Any]

# Bytes that maps may take without a folder to keep them in.
IN_MEMORY = 4 << 30
# Bytes to work with besides the result, and most inputs at once: more does not make it faster.
_WORK = 1 << 28
_MOST_AT_ONCE = 512
# Seconds between two times that what is done is kept.
_KEEP_EVERY = 5.0


def matrices(
    network: Any,
    X: Any,
    *,
    path: str | PathLike[str] | None = None,
    outputs: Sequence[int] | None = None,
    dtype: Any = np.float64,
    threads: int | None = None,
    progress: bool | Callable[[int], None] = False,
    max_seconds: float | None = None,
) -> MapMatrices:
    """The matrices C_j of a network: one row [w, b] an input, for every output j.

    On the closed cell of an input x, output j is w . x + b. Signs are those of a float64 pass; an input on a wall gets
    the map of one side: gates that are zero are off, and among equal entries of a maximum the first one wins, as in
    automatic differentiation.

    Parameters
    ----------
    network: anything that `pf.load` takes.
    X: inputs, (n, d) or (n, *the network's input shape). float32 inputs are kept as they are.
    path: a folder to keep the maps in, as files that are mapped into memory. If it has some of this network and these
        inputs already, the work goes on behind them. None: in memory, up to 4 GiB.
    outputs: the numbers of the outputs; None for all.
    dtype: float64, or float32 for half the space: then rows are computed in float32, with gates decided in float64.
    threads: for the convolutions; None for one a processor.
    progress: True for a progress line on standard error, or a function that is called with the number of inputs so far.
    max_seconds: stop there, as Ctrl-C does: the result then has the first inputs only, and says so.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.ones(1))]
    >>> maps = pf.maps.matrices(corner, [[3.0, -1.0], [2.0, 5.0], [1.0, 1.0]])
    >>> maps.of(0)
    array([[1., 0., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    >>> maps.distinct_cells, maps.residual
    (2, 0.0)
    """
    given = load(network)
    rows = _rows(given, X)
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise PolyfoldError(f"dtype={dtype!r} is no option: use float32 or float64")
    chosen = _chosen(outputs, given.output_dim)
    check_seconds(max_seconds)
    shape = (len(chosen), len(rows), given.input_dim + 1)
    about = About("", shape, kind.name, _batch(given, len(chosen), kind.itemsize))
    if path is None and int(np.prod(shape)) * kind.itemsize > IN_MEMORY:
        raise LimitError(
            f"these maps take {int(np.prod(shape)) * kind.itemsize:,} bytes: give path=... to keep them in files, or "
            "take fewer outputs or inputs"
        )
    place: Place = InMemory(about) if path is None else InFolder(Path(path), _named(about, given, rows, chosen))
    backward = Backward(given, kind, thread_count(threads))
    with reporter(progress, "inputs") as report:
        stopped_by = _fill(place, backward, rows, chosen, report, max_seconds)
    done = place.about.done
    place.maps.setflags(write=False)
    return MapMatrices(
        place.maps[:, :done],
        rows[:done],
        chosen,
        given.inputs[0].shape if len(given.inputs) == 1 else (given.input_dim,),
        np.asarray(place.cells[:done]),
        place.about.residual,
        None if path is None else Path(path),
        stopped_by,
    )


def _fill(
    place: Place,
    backward: Backward,
    rows: Array,
    outputs: tuple[int, ...],
    report: Progress,
    max_seconds: float | None,
) -> str | None:
    """Write what is not there yet; what stopped it, if something did."""
    started = kept = time.perf_counter()
    interrupted: list[bool] = []
    about = place.about
    with interrupts_noted(lambda: interrupted.append(True)):
        while about.done < len(rows):
            # The same batches whenever it was stopped: products of other batches may be rounded in another way.
            part = slice(about.done, min(about.done + about.batch, len(rows)))
            residual = _batch_into(place, backward, rows, part, outputs)
            about = replace(about, done=part.stop, residual=max(about.residual, residual))
            report(about.done)
            now = time.perf_counter()
            out_of_time = max_seconds is not None and now - started > max_seconds
            stop = bool(interrupted) or out_of_time
            if stop or about.done == len(rows) or now - kept > _KEEP_EVERY:
                place.keep(about)
                kept = now
            if stop and about.done < len(rows):
                return "interrupt" if interrupted else "max_seconds"
    return None


def _batch_into(place: Place, backward: Backward, rows: Array, part: slice, outputs: tuple[int, ...]) -> float:
    """Write the maps of one batch, and say how far they are from the network's own outputs."""
    X = rows[part].astype(np.float64)
    run = passed(backward.network, X)
    into = place.maps[:, part]
    backward.write(run, outputs, into)
    place.cells[part] = _digests(run)
    x = np.ones((len(X), X.shape[1] + 1, 1), dtype=into.dtype)
    x[:, :-1, 0] = X
    values = np.matmul(into.transpose(1, 0, 2), x)[:, :, 0]
    return float(np.abs(values - run.outputs[:, list(outputs)]).max(initial=0.0))


def _digests(run: Passed) -> Array:
    found = [hashlib.blake2b(piece, digest_size=16).digest() for piece in run.pieces()]
    return np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), 16)


def _rows(network: Network, X: Any) -> Array:
    """The inputs as rows of floats: float32 where they are float32 already."""
    if hasattr(X, "detach"):
        X = X.detach().cpu().numpy()
    array = np.asarray(X)
    if array.dtype != np.float32:
        return _finite(network.rows(X))
    if array.ndim < 2 or size(array.shape[1:]) != network.input_dim:
        raise ShapeError(f"the network takes {how_many(network.input_dim, 'number')} a row; X has shape {array.shape}")
    return _finite(array.reshape(len(array), network.input_dim))


def _finite(rows: Array) -> Array:
    # A sum that is finite is one of finite numbers; only others are looked at one by one.
    with np.errstate(over="ignore", invalid="ignore"):
        total = rows.sum()
    if not np.isfinite(total) and not np.isfinite(rows).all():
        raise ShapeError(f"input {int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])} is not finite")
    return rows


def _chosen(outputs: Sequence[int] | None, count: int) -> tuple[int, ...]:
    if outputs is None:
        return tuple(range(count))
    chosen = some_outputs(outputs, count)
    if not chosen or len(set(chosen)) < len(chosen):
        raise ShapeError(f"outputs={outputs!r}: give some of the numbers 0 to {count - 1}, each once")
    return chosen


def _batch(network: Network, outputs: int, itemsize: int) -> int:
    """How many inputs at once: as many as there is memory for, with a few copies of the widest value."""
    widest = max(size(shape) for shape in network.shapes.values())
    return max(1, min(_MOST_AT_ONCE, _WORK // (widest * (4 * outputs * itemsize + 64))))


def _named(about: About, network: Network, rows: Array, outputs: tuple[int, ...]) -> About:
    """With a digest that names the network, the inputs and the outputs."""
    hasher = hashlib.sha256(f"{lower(network).digest} {outputs} {rows.shape} {rows.dtype}".encode())
    for start in range(0, len(rows), 4096):
        hasher.update(np.ascontiguousarray(rows[start : start + 4096]).tobytes())
    return replace(about, digest=hasher.hexdigest())
