"""XOR networks and their dual spaces: section 3.2 and figures 4 and 11 of "Locally Linear Attributes of ReLU Neural
Networks".

    python -m studies.xor_duals [--json] [--figure FILE.svg] [--transfer-figure FILE.svg]

The paper's network of two neurons, pattern by pattern, as it is printed and as it has to be. Then networks of 20 and
100 hidden neurons that are trained here: the maps on a grid of 101 x 101 points beside all cells of the square, and the
affine map between both networks' dual points, with the jumps that it tears.
"""

from __future__ import annotations

import argparse
import itertools
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.domain.domain import box
from polyfold.engine.cells.local import local
from polyfold.engine.cells.of_pattern import of_pattern as map_of
from polyfold.engine.count import count
from polyfold.engine.unfold import unfold
from polyfold.maps.dual_space.build import dual_space
from polyfold.maps.dual_space.jumps import FacetJumps, facet_jumps
from polyfold.maps.dual_space.result import DualSpace
from polyfold.network.graph import Network
from polyfold.network.load import load
from studies.command import write_figure
from studies.dual_figure import draw_duals, draw_transfers
from studies.plain_training import Layers, initial, trained

INPUTS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
TARGETS = np.array([-1.0, 1.0, 1.0, -1.0])
_HIDDEN_LAYER = (np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 0.0]))
# Equation (3.2) as it is printed, and the only network with this hidden layer that has XOR's outputs.
PRINTED: Layers = [_HIDDEN_LAYER, (np.array([[1.0, -2.0]]), np.array([-1.0]))]
SOLVING: Layers = [_HIDDEN_LAYER, (np.array([[2.0, -3.0]]), np.array([-1.0]))]
SMALL = {"printed": PRINTED, "solving": SOLVING}
HIDDEN, SEED = (20, 100), 0


@dataclass(frozen=True)
class Pattern:
    """A pattern of a network of two neurons: which are on, the map (w, b), and whether inputs have it.

    If none has, `contradiction` says how often to add up what neurons demand, to get a contradiction.
    """

    network: str
    top: bool
    bottom: bool
    map: tuple[float, float, float]
    status: str
    contradiction: dict[int, int]


@dataclass(frozen=True)
class Grid:
    """The maps on the grid beside the exact cells of [-1, 1]^2.

    `everywhere` are the cells on all of R^2. Of the grid's points, `inside` lie in the inside of a cell and all of
    these have its map; `on_walls` lie on a wall, and have the map of one of the cells that touch it, but for
    `in_corners`, whose pattern, with gates that are zero off, is no cell's. In `missed` cells no point of the grid is
    located; `missed_share` is their part of the square's area.
    """

    hidden: int
    outputs: tuple[float, ...]
    cells: int
    maps: int
    everywhere: int
    inside: int
    on_walls: int
    in_corners: int
    missed: int
    missed_share: float


@dataclass(frozen=True)
class Transfer:
    """The affine map M between dual points by least squares over the grid, and the function that it makes.

    `residual` is the error's Frobenius norm by that of the target. `agree` is the share of the grid where the sign is
    the target's, `solved` how many of the four XOR inputs have the right one. `range` is how far the transferred
    pieces' values on the grid reach. `largest_jump` is the largest over all facets, taken at `at`, `median_jump` what
    half of the facets stay under, and `before` the largest of the original pieces, which is rounding.
    """

    source: int
    target: int
    residual: float
    agree: float
    solved: int
    facets: int
    largest_jump: float
    at: tuple[float, float]
    median_jump: float
    before: float
    range: float


def patterns() -> list[Pattern]:
    """What the small networks do under each pattern, be there inputs with it or not."""
    found = []
    for (name, layers), top, bottom in itertools.product(SMALL.items(), [True, False], [True, False]):
        one = map_of(load(layers), [[top, bottom]])
        w, b = one.A[0].tolist(), float(one.c[0])
        why = {int(neuron): int(times) for neuron, times in one.contradiction.items()}
        found.append(Pattern(name, top, bottom, (w[0], w[1], b), one.status, why))
    return found


def xor_network(hidden: int) -> Network:
    """A network with one hidden layer that is trained on XOR here."""
    begun = initial([2, hidden, 1], SEED)
    return load(trained(begun, INPUTS, TARGETS, steps=2000, rate=0.05, loss="square"))


def grid_points() -> Array:
    """The paper's 101 x 101 points in [-1, 1]^2."""
    axis = np.arange(-50, 51) / 50
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def on_grid(network: Network, hidden: int) -> tuple[Grid, DualSpace]:
    """The grid beside the cells. That they fit is checked, not only counted."""
    atlas, points = unfold(network, box(-1, 1)), grid_points()
    dual, maps = dual_space(atlas, X=points), local(network, points)
    on_wall = np.array([len(gates) > 0 for gates in maps.on_wall])
    cell = atlas.index.find(maps.patterns)
    if not (cell[~on_wall] == dual.cell_of_sample[~on_wall]).all():
        raise AssertionError("a point inside a cell has another cell's map")
    missed = np.setdiff1d(atlas.ids(), dual.cell_of_sample)
    found = Grid(
        hidden=hidden,
        outputs=tuple(network(INPUTS)[:, 0].round(6).tolist()),
        cells=len(atlas),
        maps=len(dual),
        everywhere=count(network).cells,
        inside=int((~on_wall).sum()),
        on_walls=int(on_wall.sum()),
        in_corners=int((cell < 0).sum()),
        missed=len(missed),
        missed_share=float(atlas.volumes(missed).sum() / 4.0),
    )
    return found, dual


def transferred(a: DualSpace, b: DualSpace, hidden: tuple[int, int]) -> tuple[Transfer, FacetJumps, Array]:
    """From the dual points of one network to those of the other, over the grid: what it costs, jumps, and pieces."""
    points = grid_points()
    here, there = a.points[a.point_of_sample], b.points[b.point_of_sample]
    M = np.linalg.lstsq(here, there, rcond=None)[0]
    pieces = a.points[a.point_of_cell] @ M
    jumps = facet_jumps(a.atlas, pieces=pieces)
    at = int(jumps.largest.argmax())

    def values(rows: Array, x: Array) -> Array:
        found: Array = (rows[:, :2] * x).sum(axis=1) + rows[:, 2]
        return found

    moved, wanted = values(here @ M, points), values(there, points)
    four = values(pieces[a.atlas.locate(INPUTS)], INPUTS)
    found = Transfer(
        source=hidden[0],
        target=hidden[1],
        residual=float(np.linalg.norm(here @ M - there) / np.linalg.norm(there)),
        agree=float(((moved > 0) == (wanted > 0)).mean()),
        solved=int(((four > 0) == (TARGETS > 0)).sum()),
        facets=len(jumps),
        largest_jump=jumps.max,
        at=(float(jumps.at[at, 0]), float(jumps.at[at, 1])),
        median_jump=float(np.median(jumps.largest)),
        before=facet_jumps(a.atlas, pieces=a.points[a.point_of_cell]).max,
        range=float(moved.max() - moved.min()),
    )
    return found, jumps, pieces


def table(found: list[Pattern], grids: list[Grid], transfers: list[Transfer]) -> str:
    """The study for people."""
    lines = ["network  top  bottom  map w, b        inputs with it"]
    for one in found:
        numbers = ", ".join(f"{x:g}" for x in one.map)
        on = ["on" if neuron else "off" for neuron in (one.top, one.bottom)]
        why = f": {_sum(one.contradiction)} is a contradiction" if one.contradiction else ""
        lines.append(f"{one.network:8} {on[0]:4} {on[1]:7} {numbers:15} {one.status}{why}")
    lines += ["", "hidden  cells  maps  on R^2  inside  on walls  in corners  missed  their area"]
    for grid in grids:
        lines.append(
            f"{grid.hidden:6} {grid.cells:6} {grid.maps:5} {grid.everywhere:7} {grid.inside:7} {grid.on_walls:9} "
            f"{grid.in_corners:11} {grid.missed:7} {100 * grid.missed_share:9.3f} %"
        )
    lines += ["", "from    to  residual  same sign  XOR  facets  largest jump  median jump  range of values"]
    for move in transfers:
        lines.append(
            f"{move.source:4} {move.target:5} {move.residual:9.3f} {100 * move.agree:8.2f} % {move.solved:4} "
            f"{move.facets:7} {move.largest_jump:13.4f} {move.median_jump:12.4f} {move.range:16.3f}"
        )
    return "\n".join(lines)


def _sum(multiples: dict[int, int]) -> str:
    names = ("top", "bottom")
    return " + ".join(f"{times} x {names[neuron]}'s" for neuron, times in multiples.items())


def main(arguments: list[str] | None = None) -> None:
    """Print the study."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.xor_duals",
        description="XOR networks: their maps on a grid beside all cells, and affine maps between their dual spaces.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw the cells and dual points")
    parser.add_argument("--transfer-figure", type=Path, metavar="FILE.svg", help="draw transferred points and jumps")
    options = parser.parse_args(arguments)
    networks = {hidden: xor_network(hidden) for hidden in HIDDEN}
    studied = {hidden: on_grid(network, hidden) for hidden, network in networks.items()}
    ways = list(itertools.permutations(HIDDEN, 2))
    moves = [transferred(studied[a][1], studied[b][1], (a, b)) for a, b in ways]
    found, grids, transfers = patterns(), [grid for grid, _ in studied.values()], [move for move, _, _ in moves]
    facts: dict[str, Any] = {
        "patterns": [asdict(one) for one in found],
        "grids": [asdict(one) for one in grids],
        "transfers": [asdict(one) for one in transfers],
    }
    duals = {"2 hidden neurons": dual_space(unfold(load(SOLVING), box(-1, 1)), X=grid_points())}
    duals |= {f"{hidden} hidden neurons": dual for hidden, (_, dual) in studied.items()}
    write_figure(parser, options.figure, lambda: draw_duals(duals, INPUTS))
    pictures = [
        (f"{a} to {b}", studied[a][1], studied[b][1], jumps, pieces)
        for (a, b), (_, jumps, pieces) in zip(ways, moves, strict=True)
    ]
    write_figure(parser, options.transfer_figure, lambda: draw_transfers(pictures))
    print(json.dumps(facts, allow_nan=False) if options.json else table(found, grids, transfers))


if __name__ == "__main__":
    main()
