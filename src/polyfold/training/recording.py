"""Recording: the weights of a model at some steps of its training, and what was logged on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from polyfold._base.extras import require
from polyfold._base.inputs import one_of
from polyfold._base.notebook import InNotebooks
from polyfold._base.types import Array, Ids
from polyfold.errors import ShapeError, how_many
from polyfold.network.graph import Network
from polyfold.training.template import Blueprint
from polyfold.training.weights import Weights

if TYPE_CHECKING:
    import pandas


class Kept(Protocol):
    """An array that is somewhere: in memory, or in a file until it is read."""

    def read(self) -> npt.NDArray[Any]: ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """An array at hand."""

    array: npt.NDArray[Any]

    def read(self) -> npt.NDArray[Any]:
        return self.array


@dataclass(frozen=True, eq=False)
class Metric:
    """Numbers that were logged under one name, and the steps at which they were."""

    steps: Ids
    values: Array

    def __post_init__(self) -> None:
        for array in (self.steps, self.values):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.steps)

    def up_to(self, step: int) -> float:
        """What was logged last at a step or before it; NaN if nothing was."""
        found = int(np.searchsorted(self.steps, step, side="right"))
        return float(self.values[found - 1]) if found else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class Recording(InNotebooks):
    """Snapshots of a model in training. Snapshot i was taken after `steps[i]` steps.

    `network(i)` is the model at snapshot i. `metrics[name]` holds what was logged: `steps` and `values`. Arrays that
    did not change from one snapshot to the next are kept once.
    """

    steps: Ids
    snapshots: tuple[Mapping[str, Kept], ...]
    metrics: Mapping[str, Metric]
    blueprint: Blueprint

    def __post_init__(self) -> None:
        if self.steps.shape != (len(self.snapshots),) or not len(self.steps):
            raise ShapeError("a recording has one step for each of its snapshots, and at least one")
        if (np.diff(self.steps) <= 0).any():
            raise ShapeError("the steps of a recording ascend")
        self.steps.setflags(write=False)

    def __len__(self) -> int:
        return len(self.snapshots)

    def __iter__(self) -> Iterator[Network]:
        return (self.network(i) for i in range(len(self)))

    def __repr__(self) -> str:
        logged = f"; logged: {', '.join(self.metrics)}" if self.metrics else ""
        return f"Recording: {how_many(len(self), 'snapshot')}, steps {self.steps[0]} to {self.steps[-1]}{logged}"

    def network(self, snapshot: int) -> Network:
        """The model as it was at a snapshot; -1 is the last one."""
        return self.blueprint.network(self.weights(snapshot))

    def weights(self, snapshot: int) -> Weights:
        """The model's own arrays at a snapshot, by their names in the model."""
        number = one_of(snapshot, len(self), "snapshot", "the recording")
        return {name: kept.read() for name, kept in self.snapshots[number].items()}

    def at(self, step: int) -> int:
        """The last snapshot that was taken at a step or before it."""
        found = int(np.searchsorted(self.steps, step, side="right")) - 1
        if found < 0:
            raise IndexError(f"there is no snapshot at step {step} or before it: the first is of step {self.steps[0]}")
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with one row per snapshot: its step, and what had been logged last by then."""
        pandas = require("pandas", extra="store", purpose="Recording.to_pandas()")
        columns: dict[str, Any] = {"snapshot": np.arange(len(self)), "step": self.steps}
        for name, metric in self.metrics.items():
            columns[name] = [metric.up_to(step) for step in self.steps.tolist()]
        return pandas.DataFrame(columns).set_index("snapshot")
