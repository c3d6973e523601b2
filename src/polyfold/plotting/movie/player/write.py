"""Writes the player: a page, its script and style, and every frame's arrays in base64.

Coordinates become whole numbers from 0 to 65535 across the view, two bytes each. A corner that polygons share is
rounded the same way in all of them, so that they still cover the view without gaps. Coefficients of maps, and values
that colour polygons, become float32. Frames are written as they come, and none is kept.

A frame's arrays lie one behind the other, in little-endian order: the values on the scale (float32, only if there is a
scale); `rows` maps (a, b, c) of each polygon, output = a x + b y + c (float32); polygons' cells (uint32), numbers of
corners (uint16) and classes (uint16); corners (uint16, pairs), and the boundary's pieces (uint16, four numbers each).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from polyfold._base.templates import template
from polyfold._base.types import Array
from polyfold.plotting.geometry.film import Film, Frame
from polyfold.plotting.geometry.view import View
from polyfold.plotting.render.style import CLASS_COLOURS, SCALE
from polyfold.plotting.scene.training import Legend, caption

_FOLDER = Path(__file__).parent
_FINEST = 65535
# Of networks with more outputs, only the map of the largest one is kept.
_ALL_OUTPUTS = 3


def write_player(
    file: TextIO,
    film: Film,
    frames: Iterable[Frame],
    *,
    legend: Legend,
    title: str,
    fps: float,
    notes: tuple[str, ...],
) -> None:
    """Write the page; frames are asked for one by one."""
    outputs = film.outputs
    rows = outputs if outputs <= _ALL_OUTPUTS else 1
    width, height = (film.view.hi - film.view.lo).tolist()
    facts = {
        "view": [film.view.lo[0], film.view.hi[0], film.view.lo[1], film.view.hi[1]],
        "aspect": height / width if film.view.one_scale else 1,
        "axes": legend.inputs,
        "stepName": legend.step_name,
        "fps": fps,
        "classes": legend.names,
        "outputs": outputs,
        "rows": rows,
        "label": legend.label,
        "limits": legend.limits,
        "scale": None if film.colour == "class" else SCALE,
        "colours": CLASS_COLOURS,
        "points": _text(_rounded(film.points, film.view)),
        "pointLabels": None if film.point_labels is None else film.point_labels.tolist(),
        "notes": [*notes, *_notes(rows < outputs)],
    }
    page = template(_FOLDER / "page.html").generate(
        title=title,
        style=_read("player.css"),
        script=_read("player.js"),
        film=_json(facts),
        frames=_lines(_json(_packed(frame, film, rows, legend.step_name)) for frame in frames),
    )
    for piece in page:
        file.write(piece)


def _lines(entries: Iterable[str]) -> Iterator[str]:
    """The entries of a JSON list, a line each."""
    for k, entry in enumerate(entries):
        yield f"{',' if k else ''}\n{entry}"


def _packed(frame: Frame, film: Film, rows: int, step_name: str) -> dict[str, Any]:
    """One frame as it is written."""
    A, c = frame.A[frame.cell], frame.c[frame.cell]
    if rows < film.outputs:
        largest = (np.arange(len(frame.cell)), frame.label)
        A, c = A[largest][:, None], c[largest][:, None]
    arrays = [
        _short(frame.values) if film.colour != "class" else np.empty(0, "<f4"),
        _short(np.concatenate([A, c[:, :, None]], axis=2)),
        frame.cell.astype("<u4"),
        np.diff(frame.shapes.start).astype("<u2"),
        frame.label.astype("<u2"),
        _rounded(frame.shapes.points, film.view),
        _rounded(frame.boundary, film.view),
    ]
    return {
        "step": frame.step,
        "said": caption(frame, step_name),
        "cells": frame.cells,
        "logged": {name: value if isfinite(value) else None for name, value in frame.logged.items()},
        "polygons": len(frame.shapes),
        "corners": len(frame.shapes.points),
        "pieces": len(frame.boundary),
        "arrays": _text(*arrays),
    }


def _notes(only_the_largest: bool) -> list[str]:
    notes = [
        "In this player coordinates are rounded to 1/65535 of the view, and maps to about seven digits. Which cells "
        "there are was decided exactly."
    ]
    if only_the_largest:
        notes.append("Of each cell only the map of its largest output is kept here.")
    return notes


def _rounded(points: Array, view: View) -> npt.NDArray[np.uint16]:
    """Points (..., 2) of the view as whole numbers."""
    shares = np.clip((points - view.lo) / (view.hi - view.lo), 0.0, 1.0)
    found: npt.NDArray[np.uint16] = np.rint(shares * _FINEST).astype("<u2")
    return found


def _short(numbers: Array) -> npt.NDArray[np.float32]:
    """As float32; what is too large for these is infinite."""
    with np.errstate(over="ignore"):
        found: npt.NDArray[np.float32] = numbers.astype("<f4")
    return found


def _text(*arrays: npt.NDArray[Any]) -> str:
    return b64encode(b"".join(array.tobytes() for array in arrays)).decode("ascii")


def _json(facts: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(facts, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
