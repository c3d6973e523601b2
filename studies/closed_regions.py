"""Whether a network whose layers are no wider than its input closes a region: section 4 of "Locally Linear Attributes
of ReLU Neural Networks".

    python -m studies.closed_regions [--networks N] [--json]

The paper says that layers of width two cannot separate a disc from the annulus around it, because no region that such
a network makes is closed, and that each of its polytopes extends to infinity. Here both are counted on all of R^2, for
random networks and for networks that are trained on that problem: bounded cells, and bounded components of the regions
of both classes. What is the class is the sign of the only output.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from polyfold._base.types import Array
from polyfold.engine.unfold import unfold
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.stats.classes import classes
from polyfold.topology.subcomplexes import class_region
from studies.plain_training import initial, trained

# Hidden layers: no wider than the input, and wider by one.
WIDTHS = ((2,), (2, 2), (2, 2, 2), (2, 2, 2, 2), (3,), (3, 2))
_TRAINED = 10


@dataclass(frozen=True)
class Row:
    """What some networks of one architecture have, all over R^2.

    `with_bounded_cells` counts networks with a bounded cell, `components` the components of all their class regions,
    and `bounded` those of them that are bounded, in `closing` networks. `best` is the largest share of the points of
    disc and annulus that one of them classifies rightly; None for random ones.
    """

    kind: str
    hidden: tuple[int, ...]
    networks: int
    with_bounded_cells: int
    components: int
    bounded: int
    closing: int
    best: float | None


def disc_and_annulus() -> tuple[Array, Array]:
    """Points of a disc of radius 0.5, target 1, and of an annulus from 0.8 to 1 around it, target -1."""
    radii = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.9, 1.0])
    angles = np.arange(24) * (2 * np.pi / 24)
    radius, angle = (part.ravel() for part in np.meshgrid(radii, angles, indexing="ij"))
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return X, np.where(radius < 0.65, 1.0, -1.0)


def random_network(hidden: tuple[int, ...], seed: int) -> Network:
    """Normal weights and biases."""
    rng = np.random.default_rng([seed, *hidden])
    widths = [2, *hidden, 1]
    return load([(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)])


def trained_network(hidden: tuple[int, ...], seed: int) -> Network:
    """A network after a thousand steps on the disc and the annulus."""
    X, target = disc_and_annulus()
    return load(trained(initial([2, *hidden, 1], seed), X, target, steps=1000, rate=0.02, loss="logistic"))


def bounded_components(network: Network) -> tuple[int, int, int]:
    """Numbers of bounded cells, of components of both classes' regions on R^2, and of bounded ones among these."""
    atlas = unfold(network)
    found = classes(atlas)
    parts = [class_region(found, label).components for label in range(2)]
    return int(atlas.bounded.sum()), sum(map(len, parts)), sum(int(part.bounded.sum()) for part in parts)


def row(kind: str, hidden: tuple[int, ...], count: int, make: Callable[[tuple[int, ...], int], Network]) -> Row:
    """The networks of seeds 0, 1, ... together."""
    networks = [make(hidden, seed) for seed in range(count)]
    cells, components, bounded = np.array([bounded_components(network) for network in networks]).T
    X, target = disc_and_annulus()
    right = [float(((network(X)[:, 0] > 0) == (target > 0)).mean()) for network in networks]
    return Row(
        kind=kind,
        hidden=hidden,
        networks=count,
        with_bounded_cells=int((cells > 0).sum()),
        components=int(components.sum()),
        bounded=int(bounded.sum()),
        closing=int((bounded > 0).sum()),
        best=max(right) if kind == "trained" else None,
    )


def table(rows: list[Row]) -> str:
    """The study for people."""
    lines = ["networks         hidden      with bounded cells  components of regions  bounded  closing  best"]
    for one in rows:
        hidden = "-".join(map(str, one.hidden))
        best = "" if one.best is None else f"{100 * one.best:7.1f} %"
        lines.append(
            f"{one.networks:5} {one.kind:10} {hidden:11} {one.with_bounded_cells:18} {one.components:22} "
            f"{one.bounded:8} {one.closing:8}{best}"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the study."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.closed_regions",
        description="Bounded cells and bounded class regions of narrow networks on the plane.",
    )
    parser.add_argument("--networks", type=int, default=200, help="random networks of each kind (200)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if options.networks < 1:
        parser.error(f"--networks {options.networks} must be positive")
    rows = [row("random", hidden, options.networks, random_network) for hidden in WIDTHS]
    rows += [row("trained", hidden, min(_TRAINED, options.networks), trained_network) for hidden in WIDTHS]
    print(json.dumps({"rows": [asdict(one) for one in rows]}, allow_nan=False) if options.json else table(rows))


if __name__ == "__main__":
    main()
