"""Which of the core's walks finds or counts the cells: the one place that decides."""

from __future__ import annotations

from typing import Any

from polyfold import core
from polyfold.atlas.domain import Domain
from polyfold.engine.watch import Leave

GENERATORS = "cells with all their vertices and rays, cut depth first"
PROGRAMS = "cells as inequalities, cut depth first by proved linear programs"
SECTIONS = "sections of the cells before the last layer"

# A box has 2^d corners, and its cells hardly fewer. From so many dimensions on linear programs count cells faster than
# sections do, and find them faster than generators (docs/adr/0006, 0009 and 0010). Generators list the last stage's
# cells together, so in networks with hardly any other stage they hold out longer.
_MANY_CORNERS = 7
_MANY_CORNERS_OF_FEW_STAGES = 9
_FEW_STAGES = 2


def find_cells(
    problem: core.Problem, domain: Domain, threads: int, max_cells: int, leave: Leave
) -> tuple[dict[str, Any], str]:
    """What the core finds, and by which method: linear programs on bounded domains of high dimension, else generators.

    On all of R^d cells have few vertices in any dimension, and only generators tell what is unbounded.
    """
    many = _MANY_CORNERS_OF_FEW_STAGES if problem.stages <= _FEW_STAGES else _MANY_CORNERS
    if domain.dim >= many and domain.rows > domain.dim:
        try:
            return core.unfold(problem, True, threads, max_cells, leave.keep_going, leave.still_wanted), PROGRAMS
        except core.OpenDomain:
            pass  # not bounded after all
    return core.unfold(problem, False, threads, max_cells, leave.keep_going, leave.still_wanted), GENERATORS


def count_cells(problem: core.Problem, domain: Domain, threads: int, leave: Leave) -> tuple[tuple[int, bool], str]:
    """(How many cells, whether these are all), and by which method."""
    if domain.dim >= _MANY_CORNERS and domain.rows > domain.dim:
        try:
            return core.count(problem, True, threads, leave.keep_going), PROGRAMS
        except core.OpenDomain:
            pass  # not bounded after all
    return core.count(problem, False, threads, leave.keep_going), SECTIONS
