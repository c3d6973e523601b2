"""What pictures colour cells by: outputs and slopes at their centres, classes, layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.plotting.geometry.columns import deepest_layers


@dataclass(frozen=True, eq=False)
class CellColumns:
    """One row for each of the cells asked for.

    `centres` (n, d) are centres of mass; or the witnesses of unbounded cells, and of lines and planes through large
    networks, where they are the means of the corners. `values` (n, m) are the outputs there,
    `slopes` (n, m) the lengths of the outputs' gradients over the domain's parameters. `label` is the class at the
    centre: the largest output, or with one output whether it exceeds 0. `layer` is the last of the user's layers,
    counted from 1, whose walls bound the cell; 0 if the domain alone does. `facets` counts facets.
    """

    centres: Array
    values: Array
    slopes: Array
    label: Ids
    layer: Ids
    facets: Ids


def cell_columns(atlas: Atlas, cells: Any = None) -> CellColumns:
    """The columns of some cells, or of all.

    >>> import polyfold as pf
    >>> hinge = pf.unfold([([[1.0]], [-1.0]), ([[3.0]], [0.0])], pf.box(0, 2))
    >>> found = cell_columns(hinge)
    >>> found.values.ravel().round(12).tolist(), found.slopes.ravel().tolist(), found.layer.tolist()
    ([0.0, 1.5], [0.0, 3.0], [1, 1])
    """
    ids = atlas.ids(cells)
    centres = _centres(atlas, ids)
    A, c = atlas.maps(ids, over="parameters")
    values: Array = np.einsum("nmd,nd->nm", A, centres) + c
    label = values.argmax(axis=1) if atlas.outputs > 1 else (values[:, 0] > 0).astype(np.int64)
    return CellColumns(
        centres,
        values,
        np.linalg.norm(A, axis=2),
        label,
        deepest_layers(atlas)[1][ids] + 1,
        np.diff(atlas.facet_start)[ids],
    )


def _centres(atlas: Atlas, ids: Ids) -> Array:
    if atlas.by_facets:
        return atlas.witnesses[ids]
    centres = atlas.centroids(ids)
    return np.where(np.isfinite(centres), centres, atlas.witnesses[ids])
