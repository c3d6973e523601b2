"""The stages of the study of locally linear attributes, each kept as it is done: maps, clusters, maps between networks.

Everything is done output by output, and files of other outputs are not held in memory. What was made from other maps
is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from polyfold._base.files import atomically
from polyfold._base.types import AnyArray
from polyfold.errors import PolyfoldError, how_many
from polyfold.maps.clusters import centres_of, values_by_centres
from polyfold.maps.matrices import matrices as local_maps
from polyfold.maps.storage import read_output
from polyfold.maps.transfer import OutputTable, TransferTable, output_table, together
from polyfold.network.load import load
from studies.image_data import Pictures
from studies.image_networks import ARCHITECTURES, CLASSES, weights
from studies.image_training import Trained, trained

Say = Callable[[str], None]
# With so many clusters an output takes minutes: each one is told of.
_SLOW = 1000


@dataclass(frozen=True)
class Made:
    """What is known of one network and its maps."""

    name: str
    weights: int
    right: int
    distinct_train: int
    distinct_test: int
    residual: float


@dataclass(frozen=True)
class Study:
    """The data, the folder that keeps what is done, and how to tell of it. Without `work` only that is read."""

    data: Pictures
    folder: Path
    say: Say
    epochs: dict[str, int]
    work: bool = True
    dropout: float = 0.5
    seed: int = 0

    @property
    def base(self) -> Path:
        """The folder of everything that is made with these data, this dropout and this seed."""
        dropout = "" if self.dropout == 0.5 else f"_dropout_{self.dropout:g}"
        return self.folder / f"{self.data.name}{dropout}{f'_seed_{self.seed}' if self.seed else ''}"

    def place(self, network: str) -> Path:
        return self.base / network

    # -- training and maps

    def network(self, name: str) -> Trained:
        """A trained network."""
        known = ARCHITECTURES[name]
        epochs = self.epochs.get(name, known.recipe.epochs)
        recipe = replace(known.recipe, epochs=epochs, dropout=self.dropout, seed=self.seed)
        return trained(known, recipe, self.data, self.place(name) / "training.pt", self.say)

    def maps(self, name: str) -> Made | None:
        """Train a network if need be, and write its maps at all pictures."""
        if not self.work and not (self.place(name) / "test" / "about.json").exists():
            return None
        found = self.network(name)
        network = load(found.model, input_shape=(1, self.data.side, self.data.side))
        distinct, residual = [], 0.0
        for part, X in (("train", self.data.train), ("test", self.data.test)):
            maps = local_maps(network, X, out=self.place(name) / part, dtype=np.float32)
            if maps.stopped_by is not None:
                raise KeyboardInterrupt
            distinct.append(maps.distinct_cells)
            residual = max(residual, maps.residual)
        self.say(f"{name}: maps at {distinct[0]:,} and {distinct[1]:,} cells, residual {residual:.1e}")
        return Made(name, weights(found.model), found.right, distinct[0], distinct[1], residual)

    def rows(self, name: str, part: str, output: int) -> AnyArray:
        """C_j of a network at the training or the test pictures."""
        rows, about = read_output(self.place(name) / part, output)
        if len(rows) < about.shape[1]:
            raise PolyfoldError(f"the maps of {name} are not complete: run the study again")
        return rows

    def digest(self, name: str) -> str:
        """Names a network's maps."""
        return " ".join(read_output(self.place(name) / part, 0)[1].digest for part in ("train", "test"))

    # -- clusters

    def clusters(self, name: str, k: int) -> int | None:
        """How many test pictures are right with k maps an output; None if that has not been looked at."""
        path = self.place(name) / f"clusters_{k}.npz"
        known = _read(path, self.digest(name)) if (self.place(name) / "test").exists() else {}
        values = known.get("values", np.full((CLASSES, len(self.data.test)), np.nan))
        inertia = known.get("inertia", np.full(CLASSES, np.nan))
        for output in range(CLASSES):
            if not np.isnan(inertia[output]):
                continue
            if not self.work:
                return None
            centres, inertia[output] = centres_of(self.rows(name, "train", output), k)
            X = self.data.test.reshape(len(self.data.test), -1)
            values[output] = values_by_centres(self.rows(name, "test", output), X, centres)
            _write(path, self.digest(name), {"values": values, "inertia": inertia})
            if k >= _SLOW:
                self.say(f"{name}: {k:,} clusters of output {output}")
        right = int((values.argmax(axis=0) == self.data.test_labels).sum())
        self.say(f"{name}: {how_many(k, 'cluster')} an output, {right:,} right")
        return right

    # -- maps between networks

    def transfers(self, names: Sequence[str]) -> TransferTable | None:
        """Maps between all pairs of networks, made on the training pictures and tried on the test pictures."""
        if not all((self.place(name) / "test").exists() for name in names):
            return None
        digest = " ".join([*names, *map(self.digest, names)])
        tables = []
        for output in range(CLASSES):
            path = self.base / f"transfers_{'_'.join(names)}" / f"output_{output}.npz"
            known = _read(path, digest)
            if not known:
                if not self.work:
                    return None
                train, test = ([self.rows(name, part, output) for name in names] for part in ("train", "test"))
                found = output_table(train, test, self.data.test.reshape(len(self.data.test), -1).astype(np.float64))
                known = {"values": found.values, "residual": found.residual, "alignment": found.alignment}
                _write(path, digest, known)
                self.say(f"output {output}: maps between {', '.join(names)}")
            tables.append(OutputTable(known["values"], known["residual"], known["alignment"]))
        return together(tuple(names), tuple(range(CLASSES)), tables, self.data.test_labels)


def _read(path: Path, digest: str) -> dict[str, AnyArray]:
    """Arrays that were kept; nothing if there are none, or if they were made from something else."""
    if not path.exists():
        return {}
    with np.load(path) as kept:
        found = {name: kept[name] for name in kept.files}
    return found if str(found.pop("made_of")) == digest else {}


def _write(path: Path, digest: str, arrays: dict[str, AnyArray]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomically(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, made_of=np.array(digest), **arrays)
