"""How far the local maps at data points move while a network is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.clock import Report, running, tick
from polyfold._base.inputs import rows_of
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.evidence import computed_in_floats
from polyfold.engine.cells.local import MEMORY, LocalMaps, local
from polyfold.errors import LimitError, how_many
from polyfold.program.lower.lower import lower
from polyfold.training.recording import Recording
from polyfold.training.snapshots import a_recording, in_turn, one_by_one

if TYPE_CHECKING:
    import pandas

_QUESTION = "how far local maps drift"


@dataclass(frozen=True, eq=False, repr=False)
class MapDrift(Rows):
    """The maps x -> A x + c around N inputs at n snapshots, and how far they move from each to the next.

    Attributes
    ----------
    steps, snapshots : array of int, shape (n,)
        The numbers of the snapshots, and after how many steps each was taken.
    norm : array of float, shape (n, N)
        The Euclidean norm of all numbers of (A, c) around each input.
    distance : array of float, shape (n - 1, N)
        That of their difference to the next snapshot's: a distance in dual space.
    switched : array of int, shape (n - 1, N)
        How many gates have another sign at the input in the next snapshot.
    undecided : array of int, shape (n,)
        How many signs could not be proved, and are as floats have them: none, unless the network is very deep.
    """

    steps: Ids
    snapshots: Ids
    norm: Array
    distance: Array
    switched: Ids
    undecided: Ids

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        return f"MapDrift: {how_many(len(self), 'move')} of the maps around {how_many(self.norm.shape[1], 'input')}"

    @cached_property
    def relative(self) -> Array:
        """Distances by the mean norm before and after (n - 1, N); 0 where both maps are zero."""
        mean = (self.norm[:-1] + self.norm[1:]) / 2
        return np.divide(self.distance, mean, out=np.zeros_like(mean), where=mean > 0)

    def rows(self) -> dict[str, Any]:
        """One row per snapshot: means over the inputs; what moved stands beside the later one."""
        columns: dict[str, Any] = {"snapshot": self.snapshots, "step": self.steps, "norm": self.norm.mean(axis=1)}
        moved = ("distance", "relative", "switched")
        return columns | {name: np.append(np.nan, getattr(self, name).mean(axis=1)) for name in moved}

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame, by the numbers of the snapshots."""
        return super().to_pandas().set_index("snapshot")


@question("training.map_drift")
def map_drift(
    recording: Recording,
    X: ArrayLike,
    *,
    snapshots: Sequence[int] | None = None,
    settle: bool | None = None,
    max_memory: int = MEMORY,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> MapDrift:
    """How far the local maps around the rows of X move from each snapshot to the next.

    Maps are those of `pf.local`. Two snapshots' maps are held at a time.

    Parameters
    ----------
    recording : Recording
        From `pf.training.record` or `pf.training.open`.
    X : ArrayLike, shape (N, d)
        Inputs.
    snapshots : list of int, optional
        The numbers of the snapshots, ascending; None for all.
    settle : bool, optional
        Whether signs that floats cannot prove are proved in longer numbers, as for `pf.local`.
    max_memory : int
        Bytes to work with, as for `pf.local`.
    max_seconds : float, optional
        The limit, as Ctrl-C: the first snapshots are kept; LimitError if there are not two.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    MapDrift
        Norms of the maps, and how far each moved.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> layers = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> recorder = pf.training.record(layers)
    >>> layers[0][0][0, 0] = -1.0                                         # the first gate is turned round
    >>> recorder.step()
    >>> drift = pf.training.map_drift(recorder.recording, [[1.0, 2.0], [-1.0, -2.0]])
    >>> drift.distance.tolist(), drift.switched.tolist()
    ([[1.0, 1.0]], [[1, 1]])
    """
    asked = in_turn(a_recording(recording, _QUESTION), snapshots, _QUESTION)
    first = recording.network(int(asked[0]))
    rows = rows_of(X, first.input_dim, shape=first.inputs[0].shape)
    held: list[LocalMaps] = []
    norm: list[Array] = []
    distance: list[Array] = []
    switched: list[Ids] = []
    undecided: list[int] = []

    def look(snapshot: int) -> None:
        network, left = recording.network(snapshot), running().limit
        maps = apart(lambda: local(network, rows, settle=settle, max_memory=max_memory, max_seconds=left))
        if maps.stopped_by is not None:
            tick()
            raise LimitError(f"{_QUESTION}: {maps.stopped_by} stopped the maps of snapshot {snapshot}")
        if held:
            distance.append(_norms(maps.A - held[0].A, maps.c - held[0].c))
            switched.append((maps.signs != held[0].signs).sum(axis=1))
        norm.append(_norms(maps.A, maps.c))
        undecided.append(sum(map(len, maps.undecided)))
        held[:] = [maps]

    stopped_by = one_by_one(asked, 2, look)
    done = asked[: len(norm)]
    found = MapDrift(
        recording.steps[done], done, np.array(norm), np.array(distance), np.array(switched), np.array(undecided)
    )
    return answered(found, computed_in_floats(lower(first)), stopped_by=stopped_by)


def _norms(A: Array, c: Array) -> Array:
    found: Array = np.linalg.norm(np.concatenate([A.reshape(len(A), -1), c], axis=1), axis=1)
    return found
