"""What can be asked once all cells are known."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.atlas import Atlas
from polyfold.engine.regions import regions
from polyfold.graph.diameter import diameter
from polyfold.reporting.collect.steps import Steps
from polyfold.reporting.figures.class_figures import borders, region_classes
from polyfold.reporting.figures.class_rules import class_rules
from polyfold.reporting.found import Whole
from polyfold.reporting.subject import Subject
from polyfold.stats.classes import class_areas, classes
from polyfold.stats.decision_boundary import decision_boundary
from polyfold.stats.extrema import maximum, minimum
from polyfold.stats.facets.statistics import facets as facet_statistics
from polyfold.stats.lipschitz import lipschitz
from polyfold.stats.moments import mean, variance
from polyfold.stats.summarise import summarise

# Vertices, volumes and faces cost about 3^d a cell; with more in all than this they are left out.
_MOST_FACES = 2_000_000
# With more outputs than this only the first ones' extrema are found.
MOST_OUTPUTS = 12


def collect_whole(of: Subject, atlas: Atlas, steps: Steps) -> Whole:
    """Every question about the whole domain; one that cannot be answered is left out with its reason."""
    few = len(atlas) * 3.0**atlas.dim <= _MOST_FACES
    bounded = bool(atlas.bounded.all())
    if not few:
        steps.leave_out(
            "faces, volumes, means, areas and lengths",
            f"{len(atlas):,} cells in {atlas.dim} dimensions have too many corners for a report",
        )
    elif not bounded:
        steps.leave_out(
            "volumes and means" if of.classes is None else "volumes, means, and how much room each class has",
            "the domain has no end in some direction; give a box to have them",
        )
    merged = steps.do("linear regions", lambda: regions(atlas))
    outputs = range(min(atlas.outputs, MOST_OUTPUTS))
    if atlas.outputs > MOST_OUTPUTS:
        steps.leave_out(
            "extreme values of all outputs", f"there are {atlas.outputs}; the first {MOST_OUTPUTS} are there"
        )
    parts = None if of.classes is None else steps.do("classes", lambda: classes(atlas, max_seconds=steps.seconds(0.3)))
    boundary = None if parts is None or not few else steps.do("the decision boundary", lambda: decision_boundary(parts))
    measured = few and bounded
    rules = None
    if parts is not None and of.X is not None and of.sides is not None and measured:
        X, (lo, hi) = of.X, of.sides
        rules = steps.do("rules for classes", lambda: class_rules(parts, lo, hi, X, max_seconds=steps.seconds(0.2)))
    data = of.X
    moments = steps.do("means", lambda: (mean(atlas).value, np.sqrt(variance(atlas).value))) if measured else None
    return Whole(
        atlas,
        merged,
        steps.do("faces", atlas.f_vector) if few else None,
        steps.do("facets", lambda: facet_statistics(atlas)),
        steps.do("the dual graph", lambda: diameter(atlas, max_seconds=steps.seconds(0.2))),
        steps.do("volumes", atlas.volumes) if measured else None,
        parts,
        steps.do("class areas", lambda: class_areas(parts)) if parts is not None and measured else None,
        boundary,
        steps.do("lengths of the decision boundary", lambda: borders(boundary)) if boundary is not None else None,
        rules,
        None if parts is None or merged is None else region_classes(merged, parts),
        steps.do(
            "smallest outputs",
            lambda: tuple(minimum(atlas, output=k, max_seconds=steps.seconds(0.1)) for k in outputs),
        ),
        steps.do(
            "largest outputs",
            lambda: tuple(maximum(atlas, output=k, max_seconds=steps.seconds(0.1)) for k in outputs),
        ),
        None if moments is None else moments[0],
        None if moments is None else moments[1],
        steps.do("the Lipschitz constant", lambda: lipschitz(atlas)),
        None
        if data is None or merged is None
        else steps.do(
            "regions with data",
            lambda: summarise(
                merged,
                data,
                None if of.labels is None or of.classes is None else [of.classes[k] for k in of.labels],
                feature_names=of.features,
                output_names=of.outputs,
                outside="ignore",
            ),
        ),
    )
