"""Which of the user's layers form which facets."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas

DOMAIN = -1


def layer_of_gates(atlas: Atlas) -> tuple[tuple[str, ...], Ids]:
    """The names of the user's nodes that have gates, in the order of their first gates; the node of each gate."""
    numbers: dict[str, int] = {}
    layer = np.empty(atlas.gates, dtype=np.int64)
    for gate, origin in enumerate(atlas.program.origins):
        layer[gate] = numbers.setdefault(origin.node, len(numbers))
    return tuple(numbers), layer


def layer_of_facets(atlas: Atlas, layer: Ids) -> Ids:
    """The layer of each facet, DOMAIN on the domain's boundary; of a facet on several gates the earliest one's.

    What later gates do there they do because the earlier one bends what they read.
    """
    first = atlas.facet_wall.astype(np.int64)
    np.minimum.at(first, atlas.shared_facet, atlas.shared_wall)
    found = np.full(len(first), DOMAIN, dtype=np.int64)
    inner = atlas.neighbour != -1
    found[inner] = layer[first[inner]]
    return found
