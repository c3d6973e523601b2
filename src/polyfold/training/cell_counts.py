"""How many cells the network has at every snapshot of its training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.progress import reporter
from polyfold.domain.domain import DomainLike
from polyfold.engine.count import count
from polyfold.errors import LimitError
from polyfold.training.recording import Recording
from polyfold.training.snapshots import a_recording, chosen


def cell_counts(
    recording: Recording,
    domain: DomainLike = None,
    *,
    snapshots: Any = None,
    progress: bool | Callable[[int], None] = False,
    max_seconds: float | None = None,
) -> npt.NDArray[np.int64]:
    """Numbers of cells on a domain (n,): of all snapshots, or of those whose numbers are given.

    `max_seconds` is for one snapshot; LimitError if one takes longer.

    >>> import numpy as np, polyfold as pf
    >>> layers = [(np.zeros((2, 2)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> recorder = pf.training.record(layers)
    >>> for k in range(2):
    ...     layers[0][0][k, k] = 1.0
    ...     recorder.step()
    >>> pf.training.cell_counts(recorder.recording, pf.box(-1, 1)).tolist()
    [1, 2, 4]
    """
    asked = chosen(a_recording(recording, "numbers of cells over training"), snapshots)
    found = np.zeros(len(asked), dtype=np.int64)
    with reporter(progress, "snapshots") as report:
        for row, snapshot in enumerate(asked.tolist()):
            counted = count(recording.network(snapshot), domain, max_seconds=max_seconds)
            if counted.stopped_by == "interrupt":
                raise KeyboardInterrupt
            if not counted.complete:
                raise LimitError(
                    f"snapshot {snapshot} has more than {counted.cells:,} cells; {counted.stopped_by} stopped the count"
                )
            found[row] = counted.cells
            report(row + 1)
    return found
