"""Networks that can be looked at: bundled, given on the command line, or uploaded, as a file of one of a few kinds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.storage import open as open_atlas
from polyfold.datasets.named import BUNDLED
from polyfold.errors import NetworkError
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.training.log_file import MAGIC
from polyfold.training.recorder import open as open_recording

# What files begin with, by the endings that they may have. ONNX files have no such mark.
_ZIP, _PARQUET, _PICKLE = b"PK\x03\x04", b"PAR1", b"\x80"
ENDINGS = {".onnx": None, ".pt2": _ZIP, ".parquet": _PARQUET, ".recording": MAGIC}


@dataclass(frozen=True)
class Source:
    """Where a network is read from: the name of a bundled one, or a file."""

    bundled: str | None = None
    file: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"bundled": self.bundled, "file": self.file}


@dataclass(frozen=True, eq=False)
class Opened:
    """A network as the engine runs it; its own atlas if the file holds one; the steps if it holds a recording."""

    program: Program
    network: Network | None
    atlas: Atlas | None = None
    steps: tuple[int, ...] = ()
    metrics: dict[str, dict[str, list[float]]] | None = None


def check_file(path: Path, name: str) -> None:
    """Refuse a file whose ending or first bytes say that it is nothing that can be read."""
    ending = Path(name).suffix.lower()
    if ending not in ENDINGS:
        raise NetworkError(
            f"{name!r} ends in {ending!r}: give an .onnx or .pt2 file, an atlas that polyfold saved (.parquet), or a "
            "recording (.recording)"
        )
    with path.open("rb") as file:
        head = file.read(64)
    mark = ENDINGS[ending]
    if not head:
        raise NetworkError(f"{name!r} is empty")
    if head.startswith(_PICKLE) or (mark is not None and not head.startswith(mark)):
        raise NetworkError(f"{name!r} is no {ending} file: its first bytes are {head[:8]!r}")


def open_network(source: Source, snapshot: int | None = None) -> Opened:
    """Read it."""
    if source.bundled is not None:
        return _of_network(BUNDLED[source.bundled]())
    assert source.file is not None
    ending = Path(source.file).suffix.lower()
    if ending == ".parquet":
        atlas = open_atlas(source.file)
        return Opened(atlas.program, None, atlas)
    if ending == ".recording":
        recording = open_recording(source.file)
        network = recording.network(-1 if snapshot is None else snapshot)
        metrics = {
            name: {"steps": metric.steps.tolist(), "values": [finite(value) for value in metric.values.tolist()]}
            for name, metric in recording.metrics.items()
        }
        return Opened(lower(network), network, None, tuple(recording.steps.tolist()), metrics)
    return _of_network(load(source.file))


def _of_network(network: Network) -> Opened:
    return Opened(lower(network), network)


def facts(opened: Opened) -> dict[str, Any]:
    """What the page needs to know to offer domains."""
    program, network = opened.program, opened.network
    found: dict[str, Any] = {
        "inputs": program.input_dim,
        "outputs": program.output_dim,
        "head": None if program.head is None else str(program.head),
        "gates": program.gates,
        "layers": len(dict.fromkeys(origin.node for origin in program.origins)),
        "input_shape": [program.input_dim] if network is None else _shape(network),
        "kind": "atlas" if opened.atlas is not None else "recording" if opened.steps else "network",
    }
    if opened.atlas is not None:
        found["atlas"] = {"cells": len(opened.atlas), "dim": opened.atlas.dim, "domain": opened.atlas.domain.describe()}
    if opened.steps:
        found["steps"], found["metrics"] = list(opened.steps), opened.metrics
    return found


def _shape(network: Network) -> list[int]:
    return list(network.inputs[0].shape) if len(network.inputs) == 1 else [network.input_dim]


def finite(value: float) -> float | None:
    """JSON has no infinities: they become null."""
    return value if value - value == 0 else None
