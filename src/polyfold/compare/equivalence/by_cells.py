"""Two networks compared cell by cell: all cells of both together, and the exact difference on each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyfold._base.clock import OutOfTimeError, tick
from polyfold.atlas.certificate import Certificate
from polyfold.compare.equivalence.cell_differences import CellMaps
from polyfold.compare.equivalence.extremes import Extremes
from polyfold.compare.equivalence.result import Difference
from polyfold.compare.equivalence.rows import Rows
from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.engine.method import as_method_takes_it
from polyfold.engine.proof.certify import certify
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, PolyfoldError
from polyfold.program.derive.shared_gates import without_repeats
from polyfold.program.program import Program

# With so many dimensions, and with more gates than this, there are too many cells to try.
_MANY_DIMENSIONS, _FEW_GATES = 16, 24


def too_many_to_list(first: Program, second: Program, place: BoundedDomain) -> bool:
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
    place: BoundedDomain,
    tolerance: Fraction,
    max_cells: int | None,
    threads: int | None,
) -> CellByCell:
    """Unfold a program of two networks side by side, certify the atlas, and take the rows of their maps.

    All in the time that the running clock leaves.
    """
    domain = place.domain
    try:
        program = as_method_takes_it(joint, domain)
        if program.written_out:
            program = without_repeats(program)
        atlas = unfold_program(program, domain, max_cells=max_cells, threads=threads)
        if atlas.certificate.stopped_by == "interrupt":
            raise KeyboardInterrupt
        if not atlas.complete:
            return CellByCell(None, len(atlas), stopped_by=atlas.certificate.stopped_by)
        certificate = certify(atlas, threads=threads)
        tick()
        if certificate.level != "certified":
            names = "; ".join(str(check) for check in certificate.failed_checks)
            raise PolyfoldError(f"the cells of both networks could not be proved, please report this: {names}")
        maps = CellMaps(atlas, rows)
    except OutOfTimeError as error:
        return CellByCell(None, 0, stopped_by=error.stopped_by)
    except LimitError as error:
        return CellByCell(None, 0, stopped_by=str(error))
    if maps.all_zero:
        same = Difference(Fraction(0), Fraction(0))
        return CellByCell((same,) * maps.outputs, len(atlas), certificate)
    found = [Difference(Fraction(0), float("inf"))] * maps.outputs
    try:
        extremes = Extremes(maps, place.box, tolerance)
        for k in range(maps.outputs):
            found[k] = extremes.of_output(k)
    except OutOfTimeError:
        pass  # what was found so far holds
    stopped = None if all(one.exact for one in found) else "max_seconds"
    return CellByCell(tuple(found), len(atlas), certificate, stopped)
