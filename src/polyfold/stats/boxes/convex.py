"""Which regions are convex, proved.

A region's outer facets are those behind which another region, or nothing, lies. If the inequality of each holds on
all of the region's cells, the region is the polytope of these inequalities: a segment that leaves the region leaves it
through an outer facet, and so breaks that facet's inequality. Floats rule most regions out; what is left is decided in
integers.
"""

from __future__ import annotations

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.facet_rows import ExactRows, Form, Rows, facets_of, rows_of
from polyfold.atlas.geometry.generators import VERTEX
from polyfold.atlas.regions import Regions
from polyfold.errors import LimitError
from polyfold.exact.implied import Inequalities
from polyfold.exact.linear_program import integer_row
from polyfold.exact.tolerances import NEAR_A_CORNER

# Exact questions about one region: some seconds.
_MOST_QUESTIONS = 1 << 14
# Products of corners and facets that are looked at together.
_PRODUCTS = 1 << 22


def outer_facets(regions: Regions, region: int) -> Ids:
    """The facets of a region's cells that another region, or nothing, lies behind."""
    atlas, cells = regions.atlas, regions.cells[region]
    _, facets = facets_of(atlas, cells)
    behind = atlas.neighbour[facets]
    outer: Ids = facets[(behind < 0) | (regions.label[behind] != region)]
    return outer


def is_convex(regions: Regions, region: int, exact: ExactRows | None) -> bool:
    """Whether a region is proved to be convex; False where it is not, or where that is not decided.

    Regions of very many cells that seem to be convex are not decided, because that would take too long.
    """
    atlas, cells = regions.atlas, regions.cells[region]
    tick()
    if len(cells) == 1:
        return True
    # Cells behind facets that the engine did not get to may belong to the region as well.
    if exact is None or not atlas.complete:
        return False
    outer = outer_facets(regions, region)
    if _clearly_not(atlas, cells, outer):
        return False
    forms = set(exact.forms(outer))
    if len(forms) * len(cells) > _MOST_QUESTIONS:
        return False
    return all(_holds_on(atlas, int(cell), forms, exact) for cell in cells)


@np.errstate(all="ignore")
def _clearly_not(atlas: Atlas, cells: Ids, outer: Ids) -> bool:
    """Whether a vertex or a ray of a cell lies well behind an outer facet, as floats see it."""
    try:
        corners = atlas.generators(cells)
    except LimitError:
        tick()  # the end of the time is another limit
        return True
    rows = rows_of(atlas, np.array([0, len(outer)]), outer)
    step = max(1, _PRODUCTS // max(1, len(outer)))
    return any(
        _some_behind(corners.points[first : first + step], corners.kind[first : first + step] == VERTEX, rows)
        for first in range(0, len(corners.points), step)
    )


def _some_behind(points: Array, vertex: Flags, rows: Rows) -> bool:
    rise, size = points @ rows.A.T, np.abs(points) @ np.abs(rows.A).T
    level = np.where(vertex[:, None], rows.b, 0.0)
    return bool((rise - level > NEAR_A_CORNER * (size + np.abs(level))).any())


def _holds_on(atlas: Atlas, cell: int, forms: set[Form], exact: ExactRows) -> bool:
    """Whether all forms are >= 0 on a cell."""
    witness = atlas.rational_witness(cell)

    def seen_from_witness(form: Form) -> list[int]:
        level = sum((fmpq(a) * x for a, x in zip(form[:-1], witness, strict=True)), fmpq(form[-1]))
        return integer_row([*map(fmpq, form[:-1]), level])

    own = exact.forms(np.array(atlas.facets(cell)))
    inequalities = Inequalities([seen_from_witness(form) for form in own], atlas.dim)
    for form in forms.difference(own):
        tick()
        if not inequalities.implies(seen_from_witness(form)):
            return False
    return True
