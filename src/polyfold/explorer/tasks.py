"""What workers do: read an uploaded file, unfold a network and draw it, compare two networks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polyfold._base.clock import Progress
from polyfold.atlas.atlas import Atlas
from polyfold.compare.equivalence.decide import equivalent
from polyfold.domain.domain import Domain
from polyfold.engine.blocks import unfold_in_blocks
from polyfold.errors import DomainError, LimitError, PolyfoldError, how_many
from polyfold.explorer.drawing import draw_cells, draw_classes, draw_walls, keys_of, save_arrays, view_in
from polyfold.explorer.networks import Opened, Source, check_file, facts, finite, open_network
from polyfold.explorer.requested_domain import RequestedDomain, place_of
from polyfold.plotting.geometry.samples import in_parameters
from polyfold.plotting.geometry.view import View, view_of
from polyfold.stats.classes import classes

Send = Callable[[dict[str, Any]], None]
# The first cells come soon, and cost little.
_FIRST_BLOCK = 400
# Messages on progress are at least so many seconds apart.
_PROGRESS_EVERY = 0.1


def read(task: dict[str, Any], send: Send) -> None:
    """Look an uploaded file over."""
    path = Path(task["file"])
    try:
        check_file(path, task["name"])
        opened = open_network(Source(file=str(path)))
    except PolyfoldError as error:
        # The file's place on the server is nobody's business, nor is that of files that it refers to.
        words = str(error).replace(str(path), task["name"]).replace(f"{path.parent}{os.sep}", "")
        raise type(error)(words.replace(str(path.parent), "the folder of uploads")) from None
    send({"facts": facts(opened)})


def unfold(task: dict[str, Any], send: Send) -> None:
    """Find all cells, telling of them on the way; then write down what there is to draw."""
    opened = _open(task)
    folder = Path(task["folder"])
    place = _place(task["domain"], opened)
    view = view_in(place.lo, place.hi)
    started = time.perf_counter()
    if task["domain"]["kind"] == "atlas":
        assert opened.atlas is not None
        atlas = opened.atlas
    else:
        atlas = _unfolded(opened, place.domain, view, task, send)
    stopped = _why_stopped(atlas, task)
    send({"drawing": True, "cells": len(atlas)})
    found = time.perf_counter()
    drawn = draw_cells(atlas, view)
    layers, walls = draw_walls(atlas, view)
    save_arrays(folder / "cells.npz", drawn)
    save_arrays(folder / "walls.npz", walls)
    atlas.save(folder / "atlas.parquet")
    now = time.perf_counter()
    # The parts of cells by class have to be found and drawn as the cells had to be.
    left = task["seconds"] - (now - started) - 2 * (now - found)
    by_class = stopped or _classes(atlas, folder, view, task, left)
    certificate = atlas.certificate
    send(
        {
            "done": {
                "cells": len(atlas),
                "drawn": len(drawn["cell"]),
                "dim": atlas.dim,
                "lo": list(place.lo),
                "hi": list(place.hi),
                "names": list(place.names),
                "outputs": atlas.outputs,
                "inputs": atlas.program.input_dim,
                "is_slice": atlas.domain.is_slice,
                "layers": list(layers),
                "complete": atlas.complete,
                "classes": by_class is None,
                "without_classes": by_class,
                "certificate": {
                    "level": certificate.standing,
                    "complete": certificate.complete,
                    "words": str(certificate),
                    "method": certificate.method,
                    "checks": [str(check) for check in certificate.checks],
                },
            },
            "stopped": stopped,
        }
    )


def _unfolded(opened: Opened, domain: Domain, view: View, task: dict[str, Any], send: Send) -> Atlas:
    """The cells, as many as can be found and drawn in the time of a job."""
    started, drawing, drawn = time.perf_counter(), 0.0, 0
    left = float(task["preview"])
    for block in unfold_in_blocks(
        opened.program,
        domain,
        first=_FIRST_BLOCK,
        progress=_progress(send),
        max_cells=task["cells"],
        max_seconds=task["seconds"],
        threads=task["threads"],
    ):
        atlas = block.atlas
        if atlas.complete:
            break
        if left > 0 and len(block):
            before = time.perf_counter()
            left -= _send_block(atlas, draw_cells(atlas, view, block.new), send)
            drawing, drawn = drawing + time.perf_counter() - before, drawn + len(block)
        # In large networks it takes longer to draw cells than to find them.
        to_come = drawing / max(drawn, 1) * (len(atlas) + len(block))
        if time.perf_counter() - started + to_come > task["seconds"]:
            break
    return atlas


def compare(task: dict[str, Any], send: Send) -> None:
    """Whether two networks are the same function on a domain, and where they differ most."""
    a, b = (open_network(Source(**task[name]["source"]), task[name]["snapshot"]) for name in ("a", "b"))
    place = _place(task["domain"], a)
    counts = [(each.program.input_dim, each.program.model_output_dim) for each in (a, b)]
    if counts[0] != counts[1]:
        sizes = [f"{given} to {put_out}" for given, put_out in counts]
        raise DomainError(f"the networks cannot be compared: one maps {sizes[0]} numbers, the other one {sizes[1]}")
    report = _progress(send)
    found = equivalent(
        _whole(a),
        _whole(b),
        place.domain,
        max_seconds=task["seconds"],
        max_cells=task["cells"],
        progress=lambda event: report(event.done),
        threads=task["threads"],
    )
    point = None if found.point is None else [float(x) for x in found.point]
    parameters = None if point is None else in_parameters(place.domain, np.array([point]))[0].tolist()
    send(
        {
            "done": {
                "verdict": found.word,
                "words": str(found.worst),
                "compared": found.compared,
                "largest": finite(float(found.max_difference)),
                "upper": finite(float(found.upper)),
                "exact": found.exact,
                "point": point,
                "at": parameters,
                "method": found.method,
                "stopped_by": found.stopped_by,
                "by_output": [
                    {"largest": finite(float(each.largest)), "upper": finite(float(each.upper))}
                    for each in found.by_output
                ],
            },
            "stopped": None,
        }
    )


TASKS: dict[str, Callable[[dict[str, Any], Send], None]] = {"read": read, "unfold": unfold, "compare": compare}


def _open(task: dict[str, Any]) -> Opened:
    return open_network(Source(**task["source"]), task["snapshot"])


def _whole(opened: Opened) -> Any:
    if opened.network is None:
        raise DomainError("a saved atlas holds no network to compare: upload the network itself")
    return opened.network


def _place(spec: dict[str, Any], opened: Opened) -> RequestedDomain:
    if spec["kind"] != "atlas":
        return place_of(spec, opened.program.input_dim)
    if opened.atlas is None:
        raise DomainError('"kind": "atlas" shows a saved atlas as it is, and this network is none')
    return _place_of_atlas(opened.atlas, spec)


def _place_of_atlas(atlas: Atlas, spec: dict[str, Any]) -> RequestedDomain:
    names = tuple(f"x{k}" for k in range(atlas.dim)) if not atlas.domain.is_slice else ("u", "v")[: atlas.dim]
    if atlas.dim == 2:
        view = view_of(atlas, spec.get("extent"))
        return RequestedDomain(atlas.domain, tuple(view.lo.tolist()), tuple(view.hi.tolist()), names)
    corners = np.concatenate([points.ravel() for points in atlas.vertices()] or [np.zeros(0)])
    ends = spec.get("extent") or ([corners.min() - 1.0, corners.max() + 1.0] if len(corners) else [-1.0, 1.0])
    return RequestedDomain(atlas.domain, (float(ends[0]),), (float(ends[1]),), names)


def _progress(send: Send) -> Callable[[Progress | int], None]:
    last = [0.0]

    def report(event: Progress | int) -> None:
        now = time.perf_counter()
        if now - last[0] > _PROGRESS_EVERY:
            last[0] = now
            send({"progress": event if isinstance(event, int) else event.done})

    return report


def _send_block(atlas: Atlas, drawn: dict[str, Any], send: Send) -> float:
    """Send cells that were just found; how much text that was, about."""
    values = drawn["values"]
    send(
        {
            "block": {
                "cells": len(atlas),
                "start": drawn["start"].tolist(),
                "points": drawn["points"].ravel().tolist(),
                "key": keys_of(atlas, drawn["cell"]),
                "class": drawn["class"].tolist(),
                "value": [finite(value) for value in values.max(axis=1).tolist()],
            }
        }
    )
    return float(20 * drawn["points"].size + 50 * len(values))


def _why_stopped(atlas: Atlas, task: dict[str, Any]) -> str | None:
    if atlas.complete:
        return None
    if len(atlas) >= task["cells"]:
        return f"there are more than the {task['cells']:,} cells that a job may find: choose a smaller domain"
    found = how_many(len(atlas), "cell")
    time_given = f"the {task['seconds']:g} seconds of a job"
    return f"more than {found} cannot be found and drawn in {time_given}: choose a smaller domain"


def _classes(atlas: Atlas, folder: Path, view: View, task: dict[str, Any], seconds: float) -> str | None:
    """Write down where which class wins; why not, if that takes more than a job may use."""
    if seconds <= 0:
        return "there was not enough time left to find where which class wins"
    try:
        found = classes(atlas, max_cells=4 * task["cells"], max_seconds=seconds)
    except LimitError as error:
        return str(error)
    save_arrays(folder / "classes.npz", draw_classes(found, view))
    return None
