"""How far the local maps at data points move while a network is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold._base.progress import reporter
from polyfold.engine.cells.local import MEMORY, LocalMaps, local
from polyfold.errors import PolyfoldError, how_many
from polyfold.training.recording import Recording
from polyfold.training.snapshots import a_recording, in_turn

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

_QUESTION = "how far local maps drift"


@dataclass(frozen=True, eq=False, repr=False)
class MapDrift(InNotebooks):
    """The maps x -> A x + c around N inputs at n snapshots, and how far they move from each to the next.

    `norm[i, s]` is the Euclidean norm of all numbers of (A, c) around input s at snapshot `snapshots[i]`, and
    `distance[i, s]` that of their difference to the next snapshot's: a distance in dual space. `switched[i, s]` counts
    the gates whose sign at the input differs between the two. `undecided[i]` counts signs that could not be proved at a
    snapshot, and are as floats have them: none, unless the network is very deep.
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

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row a snapshot: means over the inputs; what moved stands beside the later one."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise PolyfoldError("to_pandas() needs pandas: pip install 'polyfold[store]'") from None
        columns: dict[str, Any] = {"snapshot": self.snapshots, "step": self.steps, "norm": self.norm.mean(axis=1)}
        for name in ("distance", "relative", "switched"):
            columns[name] = np.append(np.nan, getattr(self, name).mean(axis=1))
        return pandas.DataFrame(columns).set_index("snapshot")


def map_drift(
    recording: Recording,
    X: Any,
    *,
    snapshots: Any = None,
    settle: bool | None = None,
    memory: int = MEMORY,
    progress: bool | Callable[[int], None] = False,
) -> MapDrift:
    """How far the local maps around the rows of X move from each snapshot to the next.

    Maps are those of `pf.local`, which `settle` and `memory` are for. Two snapshots' maps are held at a time.

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
    before: LocalMaps | None = None
    norm, distance, switched, undecided = [], [], [], []
    with reporter(progress, "snapshots") as report:
        for row, snapshot in enumerate(asked.tolist()):
            maps = local(recording.network(snapshot), X, settle=settle, max_memory=memory)
            norm.append(_norms(maps.A, maps.c))
            undecided.append(sum(map(len, maps.undecided)))
            if before is not None:
                distance.append(_norms(maps.A - before.A, maps.c - before.c))
                switched.append((maps.signs != before.signs).sum(axis=1))
            before = maps
            report(row + 1)
    return MapDrift(
        recording.steps[asked], asked, np.array(norm), np.array(distance), np.array(switched), np.array(undecided)
    )


def _norms(A: Array, c: Array) -> Array:
    found: Array = np.linalg.norm(np.concatenate([A.reshape(len(A), -1), c], axis=1), axis=1)
    return found
