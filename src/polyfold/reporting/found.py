"""What a report is written from: results of analyses, and what was left out and why. No text is made here."""

from __future__ import annotations

from dataclasses import dataclass

from polyfold._base.types import Array, Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.regions import Regions
from polyfold.engine.cells.local import LocalMaps
from polyfold.engine.cells.wall_distances import WallDistances
from polyfold.engine.count import Count
from polyfold.explain.shapley.result import Attribution
from polyfold.graph.diameter import Diameter
from polyfold.reporting.figures.class_figures import Border
from polyfold.reporting.figures.class_rules import ClassRule
from polyfold.reporting.figures.fit import Fit
from polyfold.reporting.figures.inventory import Item
from polyfold.reporting.subject import Subject
from polyfold.rewrite.reduction.result import Reduction
from polyfold.size.bounds import Bounds
from polyfold.stats.classes import ClassAreas, Classes
from polyfold.stats.decision_boundary import DecisionBoundary
from polyfold.stats.extrema import Extremum
from polyfold.stats.facets.statistics import FacetStatistics
from polyfold.stats.lipschitz import Lipschitz
from polyfold.stats.nearest_change import NearestChange
from polyfold.stats.summarise import Summary


@dataclass(frozen=True)
class LeftOut:
    """Something that the report does not have, and why."""

    what: str
    why: str


@dataclass(frozen=True, eq=False)
class Whole:
    """What is known if all cells could be listed. What is None is among what was left out, or does not apply."""

    atlas: Atlas
    regions: Regions | None = None
    f_vector: tuple[int, ...] | None = None
    facets: FacetStatistics | None = None
    diameter: Diameter | None = None
    volumes: Array | None = None
    classes: Classes | None = None
    areas: ClassAreas | None = None
    boundary: DecisionBoundary | None = None
    borders: tuple[Border, ...] | None = None
    rules: tuple[ClassRule, ...] | None = None
    region_classes: Flags | None = None
    lowest: tuple[Extremum, ...] | None = None
    highest: tuple[Extremum, ...] | None = None
    mean: Array | None = None
    deviation: Array | None = None
    lipschitz: Lipschitz | None = None
    summary: Summary | None = None


@dataclass(frozen=True, eq=False)
class Cut:
    """A line or plane through the inputs: its atlas, and its classes if there are any.

    `rows` are the rows of the data that it goes through; `features` are the two that vary, if it is parallel to them.
    `regions` are there on a line: the formula changes between two of them and nowhere else.
    """

    atlas: Atlas
    classes: Classes | None
    rows: tuple[int, ...] = ()
    features: tuple[int, int] | None = None
    regions: Regions | None = None


@dataclass(frozen=True, eq=False)
class Around:
    """What is known around rows of the data, whatever the size of the network.

    `rows` are the examples' numbers; `changes` are those of the rows `looked_at`.
    """

    rows: Ids
    looked_at: Ids
    changes: NearestChange | None = None
    shapley: Attribution | None = None
    maps: LocalMaps | None = None
    walls: WallDistances | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """All results. `points` are the rows that stand for the network's inputs: the data, or points drawn at random.

    Those with the numbers `inside` lie in the domain, and only these are looked at closely.
    """

    subject: Subject
    inventory: tuple[Item, ...]
    bounds: Bounds
    atlas: Atlas | None
    count: Count | None
    whole: Whole | None
    points: Array | None
    drawn: bool
    inside: Ids
    fit: Fit | None
    around: Around | None
    line: Cut | None
    plane: Cut | None
    reduction: Reduction | None
    left_out: tuple[LeftOut, ...]
