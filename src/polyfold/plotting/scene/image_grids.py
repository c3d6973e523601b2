"""Maps of image networks as pictures: slopes in the shape of the inputs, one row per input or output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold._base.types import AnyArray
from polyfold.engine.cells.local import LocalMaps
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.maps.clusters import ClusteredMaps
from polyfold.maps.result import MapMatrices
from polyfold.plotting.scene.shapes import Grid, Picture

# Of more, the first ones are shown.
_MOST_ROWS = 8


def picture_of(values: AnyArray, title: str = "", *, signed: bool = True) -> Picture:
    """A picture of (rows, columns), or of channels in front, whose sum is shown."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 3:
        array = array.sum(axis=0)
    if array.ndim != 2:
        raise ShapeError(
            f"a picture has rows and columns, and perhaps channels in front; these inputs have shape {array.shape}: "
            "give image_shape=(rows, columns)"
        )
    return Picture(array, title, signed)


def gradient_grid(
    maps: LocalMaps | MapMatrices, *, image_shape: Sequence[int] | None = None, rows: Sequence[int] | None = None
) -> Grid:
    """One row per input: the input itself, and the slopes of every output; blue lowers the output, red raises it."""
    shape = _shape(maps.input_shape if isinstance(maps, MapMatrices) else None, image_shape, maps.X.shape[1])
    shown = list(range(len(maps)))[:_MOST_ROWS] if rows is None else [_row(each, len(maps)) for each in rows]
    outputs = maps.outputs if isinstance(maps, MapMatrices) else tuple(range(maps.A.shape[1]))
    grid = []
    for number, i in enumerate(shown):
        slopes = [maps.of(j)[i, :-1] if isinstance(maps, MapMatrices) else maps.A[i, j] for j in outputs]
        titles = [f"output {j}" if number == 0 else "" for j in outputs]
        first = picture_of(maps.X[i].reshape(shape), "input" if number == 0 else "", signed=False)
        grid.append((first, *(picture_of(w.reshape(shape), title) for w, title in zip(slopes, titles, strict=True))))
    notes = _notes(len(maps) - len(shown) if rows is None else 0, "input", shape)
    return Grid(tuple(grid), tuple(f"input {i}" for i in shown), "Slopes of every output", notes)


def centre_grid(clusters: ClusteredMaps, *, image_shape: Sequence[int] | None = None) -> Grid:
    """One row per output: the slopes of the centres of its clusters."""
    shape = _shape(clusters.input_shape, image_shape, clusters.centres[0].shape[1] - 1)
    shown = clusters.outputs[:_MOST_ROWS]
    most = max(len(clusters.of(j)) for j in shown)
    grid = []
    for number, j in enumerate(shown):
        pictures: list[Picture | None] = [
            picture_of(row[:-1].reshape(shape), f"cluster {k}" if number == 0 else "")
            for k, row in enumerate(clusters.of(j))
        ]
        grid.append((*pictures, *[None] * (most - len(pictures))))
    notes = _notes(len(clusters.outputs) - len(shown), "output", shape)
    return Grid(tuple(grid), tuple(f"output {j}" for j in shown), "Centres of clusters of slopes", notes)


def _shape(own: Sequence[int] | None, asked: Sequence[int] | None, numbers: int) -> tuple[int, ...]:
    """The shape of one input: what was asked for, what the network has, or a square."""
    if asked is not None:
        shape = tuple(int(each) for each in asked)
        if int(np.prod(shape)) != numbers:
            raise ShapeError(f"image_shape={asked!r} does not fit inputs of {how_many(numbers, 'number')}")
        return shape
    if own is not None and len(own) > 1:
        return tuple(own)
    side = int(np.sqrt(numbers) + 0.5)
    if side * side != numbers:
        raise ShapeError(
            f"inputs of {how_many(numbers, 'number')} make no square picture: give image_shape=(rows, columns)"
        )
    return (side, side)


def _row(number: Any, count: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not -count <= number < count:
        raise PolyfoldError(f"there is no input {number!r}: there are {count}, counted from 0")
    return int(number) % count


def _notes(left: int, thing: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    notes = ["Each picture has its own scale; white is zero."]
    if len(shape) == 3:
        notes.append(f"Sums over {how_many(shape[0], 'channel')}.")
    if left:
        notes.append(f"{how_many(left, thing)} more are not shown.")
    return tuple(notes)
