"""An atlas as proofs and walks see it: over the parameters that its walls depend on, without the others."""

from __future__ import annotations

from fractions import Fraction

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import unclaimed
from polyfold.program.derive.few_coordinates import few_coordinates


def in_few_coordinates(atlas: Atlas) -> Atlas:
    """The same patterns, facets and neighbours of cells in fewer dimensions, in which some may be bounded.

    It is the atlas itself where walls depend on all parameters, or where a witness is not zero in one that is left out.
    """
    few = few_coordinates(atlas.program, atlas.domain)
    witnesses = few.seen(atlas.witnesses)
    if few.all or witnesses is None:
        return atlas
    axes = few.axes.tolist()
    exact: dict[int, tuple[Fraction, ...]] = {}
    for cell, point in atlas.exact_witnesses.items():
        exact[cell] = tuple(point[axis] for axis in axes)
        if len(point) != few.dim or sum(map(bool, point)) > sum(map(bool, exact[cell])):
            return atlas
    return Atlas(
        few.program,
        few.domain,
        atlas.patterns,
        witnesses,
        atlas.bounded,
        atlas.facet_start,
        atlas.facet_wall,
        atlas.neighbour,
        atlas.shared_facet,
        atlas.shared_wall,
        unclaimed(atlas.certificate),
        exact,
    )
