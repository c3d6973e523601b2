"""All cells, with the proof that they are all; or how many there are; or why neither."""

from __future__ import annotations

from polyfold.atlas.atlas import Atlas
from polyfold.engine.bounds.formulas import in_short
from polyfold.engine.count import Count, count
from polyfold.engine.proof.certify import certify
from polyfold.engine.unfold import unfold
from polyfold.errors import how_many
from polyfold.reporting.collect.steps import Steps
from polyfold.reporting.subject import Subject
from polyfold.size.bounds import Bounds

# In more dimensions than this the engine is tried only if the bounds promise few cells.
_FEW_DIMENSIONS, _FEW_CELLS = 8, 1_000_000
# The only check of pf.certify that fails for want of time.
_LOOKED_AT = "every cell was looked at"


def collect_cells(
    of: Subject, known: Bounds, steps: Steps, max_cells: int | None, threads: int | None
) -> tuple[Atlas | None, Count | None]:
    """The atlas, whole or as far as a limit let it be, and the number of cells if it is not whole."""
    what = "the list of all cells"
    if of.domain.dim > _FEW_DIMENSIONS and known.upper > _FEW_CELLS:
        steps.leave_out(
            what,
            f"it was not tried, since with {how_many(of.domain.dim, 'input')} there may be {in_short(known.upper)} "
            "of them, and a single one may take longer than the time given",
        )
        return None, None
    atlas = steps.do(
        what,
        lambda: unfold(of.network, of.domain, max_cells=max_cells, max_seconds=steps.seconds(0.4), threads=threads),
    )
    if atlas is None:
        return None, None
    if not steps.complete(atlas):
        stopped = "max_cells" if atlas.certificate.stopped_by == "max_cells" else "the time limit"
        steps.leave_out(what, f"there are more than {how_many(len(atlas), 'cell')}; {stopped} ended the search")
        number = "the number of all cells"
        counted = steps.do(
            number, lambda: count(of.network, of.domain, max_seconds=steps.seconds(0.4), threads=threads)
        )
        if counted is not None and not counted.complete:
            steps.leave_out(number, f"counting came to {counted.cells:,} before the time limit ended it")
        return atlas, counted
    return _proved(atlas, steps, threads), None


def _proved(atlas: Atlas, steps: Steps, threads: int | None) -> Atlas:
    what = "the proof that every cell is right and none is missing"
    found = steps.do(what, lambda: certify(atlas, max_seconds=steps.seconds(0.5), threads=threads))
    if found is None:
        return atlas
    if [check.name for check in found.failed_checks] == [_LOOKED_AT]:
        steps.leave_out(what, found.failed_checks[0].detail)
        return atlas
    return atlas.with_certificate(found)
