"""Answers about finished jobs, from the files that the worker wrote."""

from __future__ import annotations

import csv
import threading
from collections import OrderedDict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import one_output
from polyfold._base.types import Array
from polyfold._base.words import in_words
from polyfold.atlas.atlas import DOMAIN_BOUNDARY, Atlas
from polyfold.atlas.layers_of_facets import layer_of_gates
from polyfold.atlas.storage import open as open_atlas
from polyfold.errors import DomainError
from polyfold.explorer.drawing import Arrays, keys_of, read_arrays
from polyfold.explorer.networks import finite

# Cells in one answer.
MOST_IN_A_PAGE = 20_000
# Gates and outputs of cells that are written to a table in one go.
NUMBERS_AT_A_TIME = 100_000


class Opened:
    """One finished job, read as far as somebody asks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def atlas(self) -> Atlas:
        found: Atlas = self._once("atlas.parquet", open_atlas)
        return found

    @property
    def cells(self) -> Arrays:
        found: Arrays = self._once("cells.npz", read_arrays)
        return found

    @property
    def walls(self) -> Arrays:
        found: Arrays = self._once("walls.npz", read_arrays)
        return found

    @property
    def classes(self) -> Arrays | None:
        """None where they took more than a job may use."""
        if not (self._folder / "classes.npz").exists():
            return None
        found: Arrays = self._once("classes.npz", read_arrays)
        return found

    @property
    def layer_of_gates(self) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
        found: tuple[tuple[str, ...], npt.NDArray[np.int64]]
        atlas = self.atlas
        found = self._once("layers", lambda _: layer_of_gates(atlas))
        return found

    def row_of(self, cell: int) -> int:
        """Where a cell stands among those that are drawn, or -1."""
        drawn = self.cells["cell"]
        at = int(np.searchsorted(drawn, cell))
        return at if at < len(drawn) and drawn[at] == cell else -1

    def _once(self, name: str, read: Callable[[Path], Any]) -> Any:
        with self._lock:
            if name not in self._read:
                self._read[name] = read(self._folder / name)
            return self._read[name]


class Shelf:
    """The jobs that were asked about last, a few at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, folder: str) -> Opened:
        with self._lock:
            found = self._opened.pop(folder, None) or Opened(Path(folder))
            self._opened[folder] = found
            while len(self._opened) > self._most:
                self._opened.popitem(last=False)
            return found


# -- all cells


def page_of_cells(job: Opened, first: int, count: int, output: int | None) -> dict[str, Any]:
    """Some of the cells that are drawn, in columns."""
    drawn = job.cells
    total = len(drawn["cell"])
    rows = slice(min(first, total), min(first + count, total))
    start = drawn["start"][rows.start : rows.stop + 1]
    points = drawn["points"][start[0] : start[-1]] if rows.stop > rows.start else drawn["points"][:0]
    values, slopes = (_of_output(drawn[name][rows], drawn["class"][rows], output) for name in ("values", "slopes"))
    found = {
        "from": rows.start,
        "count": rows.stop - rows.start,
        "total": total,
        "cell": drawn["cell"][rows].tolist(),
        "key": keys_of(job.atlas, drawn["cell"][rows]),
        "start": (start - start[0]).tolist() if rows.stop > rows.start else [0],
        "points": points.ravel().tolist(),
        "class": drawn["class"][rows].tolist(),
        "value": _finite(values),
        "slope": _finite(slopes),
        "layer": drawn["layer"][rows].tolist(),
        "area": _finite(drawn["area"][rows]),
        "facets": drawn["facets"][rows].tolist(),
    }
    if "ends" in drawn:
        found["ends"] = [_finite(_of_output(drawn["ends"][rows, :, k], drawn["class"][rows], output)) for k in (0, 1)]
    return found


def _finite(column: Array) -> list[float | None]:
    """As JSON can hold it: what went beyond all floats becomes null."""
    return [finite(value) for value in column.tolist()]


def _of_output(columns: Array, label: npt.NDArray[np.int64], output: int | None) -> Array:
    """The column of one output; unless one is asked for, of the one that wins at the cell's centre."""
    outputs = columns.shape[1]
    if output is not None:
        return columns[:, one_output(output, outputs)]
    return columns[:, 0] if outputs == 1 else columns[np.arange(len(columns)), label]


def layers(job: Opened) -> dict[str, Any]:
    """The walls between cells, by the layers whose units switch there."""
    names, _ = job.layer_of_gates
    walls = job.walls
    return {
        "layers": [
            {"layer": k + 1, "name": name, "segments": walls["ends"][walls["layer"] == k].ravel().tolist()}
            for k, name in enumerate(names)
        ]
    }


def boundary(job: Opened) -> dict[str, Any]:
    """The decision boundary."""
    found = _classes(job)
    return {"segments": found["boundary"].ravel().tolist(), "pairs": found["pair"].tolist()}


def class_parts(job: Opened) -> dict[str, Any]:
    """Cells cut where classes change."""
    found = _classes(job)
    return {
        "cell": found["cell"].tolist(),
        "start": found["start"].tolist(),
        "points": found["points"].ravel().tolist(),
        "class": found["class"].tolist(),
    }


def _classes(job: Opened) -> Arrays:
    if job.classes is None:
        raise DomainError("the classes of this job were not found; its state says why (without_classes)")
    return job.classes


def write_csv(job: Opened, path: Path) -> None:
    """All cells that are drawn, a line each. The file is there when it is whole."""
    part = path.with_suffix(".part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            _write_lines(job, file)
        part.replace(path)
    except FileNotFoundError:
        raise DomainError("this job was forgotten while its cells were written: unfold the network again") from None
    finally:
        part.unlink(missing_ok=True)


def _write_lines(job: Opened, file: TextIO) -> None:
    drawn = job.cells
    outputs = range(drawn["values"].shape[1])
    dim = drawn["points"].shape[1]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["cell", "pattern", "area" if dim == 2 else "length", "facets", "layer", "class"]
        + [f"centre_{k}" for k in range(dim)]
        + [f"output_{k}" for k in outputs]
        + [f"slope_{k}" for k in outputs]
    )
    atlas = job.atlas
    names = ("cell", "area", "facets", "layer", "class", "centre", "values", "slopes")
    at_a_time = max(1, NUMBERS_AT_A_TIME // (1 + atlas.gates + 2 * len(outputs)))
    for first in range(0, len(drawn["cell"]), at_a_time):
        columns = [drawn[name][first : first + at_a_time] for name in names]
        for pattern, cell, area, facets, layer, label, centre, values, slopes in zip(
            _patterns(atlas, columns[0]), *(column.tolist() for column in columns), strict=True
        ):
            writer.writerow([cell, pattern, repr(area), facets, layer, label, *map(repr, [*centre, *values, *slopes])])


def _patterns(atlas: Atlas, cells: npt.NDArray[np.int64]) -> list[str]:
    """What each cell calls its pattern, for many at once: a string of 0 and 1, stages apart."""
    stages = list(pairwise(atlas.program.first_gate))
    signs = atlas.signs(cells)
    letters = np.full((len(cells), max(0, atlas.gates + len(stages) - 1)), ord(" "), dtype=np.uint8)
    for stage, (first, last) in enumerate(stages):
        letters[:, first + stage : last + stage] = signs[:, first:last] + ord("0")
    return [row.tobytes().decode("ascii") for row in letters]


# -- one cell


def cell_at(job: Opened, point: list[float]) -> int:
    """The cell of a point of the view; -1 if there is none."""
    found: int = int(job.atlas.locate([point], outside="ignore")[0])
    return found


def about_cell(job: Opened, cell: int) -> dict[str, Any]:
    """Everything about one cell. Numbers are written so that reading them gives the very same floats."""
    atlas = job.atlas
    one = atlas[cell]
    A, c = one.map
    row = job.row_of(cell)
    drawn = job.cells
    label = int(drawn["class"][row]) if row >= 0 else -1
    found = {
        "cell": cell,
        "key": keys_of(atlas, np.array([cell]))[0],
        "pattern": one.pattern,
        "map": {"A": A.tolist(), "c": c.tolist()},
        "facets": _facets(job, cell),
        "volume": finite(one.volume),
        "bounded": one.bounded,
        "witness": one.witness.tolist(),
        "witness_input": atlas.lift(one.witness[None])[0].tolist(),
        "centre": drawn["centre"][row].tolist() if row >= 0 else one.witness.tolist(),
        "class": label,
        "layer": int(drawn["layer"][row]) if row >= 0 else None,
        "value": _finite(drawn["values"][row]) if row >= 0 else None,
        "explanation": _explained(atlas, cell, A, c, label),
    }
    if atlas.domain.is_slice:
        B, d = atlas.maps([cell], over="parameters")
        found["map_on_slice"] = {"A": B[0].tolist(), "c": d[0].tolist()}
    return found


def _facets(job: Opened, cell: int) -> list[dict[str, Any]]:
    atlas = job.atlas
    rows, offsets = atlas[cell].halfspaces
    return [
        {
            "wall": int(atlas.facet_wall[facet]),
            "walls": list(atlas.walls(facet)),
            "words": _wall_in_words(job, facet),
            "neighbour": int(atlas.neighbour[facet]),
            "row": rows[k].tolist(),
            "offset": float(offsets[k]),
        }
        for k, facet in enumerate(atlas.facets(cell))
    ]


def _wall_in_words(job: Opened, facet: int) -> str:
    atlas = job.atlas
    if atlas.neighbour[facet] == DOMAIN_BOUNDARY:
        return "the edge of what is looked at"
    _, layer = job.layer_of_gates
    units = []
    for wall in atlas.walls(facet):
        if wall < atlas.gates:
            origin = atlas.program.origins[wall]
            number = ", ".join(map(str, origin.index))
            kind = "" if origin.role == "relu" else f" ({origin.role})"
            units.append(f"unit {number} of layer {layer[wall] + 1}{kind}")
    if len(units) == 1:
        return f"{units[0]} switches"
    return f"{', '.join(units[:-1])} and {units[-1]} are zero"


def _explained(atlas: Atlas, cell: int, A: Array, c: Array, label: int) -> str:
    """The cell's map in words."""
    on = int(atlas.signs([cell]).sum())
    names = [f"x{k}" for k in range(A.shape[1])]
    start = f"Here {on} of {atlas.gates} units are on, and the network is one affine function."
    if len(A) == 1:
        side = "above" if label == 1 else "not above"
        return f"{start} Its output is {in_words(A[0], float(c[0]), names)}. At the centre it is {side} 0."
    if label < 0:
        return start
    formula = in_words(A[label], float(c[label]), names)
    return f"{start} At the centre output {label} is the largest: it is {formula}."
