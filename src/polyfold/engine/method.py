"""Which of the core's two walks finds the cells: the one place that decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyfold.atlas.domain import Domain
from polyfold.core import OpenDomain, Problem
from polyfold.core import unfold as core_unfold

GENERATORS = "cells with all their vertices and rays, cut depth first"
PROGRAMS = "cells as inequalities, cut depth first by proved linear programs"

# A box has 2^d corners, and its cells hardly fewer; from here on linear programs are faster (docs/adr/0006).
_MANY_CORNERS = 7


def find_cells(
    problem: Problem, domain: Domain, threads: int, max_cells: int, keep_going: Callable[[int], bool]
) -> tuple[dict[str, Any], str]:
    """What the core finds, and by which method: linear programs on bounded domains of high dimension, else generators.

    On all of R^d cells have few vertices in any dimension, and only generators tell what is unbounded.
    """
    if domain.dim >= _MANY_CORNERS and domain.rows > domain.dim:
        try:
            return core_unfold(problem, True, threads, max_cells, keep_going), PROGRAMS
        except OpenDomain:
            pass  # not bounded after all
    return core_unfold(problem, False, threads, max_cells, keep_going), GENERATORS
