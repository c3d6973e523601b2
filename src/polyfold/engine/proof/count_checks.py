"""What can be looked at where cells were only counted: checks that cost little, and that would fail on a wrong number.

| how the cells were counted | what is checked |
|---|---|
| lines and planes through large programs | every sign was proved; every inner facet belongs to two cells; lengths or areas add up to the domain's |
| otherwise, up to some thousand corners | another method lists the cells and finds as many, with different patterns; the faces' Euler characteristic, where it is known |
| otherwise, beyond that | nothing: the level stays "counted" |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable

from polyfold import _core as core
from polyfold._core import Problem
from polyfold.atlas.certificate import Check
from polyfold.domain.domain import Domain
from polyfold.engine.slices.checks import check_decided, check_sum
from polyfold.engine.slices.run import SliceCount
from polyfold.program.program import Program

# A cell has some 2^d corners and some 3^d faces. Up to so many of them are looked at, which takes milliseconds.
_CORNERS = 1 << 12
_FACES = 1 << 13


def checks_of_slice(program: Program, counted: SliceCount) -> tuple[Check, ...]:
    """For a line or plane that was counted to its end."""
    tally = counted.tally
    paired = Check(
        "facets pair up",
        tally.unpaired == 0 and tally.inner % 2 == 0,
        f"{tally.inner // 2:,} inner; keys of all sides together leave {tally.unpaired:x}",
    )
    return paired, check_decided(program, counted.doubts), check_sum(tally.measure, counted.whole)


def checks_by_listing(
    problem: Problem, domain: Domain, cells: int, method: str, may_go_on: Callable[[int], bool]
) -> tuple[Check, ...]:
    """For what the core counted to its end; none if there are too many cells, or time is over."""
    if cells << domain.dim > _CORNERS:
        return ()
    found = core.find_cells(problem, False, 1, -1, may_go_on)
    if not found.complete:
        return ()
    listed = found.put_together(lambda: True)
    patterns = len({pattern.tobytes() for pattern in listed["patterns"]})
    agree = Check(
        "two methods agree",
        cells == patterns == len(listed["patterns"]),
        f"{method}: {cells:,}; listed with all their vertices: {patterns:,} different patterns",
    )
    is_bounded = bool(listed["bounded"].all())
    if cells * 3**domain.dim > _FACES or not (is_bounded or not domain.rows):
        return (agree,)
    counts = core.count_faces(problem, 1, lambda faces: True)
    return agree, _euler(tuple(counts), 1 if is_bounded else (-1) ** domain.dim, cells)


def _euler(counts: tuple[int, ...], expected: int, cells: int) -> Check:
    found = sum(count if k % 2 == 0 else -count for k, count in enumerate(counts))
    return Check(
        "Euler characteristic",
        found == expected and counts[-1] == cells,
        f"{found} from {counts}, {expected} expected",
    )
