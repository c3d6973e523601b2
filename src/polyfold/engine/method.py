"""Which walk finds or counts the cells: the one place that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from polyfold import _core as core
from polyfold.atlas.certificate import Check
from polyfold.atlas.core_problem import beyond_core, core_problem
from polyfold.domain.domain import Domain
from polyfold.engine.lifted_cells import LiftedCells
from polyfold.engine.proof.count_checks import checks_by_listing, checks_of_slice
from polyfold.engine.run import Leave
from polyfold.engine.slices.run import count_slice_cells, find_slice_cells
from polyfold.errors import LimitError, PolyfoldError
from polyfold.program.derive.few_coordinates import FewCoordinates, few_coordinates
from polyfold.program.in_range import in_range
from polyfold.program.lower.lower import written_out
from polyfold.program.program import Program

GENERATORS = "cells with all their vertices and rays, cut depth first"
PROGRAMS = "cells as inequalities, cut depth first by proved linear programs"
SECTIONS = "sections of the cells before the last layer"
VERTICES = "cells of a line or plane by their corners, cut stage by stage"

# A box has 2^d corners, and its cells hardly fewer. From so many dimensions on linear programs count cells faster than
# sections do, and find them faster than generators (docs/adr/0006, 0009 and 0010). Generators list the last stage's
# cells together, so in networks with hardly any other stage they hold out longer. So do sections where there is but one
# stage: all cells are then sections of one.
_MANY_CORNERS = 7
_MANY_CORNERS_OF_FEW_STAGES = 9
_MANY_CORNERS_OF_ONE_STAGE = 10
_FEW_STAGES = 2

# Whether every gate cuts, or a pool is one switch of k ways.
CellsOf: TypeAlias = Literal["gates", "function"]

# The arrays of an atlas, or what can be put together to them.
Cells = dict[str, Any] | core.FoundCells | LiftedCells


def as_method_takes_it(program: Program, domain: Domain, cells_of: CellsOf = "gates") -> Program:
    """The program with its matrices written out, unless only vertices will pass it; that may raise LimitError."""
    by_vertices = beyond_core(program, domain) or of_function(program, domain, cells_of)
    return program if by_vertices else in_range(written_out(program))


def of_function(program: Program, domain: Domain, cells_of: CellsOf) -> bool:
    """Whether cells are asked for that are not those of all gates; refused where they cannot be found."""
    if cells_of not in ("gates", "function"):
        raise PolyfoldError(f"cells must be 'gates' or 'function', got {cells_of!r}")
    if cells_of == "gates" or not program.pools.any_idle:
        return False
    if domain.dim > 2:
        raise LimitError(
            f"cells='function' finds cells of networks with pools on lines and planes, and {domain.describe()} has "
            f"{domain.dim} dimensions: take pf.line or pf.plane; or cells='gates', and pf.regions of what is found"
        )
    return True


def find_cells(
    program: Program,
    domain: Domain,
    threads: int,
    max_cells: int,
    leave: Leave,
    *,
    by_vertices: bool | None = None,
    cells_of: CellsOf = "gates",
) -> tuple[Cells, str]:
    """All cells, and by which method they were found.

    Vertices on lines and planes through programs that are too large for the core (`by_vertices` overrules that); linear
    programs on bounded domains of high dimension; else generators. On all of R^d cells have few vertices in any
    dimension, and only generators tell what is unbounded. Parameters on which nothing depends are left out meanwhile.
    """
    if of_function(program, domain, cells_of):
        return find_slice_cells(program, domain, max_cells, leave, pools=True), VERTICES
    if beyond_core(program, domain) if by_vertices is None else by_vertices:
        return find_slice_cells(program, domain, max_cells, leave), VERTICES
    few = few_coordinates(program, domain)
    found, method = _find_in_core(few.program, few.domain, threads, max_cells, leave)
    return (found if few.all else LiftedCells(found, few)), method


def _find_in_core(
    program: Program, domain: Domain, threads: int, max_cells: int, leave: Leave
) -> tuple[core.FoundCells, str]:
    problem = core_problem(program, domain)
    many = _MANY_CORNERS_OF_FEW_STAGES if len(program.stages) <= _FEW_STAGES else _MANY_CORNERS
    if domain.dim >= many and domain.rows > domain.dim:
        try:
            return core.find_cells(problem, True, threads, max_cells, leave.keep_going), PROGRAMS
        except core.OpenDomain:
            pass  # not bounded after all
    return core.find_cells(problem, False, threads, max_cells, leave.keep_going), GENERATORS


@dataclass(frozen=True)
class Counted:
    """How many cells, whether these are all, by which method, and what was looked at."""

    cells: int
    complete: bool
    method: str
    checks: tuple[Check, ...]


def count_cells(
    program: Program,
    domain: Domain,
    threads: int,
    leave: Leave,
    *,
    looked_over: bool = True,
    cells_of: CellsOf = "gates",
) -> Counted:
    """How many cells there are; looked over if these are all, and if that is wanted."""
    pools = of_function(program, domain, cells_of)
    if pools or beyond_core(program, domain):
        counted = count_slice_cells(program, domain, leave, pools=pools)
        seen = checks_of_slice(program, counted) if counted.complete and looked_over else ()
        return Counted(counted.cells, counted.complete, VERTICES, seen)
    few = few_coordinates(program, domain)
    problem = core_problem(few.program, few.domain)
    (cells, complete), method = _count_in_core(problem, few, threads, leave)
    checks: tuple[Check, ...] = ()
    if complete and looked_over:
        checks = checks_by_listing(problem, few.domain, cells, method, lambda _: leave.keep_going(cells))
    return Counted(cells, complete, method, checks)


def _count_in_core(
    problem: core.Problem, few: FewCoordinates, threads: int, leave: Leave
) -> tuple[tuple[int, bool], str]:
    many = _MANY_CORNERS if len(few.program.stages) > 1 else _MANY_CORNERS_OF_ONE_STAGE
    if few.domain.dim >= many and few.domain.rows > few.domain.dim:
        try:
            return core.count(problem, True, threads, leave.keep_going), PROGRAMS
        except core.OpenDomain:
            pass  # not bounded after all
    return core.count(problem, False, threads, leave.keep_going), SECTIONS
