"""Folds layer by layer: where the neurons of a layer switch, over where those of earlier layers do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import one_of
from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.layers_of_facets import layer_of_gates
from polyfold.errors import PolyfoldError, how_many
from polyfold.plotting.geometry.segments import facet_segments, inner_facets
from polyfold.plotting.geometry.view import view_of
from polyfold.plotting.scene import plane
from polyfold.plotting.scene.cells import boundary_segments, class_names
from polyfold.plotting.scene.shapes import Colouring, Panels, Part, Scene, Segments
from polyfold.stats.decision_boundary import DecisionBoundary, decision_boundary

# So many neurons of a layer have colours of their own.
_MOST_NEURONS = 8
# So many segments say whose they are when pointed at.
_MOST_TEXTS = 2_000


def folds_scene(
    atlas: Atlas,
    *,
    layer: int | None = None,
    slider: bool = False,
    boundary: Any = False,
    view: Any = None,
    X: Any = None,
    y: Any = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Scene | Panels:
    """A panel for each layer, or one layer alone: its zero sets, with those of all earlier layers in grey.

    With `boundary` the decision boundary comes last, as that of the output layer; with `slider` there is one panel at a
    time, where the renderer has sliders.
    """
    names, of_gate = layer_of_gates(atlas)
    if not names:
        raise PolyfoldError("the network has no gates: it folds nowhere")
    features = plane.input_names(atlas, feature_names, X)
    rows = plane.rows_of_data(X, features)
    shown = view_of(atlas, view, rows)
    axes = plane.axes_of(atlas, shown, features)
    points = plane.data_points(rows, y, class_names(atlas, None))
    facets = inner_facets(atlas)
    place, ends = facet_segments(atlas, facets, shown)
    pairs = _walls_of(atlas, facets[place])

    def panel(number: int) -> Scene:
        parts: list[Part] = []
        earlier = np.unique(pairs[of_gate[pairs[:, 1]] < number, 0])
        parts.append(Segments(ends[earlier], role="earlier"))
        if number < len(names):
            parts.append(_layer(atlas, pairs[of_gate[pairs[:, 1]] == number], ends))
        else:
            drawn = boundary if isinstance(boundary, DecisionBoundary) else decision_boundary(atlas)
            parts.append(boundary_segments(drawn, shown))
        return Scene((*parts, *points), axes, f"layer {names[number]}" if number < len(names) else "output")

    words = f"Folds of {how_many(len(names), 'layer')}" if title is None else title
    notes: tuple[str, ...] = (
        () if atlas.complete else ("The atlas is incomplete: nothing is known of its missing parts.",)
    )
    if not atlas.bounded.all():
        notes += ("Folds go on beyond the view.",)
    if layer is not None:
        alone = panel(one_of(layer, len(names), "layer", "the network"))
        return Scene(alone.parts, axes, alone.title if title is None else title, notes)
    return Panels(tuple(panel(k) for k in range(len(names) + (boundary is not False))), words, notes, slider)


def _walls_of(atlas: Atlas, facets: Ids) -> Ids:
    """Pairs (place among the facets, gate) of each facet with each of its gates."""
    place = np.full(len(atlas.facet_wall), -1)
    place[facets] = np.arange(len(facets))
    facet = np.concatenate([np.arange(len(atlas.facet_wall)), atlas.shared_facet])
    wall = np.concatenate([atlas.facet_wall, atlas.shared_wall]).astype(np.int64)
    there = (place[facet] >= 0) & (wall < atlas.gates)
    return np.stack([place[facet[there]], wall[there]], axis=1)


def _layer(atlas: Atlas, pairs: Ids, ends: npt.NDArray[np.float64]) -> Segments:
    """A layer's zero sets, in a colour for each neuron if there are few."""
    gates, neuron = np.unique(pairs[:, 1], return_inverse=True)
    colouring = None
    if 1 < len(gates) <= _MOST_NEURONS:
        colouring = Colouring(neuron.astype(np.float64), "neuron", ("",) * len(gates))
    said = [f"{atlas.program.origins[gate]} is zero" for gate in pairs[:, 1].tolist()]
    return Segments(ends[pairs[:, 0]], colouring, said if len(said) <= _MOST_TEXTS else (), role="wall")
