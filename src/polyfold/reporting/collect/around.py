"""What can be asked of single inputs and of cuts through the data, however large the network is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import Box, Slice, line, plane, slice_of
from polyfold.engine.cells.local import local
from polyfold.engine.regions import regions
from polyfold.engine.unfold import unfold
from polyfold.explain.shapley.explain import shapley
from polyfold.explain.shapley.result import Attribution
from polyfold.reporting.collect.steps import Steps
from polyfold.reporting.figures.cuts import corners_of_a_triangle, ends_of_a_line
from polyfold.reporting.figures.data import columns, examples, most_telling
from polyfold.reporting.found import Around, Cut, Whole
from polyfold.reporting.phrases import point_word
from polyfold.reporting.subject import Subject
from polyfold.stats.classes import classes
from polyfold.stats.nearest_change import nearest_change

# So many rows are looked at closely; so many are looked through for those nearest to another class.
_EXAMPLES, _LOOKED_THROUGH = 6, 300
# With more inputs than this two features alone tell little, and a cut goes through three rows instead.
_FEW_FEATURES = 30
# Sums over all coalitions of so many features, against so many points, take no time.
_SUMMED_FEATURES, _BACKGROUND = 10, 100
_MOST_CELLS = 50_000


def collect_around(of: Subject, whole: Whole | None, points: Array, answers: Ids, inside: Ids, steps: Steps) -> Around:
    """Single rows in the domain: how far another class or another map is, and what each feature adds."""
    parts, thing = None if whole is None else whole.classes, point_word(of.X is None)
    changes, rows, first = None, inside[examples(answers[inside], None, _EXAMPLES)], inside[:_LOOKED_THROUGH]
    if parts is not None:
        changes = steps.do(f"how far {thing}s are from another class", lambda: nearest_change(parts, points[first]))
        if changes is not None:
            rows = first[examples(answers[first], changes.distance, _EXAMPLES)]
    explained = None
    if of.X is not None:
        explained = steps.do("what each feature adds", lambda: _explained(of, points[rows], points[inside]))
    maps = steps.do(
        f"affine maps around {thing}s", lambda: local(of.program, points[rows], max_seconds=steps.seconds(0.3))
    )
    walls = None
    if maps is not None:
        walls = steps.do("distances to walls", lambda: maps.wall_distances(max_seconds=steps.seconds(0.2)))
    return Around(rows, first, changes, explained, maps, walls)


def _explained(of: Subject, rows: Array, background: Array) -> Attribution:
    """SHAP values where the full sum is short; with many features those of the local models."""
    if of.network.input_dim <= _SUMMED_FEATURES:
        background = background[:_BACKGROUND]
        return shapley(of.network, rows, background=background, feature_names=of.features)
    return shapley(of.network, rows, background=background, scope="cell", empty="all", feature_names=of.features)


def collect_line(of: Subject, points: Array, answers: Ids, inside: Ids, steps: Steps) -> Cut | None:
    """The way from one row in the domain to another, of different classes if there are such."""
    what = f"the way between two {point_word(of.X is None)}s"
    ends = ends_of_a_line(points[inside], answers[inside])
    if ends is None:
        steps.leave_out(what, "there are no two different ones in the domain")
        return None
    one, other = inside[list(ends)].tolist()
    cut = _cut(of, line(points[one], points[other]), what, (one, other), None, steps)
    if cut is None:
        return None
    return replace(cut, regions=steps.do("how often the formula changes on the way", lambda: regions(cut.atlas)))


def collect_plane(of: Subject, points: Array, answers: Ids, inside: Ids, steps: Steps) -> Cut | None:
    """Two features with the others at their medians; with very many features the plane through three rows."""
    what = "a slice through the data" if of.X is not None else "a slice through the points"
    points, answers = points[inside], answers[inside]
    if of.network.input_dim <= _FEW_FEATURES and of.X is not None:
        chosen = steps.do("the features that matter most", lambda: most_telling(of.program, points[:_LOOKED_THROUGH]))
        if chosen is not None:
            return _cut(of, _feature_plane(of, points, chosen), what, (), chosen, steps)
    corners = corners_of_a_triangle(points, answers)
    if corners is None:
        steps.leave_out(what, f"no three of the {point_word(of.X is None)}s in the domain span a plane")
        return None
    through = plane(*(points[row] for row in corners), extend=(-0.25, 1.25))
    return _cut(of, through, what, tuple(inside[list(corners)].tolist()), None, steps)


def _feature_plane(of: Subject, points: Array, chosen: tuple[int, int]) -> Slice:
    """The plane along two features, through the medians of the others, as far as the domain or the data go."""
    ranges = columns(points)
    pair = list(chosen)
    origin = ranges.median.copy()
    origin[pair] = 0.0
    basis = np.zeros((len(origin), 2))
    basis[pair, [0, 1]] = 1.0
    lo, hi = (ranges.least, ranges.greatest) if not of.bounded or of.sides is None else of.sides
    flat = hi[pair] <= lo[pair]
    return slice_of(origin, basis, bounds=Box(lo[pair] - flat, hi[pair] + flat))


def _cut(
    of: Subject, where: Slice, what: str, rows: tuple[int, ...], features: tuple[int, int] | None, steps: Steps
) -> Cut | None:
    def work() -> Atlas:
        return unfold(of.network, where, max_cells=_MOST_CELLS, max_seconds=steps.seconds(0.4))

    atlas = steps.do(what, work)
    if atlas is None:
        return None
    if not steps.complete(atlas):
        steps.leave_out(what, f"it has more than {len(atlas):,} cells; {atlas.certificate.stopped_by} ended the search")
        return None
    parts = None
    if of.classes is not None:
        parts = steps.do(f"classes on {what}", lambda: classes(atlas, max_seconds=steps.seconds(0.3)))
    return Cut(atlas, parts, rows, features)
