"""Columns: one value for each cell, by which a picture can be coloured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import one_output
from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.layers_of_facets import layer_of_gates
from polyfold.errors import PolyfoldError

# What has a name of its own; all else is asked of the atlas's table.
NAMED = ("output", "slope", "class", "region", "layer", "volume", "facets")
# More different words are no help in a legend.
_MOST_WORDS = 16


@dataclass(frozen=True, eq=False)
class Column:
    """A value for every cell that was asked for; `names` if these are numbers of names."""

    values: Array
    label: str
    names: tuple[str, ...] | None = None


def column(atlas: Atlas, asked: Any, cells: Ids, middles: Array, output: int, output_name: str) -> Column:
    """The column that is asked for by its name, or given: values at `middles`, of these cells."""
    if not isinstance(asked, str):
        return _given(asked, cells, len(atlas))
    if asked == "output":
        return Column(outputs_at(atlas, cells, middles, output), f"{output_name} in the middle")
    if asked == "slope":
        return Column(slopes(atlas, cells, output), f"slope of {output_name}")
    if asked == "layer":
        names, deepest = deepest_layers(atlas)
        return Column(deepest[cells].astype(np.float64), "deepest layer at its facets", names)
    if asked == "volume":
        with np.errstate(divide="ignore"):
            size = {1: "length", 2: "area"}.get(atlas.dim, "volume")
            return Column(np.log10(atlas.volumes(cells)), f"log10 of the {size}")
    if asked == "facets":
        return Column(np.diff(atlas.facet_start)[cells].astype(np.float64), "facets")
    return _of_the_table(atlas, asked, cells)


def outputs_at(atlas: Atlas, cells: Ids, points: Array, output: int) -> Array:
    """The output of each cell's map at a point."""
    output = one_output(output, atlas.outputs)
    A, c = atlas.maps(cells, over="parameters")
    with np.errstate(over="ignore", invalid="ignore"):
        found: Array = np.einsum("nd,nd->n", A[:, output], points) + c[:, output]
    return found


def slopes(atlas: Atlas, cells: Ids, output: int) -> Array:
    """The norm of an output's gradient on each cell, over the domain's parameters."""
    output = one_output(output, atlas.outputs)
    A, _ = atlas.maps(cells, over="parameters")
    with np.errstate(over="ignore"):
        found: Array = np.linalg.norm(A[:, output], axis=1)
    return found


def deepest_layers(atlas: Atlas) -> tuple[tuple[str, ...], Ids]:
    """Names of layers, and for every cell the number of the last one that a facet of it lies on; -1 without any."""
    names, layer = layer_of_gates(atlas)
    deepest = np.full(len(atlas), -1)
    facet = np.concatenate([np.arange(len(atlas.facet_wall)), atlas.shared_facet])
    wall = np.concatenate([atlas.facet_wall, atlas.shared_wall]).astype(np.int64)
    of_gates = wall < atlas.gates
    np.maximum.at(deepest, atlas.facet_owner[facet[of_gates]], layer[wall[of_gates]])
    return names, deepest


def _of_the_table(atlas: Atlas, asked: str, cells: Ids) -> Column:
    table = atlas.to_pandas(cells)
    if asked not in table.columns:
        raise PolyfoldError(
            f"colour={asked!r} is no column: use one of {', '.join(NAMED)}, a column of atlas.to_pandas() "
            f"({', '.join(map(str, table.columns))}), or an array with a value for each of the {len(atlas):,} cells"
        )
    return _values(table[asked].to_numpy(), asked)


def _given(asked: Any, cells: Ids, count: int) -> Column:
    values = np.asarray(asked)
    if values.shape != (count,):
        raise PolyfoldError(
            f"colour= must be a name or an array with a value for each of the {count:,} cells, not one of shape "
            f"{values.shape}"
        )
    return _values(values[cells], "value")


def _values(values: npt.NDArray[Any], label: str) -> Column:
    if values.dtype == bool:
        return Column(values.astype(np.float64), label, (f"not {label}", label))
    if np.issubdtype(values.dtype, np.number) and not np.issubdtype(values.dtype, np.complexfloating):
        return Column(values.astype(np.float64), label)
    words, number = np.unique(values.astype(str), return_inverse=True)
    if len(words) > _MOST_WORDS:
        raise PolyfoldError(
            f"{label!r} has {len(words):,} different words; colours can tell {_MOST_WORDS} apart: colour by numbers"
        )
    return Column(number.astype(np.float64), label, tuple(words.tolist()))
