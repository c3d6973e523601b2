"""How many cells the network has at every snapshot of its training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from polyfold._base.clock import Report, running, tick
from polyfold._base.evidence import NOTHING_KNOWN, Evidence, weaker
from polyfold._base.question import question
from polyfold._base.result import Rows, Value, answered
from polyfold._base.types import Ids
from polyfold.atlas.evidence import evidence_from
from polyfold.domain.domain import DomainLike
from polyfold.engine.count import count
from polyfold.errors import LimitError, how_many
from polyfold.training.recording import Recording
from polyfold.training.snapshots import a_recording, chosen, one_by_one


@dataclass(frozen=True, eq=False, repr=False)
class CellCounts(Value, Rows):
    """Numbers of cells at n snapshots.

    Attributes
    ----------
    value : array of int, shape (n,)
        How many cells there are.
    snapshots, steps : array of int, shape (n,)
        The numbers of the snapshots, and after how many steps each was taken.
    """

    value: Ids
    snapshots: Ids
    steps: Ids

    def __post_init__(self) -> None:
        for array in (self.value, self.snapshots, self.steps):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        least, most = int(self.value.min(initial=0)), int(self.value.max(initial=0))
        stopped = f"; stopped by {self.stopped_by}" if self.stopped_by else ""
        return f"CellCounts: {least:,} to {most:,} cells at {how_many(len(self), 'snapshot')}; {self.evidence}{stopped}"

    def rows(self) -> dict[str, Any]:
        """One row per snapshot."""
        return {"snapshot": self.snapshots, "step": self.steps, "cells": self.value}


@question("training.cell_counts")
def cell_counts(
    recording: Recording,
    domain: DomainLike = None,
    *,
    snapshots: Sequence[int] | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> CellCounts:
    """Numbers of cells on a domain at the snapshots of a recording.

    Parameters
    ----------
    recording : Recording
        From `pf.training.record` or `pf.training.open`.
    domain : DomainLike, optional
        Where to count; None for everywhere.
    snapshots : list of int, optional
        The numbers of the snapshots; None for all.
    max_seconds : float, optional
        The limit, as Ctrl-C: the first snapshots are kept; LimitError if there are none.
    threads : int, optional
        How many to count with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    CellCounts
        One number per snapshot.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> layers = [(np.zeros((2, 2)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> recorder = pf.training.record(layers)
    >>> for k in range(2):
    ...     layers[0][0][k, k] = 1.0
    ...     recorder.step()
    >>> pf.training.cell_counts(recorder.recording, pf.box(-1, 1)).value.tolist()
    [1, 2, 4]
    """
    asked = chosen(a_recording(recording, "numbers of cells over training"), snapshots)
    found: list[int] = []
    known: list[Evidence] = []

    def look(snapshot: int) -> None:
        counted = count(recording.network(snapshot), domain, max_seconds=running().limit, threads=threads)
        if not counted.complete:
            tick()
            raise LimitError(
                f"snapshot {snapshot} has more than {counted.cells:,} cells; {counted.stopped_by} stopped the count"
            )
        found.append(counted.cells)
        known.append(evidence_from(counted.certificate))

    stopped_by = one_by_one(asked, 1, look)
    done = asked[: len(found)]
    counts = CellCounts(np.array(found, dtype=np.int64), done, recording.steps[done])
    return answered(counts, reduce(weaker, known) if known else NOTHING_KNOWN, stopped_by=stopped_by)
