"""Clusters of local maps, and maps between networks, on pictures of digits: tables 1 and 2 of paper 001.

    python -m studies.locally_linear [--data FOLDER] [--out FOLDER] [--networks NAME ...] [--clusters K ...]
                                              [--dropout P] [--seed N] [--figures FOLDER] [--so-far] [--json]

The experiments are those of "Locally Linear Attributes of ReLU Neural Networks", sections 3.4 and 5. Four networks are
trained; C_j is computed at all training and test pictures; its rows are clustered, and mapped from network to network.
With the folder of MNIST that takes hours; without one the small digits of scikit-learn take a minute or two. Every step
is kept in the folder as it is done: after Ctrl-C the same command goes on. `--so-far` prints what is there.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polyfold.errors import PolyfoldError
from polyfold.maps.transfer import TransferTable
from studies.image_data import pictures
from studies.image_figures import centre_pictures, gradient_pictures, mapped_pictures
from studies.image_networks import ARCHITECTURES
from studies.image_stages import Made, Study

# The paper's tables: test pictures of 10,000 that are right.
PAPER_ORIGINAL = {"Dense": 9603, "Conv": 9807, "Inception": 9908, "ResNet": 9892}
PAPER_CLUSTERS = {
    "Dense": {1: 8679, 10: 9231, 100: 9434, 1000: 9508, 10000: 9554},
    "Conv": {1: 6766, 10: 8639, 100: 9382, 1000: 9586, 10000: 9696},
    "Inception": {1: 974, 10: 9660, 100: 9689, 1000: 9695, 10000: 9752},
    "ResNet": {1: 1432, 10: 8166, 100: 8458, 1000: 8982, 10000: 9381},
}
PAPER_TRANSFER = {
    "Dense": {"Dense": 9603, "Conv": 9536, "Inception": 9290, "ResNet": 9068},
    "Conv": {"Dense": 9567, "Conv": 9807, "Inception": 9662, "ResNet": 9588},
    "Inception": {"Dense": 8868, "Conv": 9488, "Inception": 9908, "ResNet": 9536},
    "ResNet": {"Dense": 9320, "Conv": 9738, "Inception": 9838, "ResNet": 9892},
}
MNIST_CLUSTERS, DIGITS_CLUSTERS = (1, 10, 100, 1000, 10000), (1, 10, 100)
# Only these are clustered as finely as that.
FINEST = 10000
FINELY = ("Dense", "Conv")
# The small digits are 1,437: as many steps as the paper's networks take need more epochs.
DIGITS_EPOCHS = {"Dense": 120, "Conv": 120, "Inception": 20, "ResNet": 20}


@dataclass(frozen=True)
class Found:
    """Everything that the study found; what is not done yet is None."""

    data: str
    tests: int
    networks: tuple[Made | None, ...]
    clusters: dict[str, dict[int, int | None]]
    transfers: TransferTable | None


def study(steps: Study, networks: Sequence[str], clusters: Sequence[int]) -> Found:
    """Do what is not done yet: small numbers of clusters first, since large ones take most of the time."""
    made = tuple(steps.maps(name) for name in networks)
    transfers = steps.transfers(networks) if len(networks) > 1 else None
    right: dict[str, dict[int, int | None]] = {name: {} for name in networks}
    for k in clusters:
        for name in networks:
            if k < FINEST or name in FINELY:
                right[name][k] = steps.clusters(name, k)
    return Found(steps.data.name, len(steps.data.test), made, right, transfers)


def report(found: Found) -> str:
    """The study for people."""
    lines = [*_networks(found), "", *_table_1(found)]
    if found.transfers is not None:
        lines += ["", *_table_2(found, found.transfers), "", *_alike(found.transfers)]
    return "\n".join(lines)


def _networks(found: Found) -> list[str]:
    lines = ["network      weights   right   cells (train)   cells (test)   residual"]
    for made in found.networks:
        if made is not None:
            lines.append(
                f"{made.name:10} {made.weights:9,} {made.right:7,} {made.distinct_train:15,} {made.distinct_test:14,} "
                f"{made.residual:10.1e}"
            )
    return lines


def _beside(found: Found, right: int | None, paper: int | None) -> str:
    """A number of pictures, with the paper's behind it where the pictures are the paper's."""
    ours = "-" if right is None else f"{right:,}"
    return f"{ours:>7} ({paper:5,})" if found.data == "MNIST" and paper is not None else f"{ours:>7}" + " " * 8


def _table_1(found: Found) -> list[str]:
    names = list(found.clusters)
    lines = [
        f"Table 1: right of {found.tests:,} with k clusters an output" + " (paper)" * (found.data == "MNIST"),
        "clusters  " + "".join(f"{name:>17}" for name in names),
    ]
    original = {made.name: made.right for made in found.networks if made is not None}
    row = "".join(f"{_beside(found, original.get(name), PAPER_ORIGINAL.get(name)):>17}" for name in names)
    lines.append(f"{'original':10}{row}")
    for k in sorted({k for counts in found.clusters.values() for k in counts}):
        row = "".join(
            f"{_beside(found, found.clusters[name].get(k), PAPER_CLUSTERS.get(name, {}).get(k)):>17}" for name in names
        )
        lines.append(f"{k:<10}{row}")
    return lines


def _table_2(found: Found, transfers: TransferTable) -> list[str]:
    names = transfers.names
    lines = [
        f"Table 2: right of {found.tests:,} from one network's maps to another's"
        + " (paper)" * (found.data == "MNIST"),
        "from \\ to " + "".join(f"{name:>17}" for name in names),
    ]
    for a, source in enumerate(names):
        counts = [round(float(share) * found.tests) for share in transfers.accuracy[a]]
        row = "".join(
            f"{_beside(found, right, PAPER_TRANSFER.get(source, {}).get(target)):>17}"
            for target, right in zip(names, counts, strict=True)
        )
        lines.append(f"{source:10}{row}")
    return lines


def _alike(transfers: TransferTable) -> list[str]:
    lines = ["part of the squares left by the map, and alignment (CKA), means over outputs"]
    for a, source in enumerate(transfers.names):
        row = "".join(
            f"{f'{transfers.residual[a, b]:.3f}, {transfers.alignment[a, b]:.3f}':>17}"
            for b in range(len(transfers.names))
        )
        lines.append(f"{source:10}{row}")
    return lines


def as_json(found: Found) -> dict[str, Any]:
    """The study for programs."""
    transfers = found.transfers
    return {
        "data": found.data,
        "tests": found.tests,
        "networks": [asdict(made) for made in found.networks if made is not None],
        "clusters": {name: {str(k): right for k, right in counts.items()} for name, counts in found.clusters.items()},
        "transfers": None
        if transfers is None
        else {
            "names": list(transfers.names),
            "accuracy": transfers.accuracy.tolist(),
            "residual": transfers.residual.tolist(),
            "alignment": transfers.alignment.tolist(),
        },
    }


def main(arguments: list[str] | None = None) -> None:
    """Do the study, print its tables, draw its figures if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.locally_linear",
        description="Clusters of local maps, and maps between networks, on pictures of digits.",
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="MNIST's four files; without it the small digits")
    parser.add_argument("--out", type=Path, default=Path("out/paper_001"), metavar="FOLDER", help="keeps what is done")
    parser.add_argument("--networks", nargs="+", choices=ARCHITECTURES, default=list(ARCHITECTURES), help="only these")
    parser.add_argument("--clusters", nargs="+", type=int, metavar="K", help="numbers of clusters an output")
    parser.add_argument("--dropout", type=float, default=0.5, metavar="P", help="in the training of Dense and Conv")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of first weights, order, and what drops out")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw figures 6 and 12, and centres of clusters")
    parser.add_argument("--so-far", action="store_true", help="print what is done, and do nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    started = time.perf_counter()

    def say(text: str) -> None:
        print(f"{time.perf_counter() - started:8.0f} s  {text}", file=sys.stderr, flush=True)

    try:
        data = pictures(options.data)
        small = data.name == "digits"
        if not 0 <= options.dropout < 1:
            parser.error(f"--dropout {options.dropout:g} must be at least 0 and less than 1")
        if options.seed < 0:
            parser.error(f"--seed {options.seed} must not be negative")
        epochs = DIGITS_EPOCHS if small else {}
        steps = Study(data, options.out, say, epochs, not options.so_far, options.dropout, options.seed)
        found = study(steps, options.networks, options.clusters or (DIGITS_CLUSTERS if small else MNIST_CLUSTERS))
        if options.figures:
            options.figures.mkdir(parents=True, exist_ok=True)
            gradient_pictures(steps, options.networks, options.figures / "gradients.png")
            if {"Dense", "Conv"} <= set(options.networks):
                mapped_pictures(steps, options.figures / "mapped.png")
            centre_pictures(steps, options.networks, options.figures / "centres.png")
    except PolyfoldError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        raise SystemExit("stopped; the same command goes on from here") from None
    print(json.dumps(as_json(found), allow_nan=False) if options.json else report(found))
    say(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
