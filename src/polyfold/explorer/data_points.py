"""Uploaded data beside cells: where its points lie in a view, which of them a cell has."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.atlas.atlas import Atlas
from polyfold.errors import ShapeError, how_many
from polyfold.explorer.sessions import Data
from polyfold.plotting.geometry.samples import cells_of_inputs, in_parameters

# So many rows of a cell are listed.
_MOST_ROWS = 200


def describe(data: Data) -> dict[str, Any]:
    """All of it, as it was read."""
    return {"rows": data.rows.tolist(), "labels": data.labels, "columns": data.columns, "count": len(data.rows)}


def inside(atlas: Atlas, cell: int, data: Data) -> dict[str, Any] | None:
    """The rows whose inputs lie in a cell; None if they are no inputs of this network."""
    # A session's data stay while it looks at other networks, whose cells can be read all the same.
    if data.rows.shape[1] != atlas.program.input_dim:
        return None
    rows = np.flatnonzero(cells_of_inputs(atlas, data.rows) == cell)
    found: dict[str, Any] = {"count": len(rows), "rows": rows[:_MOST_ROWS].tolist()}
    if data.labels is not None:
        names, counts = np.unique([data.labels[row] for row in rows], return_counts=True)
        found["labels"] = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return found


def in_view(atlas: Atlas, data: Data) -> dict[str, Any]:
    """Where the points are drawn, the cells that they lie in, and the classes that the network gives them."""
    rows = _fitting(atlas, data)
    values, _ = atlas.program.evaluate(rows)
    label = values.argmax(axis=1) if atlas.outputs > 1 else (values[:, 0] > 0).astype(np.int64)
    return {
        "points": in_parameters(atlas.domain, rows).ravel().tolist(),
        "projected": atlas.domain.is_slice,
        "cell": cells_of_inputs(atlas, rows).tolist(),
        "class": label.tolist(),
        "labels": data.labels,
    }


def _fitting(atlas: Atlas, data: Data) -> Array:
    # `read_data` has looked at the numbers; here their owner is told in the words of the page.
    inputs = atlas.program.input_dim
    if data.rows.shape[1] != inputs:
        raise ShapeError(
            f"the data have {how_many(data.rows.shape[1], 'column')}, and the network takes {how_many(inputs, 'input')}"
        )
    return data.rows
