"""How many neurons of trained networks their functions do not need, with proof.

    python -m studies.lossless [--models FOLDER] [--seconds 300] [--json]

The bundled MNIST classifiers on [0, 1]^784; and, with a folder that has them, acasxu_1_1.onnx on its input box,
rsplit_orig.onnx and rsplit_split25.onnx everywhere.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from polyfold.datasets.digits import mnist_he, mnist_l1
from polyfold.domain.domain import DomainLike, box
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.network.read.arrays import from_arrays
from polyfold.rewrite.reduction.reduce import reduce

# The inputs of the ACAS Xu networks are normalised: distance, two angles, two speeds.
ACASXU = box([-0.3284, -0.5, -0.5, -0.5, -0.5], [0.6799, 0.5, 0.5, 0.5, 0.5])


@dataclass(frozen=True)
class Subject:
    """A network, and where its function is to stay the same."""

    name: str
    where: str
    network: Callable[[], Network]
    domain: DomainLike


@dataclass(frozen=True)
class Row:
    """What was found for one network."""

    network: str
    domain: str
    layers_before: tuple[int, ...]
    layers_after: tuple[int, ...]
    removed: dict[str, int]
    undecided: int
    difference: float
    seconds: float


def subjects(models: Path | None = None) -> Iterator[Subject]:
    """The bundled networks, and those that a folder has."""
    yield Subject("mnist_l1", "[0, 1]^784", lambda: from_arrays(mnist_l1()), box(0, 1))
    yield Subject("mnist_he", "[0, 1]^784", lambda: from_arrays(mnist_he()), box(0, 1))
    if models is not None:
        yield Subject("acasxu_1_1", "its box", lambda: load(models / "acasxu_1_1.onnx"), ACASXU)
        yield Subject("rsplit_split25", "everywhere", lambda: load(models / "rsplit_split25.onnx"), None)
        yield Subject("rsplit_orig", "[0, 1]^784", lambda: load(models / "rsplit_orig.onnx"), box(0, 1))


def reduced(subject: Subject, seconds: float) -> Row:
    """Reduce one network."""
    found = reduce(subject.network(), subject.domain, max_seconds=seconds)
    return Row(
        subject.name,
        subject.where,
        found.layers_before,
        tuple(stage.width for stage in found.program.stages),
        found.counts,
        len(found.undecided),
        found.difference,
        round(found.seconds, 1),
    )


def table(rows: list[Row]) -> str:
    """The study for people."""
    lines = [
        "network         domain      layers before            layers after             undecided  differs by  seconds"
    ]
    for row in rows:
        before, after = ("-".join(map(str, layers)) for layers in (row.layers_before, row.layers_after))
        lines.append(
            f"{row.network:15} {row.domain:11} {before:24} {after:24} {row.undecided:9}  {row.difference:<10.1e} "
            f"{row.seconds:8.1f}"
        )
        lines.append("  removed: " + (", ".join(f"{count} {kind}" for kind, count in row.removed.items()) or "none"))
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the study."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.lossless",
        description="How many neurons of trained networks their functions do not need, with proof.",
    )
    parser.add_argument("--models", type=Path, help="a folder with acasxu_1_1.onnx and the rsplit networks")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each network (300)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if options.models is not None and not (options.models / "acasxu_1_1.onnx").is_file():
        parser.error(f"there is no acasxu_1_1.onnx in {str(options.models)!r}")
    rows = [reduced(subject, options.seconds) for subject in subjects(options.models)]
    print(json.dumps({"networks": [asdict(row) for row in rows]}, allow_nan=False) if options.json else table(rows))


if __name__ == "__main__":
    main()
