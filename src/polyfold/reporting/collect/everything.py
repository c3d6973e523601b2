"""The whole collection, in the order of the report."""

from __future__ import annotations

import numpy as np

from polyfold._base.clock import unwatched
from polyfold._base.types import Array
from polyfold.reporting.collect.around import collect_around, collect_line, collect_plane
from polyfold.reporting.collect.cells import collect_cells
from polyfold.reporting.collect.steps import Steps
from polyfold.reporting.collect.whole import collect_whole
from polyfold.reporting.figures.fit import fit
from polyfold.reporting.figures.inventory import inventory
from polyfold.reporting.found import Found
from polyfold.reporting.subject import Subject
from polyfold.rewrite.reduction.reduce import reduce
from polyfold.rewrite.reduction.result import Reduction
from polyfold.size.bounds import bounds

# So many points stand in for data where there are none.
_DRAWN = 3
_PLANE = 2
# Weights become rationals, at about this rate; that cannot be interrupted.
_WEIGHTS_A_SECOND = 20_000


def collect(of: Subject, *, max_cells: int | None, threads: int | None) -> Found:
    """Everything there is to report, in the time that the running clock leaves."""
    steps = Steps()
    # A page is written in any case, and says at least this much.
    with unwatched():
        known = bounds(of.network, of.domain)
    atlas, counted = collect_cells(of, known, steps, max_cells, threads)
    whole = None
    if atlas is not None and atlas.complete:
        whole = collect_whole(of, atlas, steps)
        with unwatched():
            known = bounds(atlas)
    points, drawn = _points(of, steps)
    fitted = around = line = plane = None
    inside = np.zeros(0, dtype=np.int64)
    if points is not None:
        inside = of.inside(points)
        fitted = fit(of.network, points, classes=of.classes is not None, labels=of.labels, targets=of.targets)
        answers = np.zeros(len(points), dtype=np.int64) if fitted.answers is None else fitted.answers
        if len(inside):
            around = collect_around(of, whole, points, answers, inside, steps)
            inputs = of.network.input_dim
            line = collect_line(of, points, answers, inside, steps) if inputs > 1 else None
            plane = collect_plane(of, points, answers, inside, steps) if inputs > _PLANE else None
        else:
            steps.leave_out(
                "what the network does around data points and between them",
                "no data point lies in the domain",
            )
    parts = inventory(of.network)
    return Found(
        of,
        parts,
        known,
        atlas,
        counted,
        whole,
        points,
        drawn,
        inside,
        fitted,
        around,
        line,
        plane,
        _smaller(of, sum(item.weights for item in parts), steps),
        tuple(steps.left_out),
    )


def _smaller(of: Subject, weights: int, steps: Steps) -> Reduction | None:
    what = "the search for neurons that the network can do without"
    left, least = steps.seconds(1.0), weights / _WEIGHTS_A_SECOND
    if left is not None and left < least:
        steps.leave_out(what, f"with {weights:,} weights it takes {least:.1f} s or more, and less was left")
        return None
    return steps.do(what, lambda: reduce(of.network, of.domain, max_seconds=steps.seconds(0.5)))


def _points(of: Subject, steps: Steps) -> tuple[Array | None, bool]:
    """Rows to look at: the data; where a picture needs a cut through many inputs, points drawn from the box instead."""
    if of.X is not None:
        return of.X, False
    if of.bounded and of.sides is not None and of.network.input_dim > _PLANE:
        lo, hi = of.sides
        return np.random.default_rng(0).uniform(lo, hi, size=(_DRAWN, len(lo))), True
    steps.leave_out("what the network does with data", "no data were given: X in Python, --data X.csv elsewhere")
    return None, False
