"""matrices: the rows [w, b] of a network around many inputs, batch by batch, into memory or files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import Report, running
from polyfold._base.inputs import rows_of, some_outputs
from polyfold._base.options import thread_count
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.types import AnyArray, ArrayLike
from polyfold.atlas.evidence import computed_in_floats
from polyfold.engine.source import SourceLike, as_network
from polyfold.errors import LimitError, PolyfoldError, ShapeError
from polyfold.maps.graph_backward import Backward
from polyfold.maps.graph_forward import Passed, passed
from polyfold.maps.result import MapMatrices
from polyfold.maps.storage import About, InFolder, InMemory, MapStore
from polyfold.network.graph import Network, Node
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.op import size
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program

# Of either precision.

# Bytes that maps may take without a folder to keep them in.
IN_MEMORY = 4 << 30
# Bytes to work with besides the result, and most inputs at once: more does not make it faster.
_WORK = 1 << 28
_MOST_AT_ONCE = 512
# Numbers that are multiplied in one batch: less than a tenth of a second.
_PRODUCTS = 1 << 27
# Seconds between two times that what is done is kept.
_KEEP_EVERY = 5.0


@question("maps.matrices")
def matrices(
    source: SourceLike,
    X: ArrayLike,
    *,
    output: int | Sequence[int] | None = None,
    dtype: npt.DTypeLike = np.float64,
    out: str | PathLike[str] | None = None,
    threads: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> MapMatrices:
    """The matrices C_j of a network: one row [w, b] per input, for every output j.

    On the closed cell of an input x, output j is w . x + b. Signs are those of a float64 pass; an input on a wall gets
    the map of one side: gates that are zero are off, and among equal entries of a maximum the first one wins, as in
    automatic differentiation.

    Parameters
    ----------
    source : SourceLike
        A model, or an atlas of one.
    X : ArrayLike, shape (n, d) or (n, *the network's input shape)
        Inputs. float32 inputs are kept as they are.
    output : int or list of int, optional
        The numbers of the outputs; None for all.
    dtype : "float64" or "float32"
        float32 takes half the space: then rows are computed in float32, with gates decided in float64.
    out : path, optional
        A folder to keep the maps in, as files that are mapped into memory. If it has some of this network and these
        inputs already, the work goes on behind them. None: in memory, up to 4 GiB.
    threads : int, optional
        For the convolutions (default: one per CPU).
    max_seconds : float, optional
        Stop there, as Ctrl-C does: the result then has the first inputs only, and says so. Some are always done.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    MapMatrices
        The matrices, and which inputs share a cell.

    Examples
    --------
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
    given = as_network(source)
    shape_of_one = given.inputs[0].shape if len(given.inputs) == 1 else (given.input_dim,)
    rows = rows_of(X, given.input_dim, shape=shape_of_one, single=True)
    kind = _kind(dtype)
    chosen = _chosen(output, given.output_dim)
    shape = (len(chosen), len(rows), given.input_dim + 1)
    about = About("", shape, kind.name, _batch(given, len(chosen), kind.itemsize))
    if out is None and int(np.prod(shape)) * kind.itemsize > IN_MEMORY:
        raise LimitError(
            f"these maps take {int(np.prod(shape)) * kind.itemsize:,} bytes: give out=... to keep them in files, or "
            "take fewer outputs or inputs"
        )
    program = lower(given)
    place: MapStore = InMemory(about) if out is None else InFolder(Path(out), _named(about, program, rows, chosen))
    stopped_by = _fill(place, Backward(given, kind, thread_count(threads)), rows, chosen)
    done = place.about.done
    place.maps.setflags(write=False)
    found = MapMatrices(
        place.maps[:, :done],
        rows[:done],
        chosen,
        shape_of_one,
        np.asarray(place.cells[:done]),
        place.about.residual,
        None if out is None else Path(out),
    )
    return answered(found, computed_in_floats(program), stopped_by=stopped_by)


def _fill(place: MapStore, backward: Backward, rows: AnyArray, outputs: tuple[int, ...]) -> str | None:
    """Write what is not there yet; what stopped it, if something did."""
    clock, about = running(), place.about
    kept = clock.seconds
    with clock.noting_interrupts():
        while about.done < len(rows):
            # The same batches whenever it was stopped: products of other batches may be rounded in another way.
            part = slice(about.done, min(about.done + about.batch, len(rows)))
            residual = _batch_into(place, backward, rows, part, outputs)
            about = replace(about, done=part.stop, residual=max(about.residual, residual))
            clock.tell(about.done, len(rows), "inputs")
            stopped_by = clock.stopped_by
            if stopped_by or about.done == len(rows) or clock.seconds - kept > _KEEP_EVERY:
                place.keep(about)
                kept = clock.seconds
            if stopped_by and about.done < len(rows):
                return stopped_by
    return None


def _batch_into(place: MapStore, backward: Backward, rows: AnyArray, part: slice, outputs: tuple[int, ...]) -> float:
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


def _digests(run: Passed) -> AnyArray:
    found = [hashlib.blake2b(piece, digest_size=16).digest() for piece in run.pieces()]
    return np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), 16)


def _kind(dtype: Any) -> np.dtype[Any]:
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise PolyfoldError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    return kind


def _chosen(output: Any, count: int) -> tuple[int, ...]:
    if output is None:
        return tuple(range(count))
    chosen = some_outputs(output, count)
    if not chosen or len(set(chosen)) < len(chosen):
        raise ShapeError(f"output={output!r}: give some of the numbers 0 to {count - 1}, each once")
    return chosen


def _batch(network: Network, outputs: int, itemsize: int) -> int:
    """How many inputs at once.

    As many as there is memory for, with a few copies of the widest value, and as are done before anybody waits.
    """
    widest = max(size(shape) for shape in network.shapes.values())
    products = max(1, sum(_products(network, node) for node in network.nodes)) * (outputs + 1)
    return max(1, min(_MOST_AT_ONCE, _WORK // (widest * (4 * outputs * itemsize + 64)), _PRODUCTS // products))


def _products(network: Network, node: Node) -> int:
    """About how many numbers a node multiplies for one input."""
    behind, op = network.shapes[node.name], node.op
    if isinstance(op, Linear):
        return int(size(behind) * op.weight.shape[1])
    if isinstance(op, Convolution):
        return int(op.kernel.size * size(behind[1:]))
    if isinstance(op, TransposedConvolution):
        return op.kernel.size * size(network.shapes[node.inputs[0]][1:])
    return int(op.matrix.nnz) if isinstance(op, Combine) else size(behind)


def _named(about: About, program: Program, rows: AnyArray, outputs: tuple[int, ...]) -> About:
    """With a digest that names the network, the inputs and the outputs."""
    hasher = hashlib.sha256(f"{program.digest} {outputs} {rows.shape} {rows.dtype}".encode())
    for start in range(0, len(rows), 4096):
        hasher.update(np.ascontiguousarray(rows[start : start + 4096]).tobytes())
    return replace(about, digest=hasher.hexdigest())
