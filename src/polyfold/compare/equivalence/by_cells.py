"""Two networks compared cell by cell: all cells of both together, and the exact difference on each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from polyfold._base.clock import Clock as BaseClock
from polyfold.atlas.certificate import Certificate
from polyfold.compare.equivalence.atoms import TooLongError
from polyfold.compare.equivalence.cell_maps import CellMaps
from polyfold.compare.equivalence.clock import Clock
from polyfold.compare.equivalence.extremes import Extremes
from polyfold.compare.equivalence.result import Difference
from polyfold.compare.equivalence.rows import Rows
from polyfold.engine.bounds.bounded_domain import Place
from polyfold.engine.method import as_method_takes_it
from polyfold.engine.proof.certify import certify
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, PolyfoldError
from polyfold.program.derive.shared_gates import without_repeats
from polyfold.program.program import Program

Report = Callable[[int], None]


# With so many dimensions, and with more gates than this, there are too many cells to try.
_MANY_DIMENSIONS, _FEW_GATES = 16, 24


def too_many_to_list(first: Program, second: Program, place: Place) -> bool:
    """Whether the cells of two networks together are not even tried."""
    return place.domain.dim > _MANY_DIMENSIONS and first.gates + second.gates > _FEW_GATES


@dataclass(frozen=True)
class CellByCell:
    """The differences, if the cells were found and proved; or what stopped that."""

    by_output: tuple[Difference, ...] | None
    cells: int
    certificate: Certificate | None = None
    stopped_by: str | None = None


def cell_by_cell(
    joint: Program,
    rows: Rows,
    place: Place,
    tolerance: Fraction,
    clock: Clock,
    max_cells: int | None,
    threads: int | None,
    report: Report,
) -> CellByCell:
    """Unfold a program of two networks side by side, certify the atlas, and take the rows of their maps."""
    domain = place.domain
    try:
        program = as_method_takes_it(joint, domain)
        if program.written_out:
            program = without_repeats(program)
        with BaseClock(clock.left, lambda event: report(event.done)):
            atlas = unfold_program(program, domain, max_cells=max_cells, threads=threads)
    except LimitError as error:
        return CellByCell(None, 0, stopped_by=str(error))
    if not atlas.complete:
        if atlas.certificate.stopped_by == "interrupt":
            raise KeyboardInterrupt
        return CellByCell(None, len(atlas), stopped_by=atlas.certificate.stopped_by)
    try:
        certificate = certify(atlas, progress=lambda event: clock.watching(report)(event.done), threads=threads)
        if certificate.level != "certified":
            names = "; ".join(str(check) for check in certificate.failed_checks)
            raise PolyfoldError(f"the cells of both networks could not be proved, please report this: {names}")
        maps = CellMaps(atlas, rows, lambda: clock.watching(report)(len(atlas)))
    except TooLongError:
        return CellByCell(None, len(atlas), stopped_by="max_seconds")
    except LimitError as error:
        return CellByCell(None, len(atlas), stopped_by=str(error))
    if maps.all_zero:
        same = Difference(Fraction(0), Fraction(0))
        return CellByCell((same,) * maps.outputs, len(atlas), certificate)
    extremes = Extremes(maps, place.box, tolerance, clock)
    found = tuple(extremes.of_output(k) for k in range(maps.outputs))
    stopped = None if all(one.exact for one in found) else "max_seconds"
    return CellByCell(found, len(atlas), certificate, stopped)
