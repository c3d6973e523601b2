"""The facets of cells as exact inequalities."""

from __future__ import annotations

from flint import fmpq

from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import beyond_core, stays_structured
from polyfold.program.passes.integer_forms import ExactForms

Form = tuple[int, ...]  # integers (a, b) with a . u + b >= 0 on the cell


class ExactRows:
    """Facets of one atlas in integers; forms that patterns have in common are computed once."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._forms = ExactForms(atlas.program, atlas.domain)

    @staticmethod
    def reach(atlas: Atlas) -> bool:
        """Whether the network is one whose forms can be written down exactly."""
        return not (beyond_core(atlas.program, atlas.domain) or stays_structured(atlas.program))

    def forms(self, facets: Ids) -> list[Form]:
        """a . u + b >= 0 for each facet, on the cell that lists it."""
        return [self._form(int(facet)) for facet in facets]

    def inequalities(self, facets: Ids) -> tuple[list[list[fmpq]], list[fmpq]]:
        """The same as A u <= b."""
        forms = self.forms(facets)
        return [[fmpq(-x) for x in form[:-1]] for form in forms], [fmpq(form[-1]) for form in forms]

    def _form(self, facet: int) -> Form:
        atlas = self._atlas
        pattern = tuple(atlas.signs([int(atlas.facet_owner[facet])])[0].tolist())
        rows = self._forms.under(pattern).rows
        # A gate that is zero all over the cell has no row there; the facet lies on another wall as well.
        wall = next(wall for wall in atlas.walls(facet) if any(rows[wall][:-1]))
        side = -1 if wall < atlas.gates and not pattern[wall] else 1
        return tuple(side * x for x in rows[wall])
