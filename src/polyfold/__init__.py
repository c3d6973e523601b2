"""polyfold: every linear piece of a ReLU network, exactly and fast.

>>> import numpy as np, polyfold as pf
>>> atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
>>> len(atlas), atlas.certificate.level
(4, 'checked')

What is named here is imported when it is first asked for, so that `import polyfold` takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyfold import symmetry
    from polyfold.atlas.atlas import Atlas
    from polyfold.atlas.cell import Cell
    from polyfold.atlas.certificate import Certificate
    from polyfold.atlas.evidence import Evidence
    from polyfold.atlas.regions import Regions, regions
    from polyfold.atlas.storage import open_atlas as open
    from polyfold.compare.canonical.build import canonical
    from polyfold.compare.canonical.form import Canonical
    from polyfold.compare.equivalence.decide import equivalent
    from polyfold.compare.equivalence.result import Equivalence
    from polyfold.compare.match.match import Match, match
    from polyfold.domain.domain import Domain, box, line, plane, polytope, slice_of
    from polyfold.engine.blocks import Block, unfold_in_blocks
    from polyfold.engine.cells.explore import explore
    from polyfold.engine.cells.local import LocalMaps, local
    from polyfold.engine.cells.of_pattern import PatternMap, map_of
    from polyfold.engine.cells.touching_cells import TouchingCells
    from polyfold.engine.count import Count, count
    from polyfold.engine.proof.certify import certify
    from polyfold.engine.proof.check import check
    from polyfold.engine.resume import resume
    from polyfold.engine.unfold import unfold
    from polyfold.errors import PolyfoldError, UnknownError
    from polyfold.explain.integrated_gradients.integrate import integrated_gradients
    from polyfold.explain.integrated_gradients.result import IntegratedGradients
    from polyfold.explain.shapley.explain import shapley
    from polyfold.explain.shapley.result import LocalShapley, Shapley
    from polyfold.graph.diameter import Diameter, diameter
    from polyfold.graph.dual import DualGraph, dual_graph
    from polyfold.graph.path import path
    from polyfold.graph.route import Route
    from polyfold.layers.build import truncation
    from polyfold.layers.cones import cone_layer
    from polyfold.layers.interpret import Interpretation
    from polyfold.layers.one_map import TruncationMap, truncation_map
    from polyfold.layers.result import Truncation
    from polyfold.maps.clusters import ClusterCurve, ClusteredMaps, cluster_curve, cluster_maps
    from polyfold.maps.dual_space.build import dual_space
    from polyfold.maps.dual_space.jumps import FacetJumps, facet_jumps
    from polyfold.maps.dual_space.result import DualSpace
    from polyfold.maps.matrices import local_maps
    from polyfold.maps.result import MapMatrices
    from polyfold.maps.transfer import (
        Similarity,
        Transfer,
        TransferTable,
        similarity,
        transfer,
        transfer_table,
    )
    from polyfold.network.graph import Network
    from polyfold.network.load import load
    from polyfold.plotting.api import plot
    from polyfold.plotting.film_strip import film_strip
    from polyfold.plotting.movie.movie import Movie, movie
    from polyfold.program.program import Program
    from polyfold.reporting.report import Report, report
    from polyfold.rewrite.reduction.reduce import reduce
    from polyfold.rewrite.reduction.result import Reduction
    from polyfold.rewrite.shallow.build import shallow
    from polyfold.rewrite.shallow.edit import Edit, edit
    from polyfold.rewrite.shallow.from_pieces import from_pieces
    from polyfold.rewrite.shallow.network import Shallow
    from polyfold.rewrite.stability.decide import stability
    from polyfold.rewrite.stability.result import Stability
    from polyfold.rewrite.two_layer.identifiable import Identifiability, identifiable
    from polyfold.rewrite.two_layer.irreducible import Irreducible, irreducible
    from polyfold.separation.clustered import Clustered, clustered
    from polyfold.separation.cone import cone_separable
    from polyfold.separation.interpolation.classifier import Interpolant
    from polyfold.separation.interpolation.clustered import interpolate_clustered
    from polyfold.separation.interpolation.cost import (
        CostBound,
        CostDecomposition,
        barycentric,
        cost_bound,
        cost_decomposition,
    )
    from polyfold.separation.interpolation.interpolate import interpolate
    from polyfold.separation.interpolation.polyhedral import interpolate_cone, interpolate_simplex
    from polyfold.separation.interpolation.sequential import interpolate_sequential
    from polyfold.separation.polyhedral_result import PolyhedralSeparability
    from polyfold.separation.sequence_result import SequentialSeparability
    from polyfold.separation.sequential import sequentially_separable
    from polyfold.separation.simplex import simplex_separable
    from polyfold.size.bounds import Bounds, bounds
    from polyfold.size.estimate import Estimate, estimate
    from polyfold.stats.boxes.build import boxes
    from polyfold.stats.boxes.result import Boxes
    from polyfold.stats.class_areas import ClassAreas, class_areas
    from polyfold.stats.classes import Classes, classes
    from polyfold.stats.decision_boundary import DecisionBoundary, decision_boundary
    from polyfold.stats.extrema import Extremum, maximum, minimum
    from polyfold.stats.facets.build import facet_statistics
    from polyfold.stats.facets.result import FacetStatistics
    from polyfold.stats.lipschitz import Lipschitz, lipschitz
    from polyfold.stats.moments import covariance, integral, mean, variance
    from polyfold.stats.nearest_change import NearestChange, nearest_change
    from polyfold.stats.summarise import Summary, summarise
    from polyfold.topology.betti import betti
    from polyfold.topology.class_sets import boundary_complex, class_region
    from polyfold.topology.critical_points import CriticalPoints, critical_points
    from polyfold.topology.face_complex import FaceComplex, face_complex
    from polyfold.topology.level_sets import level_set, sublevel, superlevel
    from polyfold.topology.persistence import Persistence, persistence
    from polyfold.topology.subcomplex import Components, Subcomplex
    from polyfold.training.boundary_movement import BoundaryMovement, boundary_movement
    from polyfold.training.cell_counts import cell_counts
    from polyfold.training.map_drift import MapDrift, map_drift
    from polyfold.training.recorder import open_recording, record
    from polyfold.training.recording import Recording

__version__ = "0.1.0"

__all__ = [
    "Atlas",
    "Block",
    "BoundaryMovement",
    "Bounds",
    "Boxes",
    "Canonical",
    "Cell",
    "Certificate",
    "ClassAreas",
    "Classes",
    "ClusterCurve",
    "Clustered",
    "ClusteredMaps",
    "Components",
    "CostBound",
    "CostDecomposition",
    "Count",
    "CriticalPoints",
    "DecisionBoundary",
    "Diameter",
    "Domain",
    "DualGraph",
    "DualSpace",
    "Edit",
    "Equivalence",
    "Estimate",
    "Evidence",
    "Extremum",
    "FaceComplex",
    "FacetJumps",
    "FacetStatistics",
    "Identifiability",
    "IntegratedGradients",
    "Interpolant",
    "Interpretation",
    "Irreducible",
    "Lipschitz",
    "LocalMaps",
    "LocalShapley",
    "MapDrift",
    "MapMatrices",
    "Match",
    "Movie",
    "NearestChange",
    "Network",
    "PatternMap",
    "Persistence",
    "PolyfoldError",
    "PolyhedralSeparability",
    "Program",
    "Recording",
    "Reduction",
    "Regions",
    "Report",
    "Route",
    "SequentialSeparability",
    "Shallow",
    "Shapley",
    "Similarity",
    "Stability",
    "Subcomplex",
    "Summary",
    "TouchingCells",
    "Transfer",
    "TransferTable",
    "Truncation",
    "TruncationMap",
    "UnknownError",
    "barycentric",
    "betti",
    "boundary_complex",
    "boundary_movement",
    "bounds",
    "box",
    "boxes",
    "canonical",
    "cell_counts",
    "certify",
    "check",
    "class_areas",
    "class_region",
    "classes",
    "cluster_curve",
    "cluster_maps",
    "clustered",
    "cone_layer",
    "cone_separable",
    "cost_bound",
    "cost_decomposition",
    "count",
    "covariance",
    "critical_points",
    "decision_boundary",
    "diameter",
    "dual_graph",
    "dual_space",
    "edit",
    "equivalent",
    "estimate",
    "explore",
    "face_complex",
    "facet_jumps",
    "facet_statistics",
    "film_strip",
    "from_pieces",
    "identifiable",
    "integral",
    "integrated_gradients",
    "interpolate",
    "interpolate_clustered",
    "interpolate_cone",
    "interpolate_sequential",
    "interpolate_simplex",
    "irreducible",
    "level_set",
    "line",
    "lipschitz",
    "load",
    "local",
    "local_maps",
    "map_drift",
    "map_of",
    "match",
    "maximum",
    "mean",
    "minimum",
    "movie",
    "nearest_change",
    "open",
    "open_recording",
    "path",
    "persistence",
    "plane",
    "plot",
    "polytope",
    "record",
    "reduce",
    "regions",
    "report",
    "resume",
    "sequentially_separable",
    "shallow",
    "shapley",
    "similarity",
    "simplex_separable",
    "slice_of",
    "stability",
    "sublevel",
    "summarise",
    "superlevel",
    "symmetry",
    "transfer",
    "transfer_table",
    "truncation",
    "truncation_map",
    "unfold",
    "unfold_in_blocks",
    "variance",
]

# Which module has which names: the imports above, said to Python. tests/repository/test_import.py compares the two.
_PLACES = {
    "analyses": ("symmetry",),
    "analyses.bounds.bounds": ("Bounds", "bounds"),
    "analyses.bounds.estimate": ("Estimate", "estimate"),
    "analyses.boxes.build": ("boxes",),
    "analyses.boxes.result": ("Boxes",),
    "analyses.canonical.build": ("canonical",),
    "analyses.canonical.form": ("Canonical",),
    "analyses.dual_graph.diameter": ("Diameter", "diameter"),
    "analyses.dual_graph.graph": ("DualGraph", "dual_graph"),
    "analyses.dual_graph.path": ("path",),
    "analyses.dual_graph.route": ("Route",),
    "analyses.dual_space.build": ("dual_space",),
    "analyses.dual_space.jumps": ("FacetJumps", "facet_jumps"),
    "analyses.dual_space.result": ("DualSpace",),
    "analyses.equivalence.decide": ("equivalent",),
    "analyses.equivalence.result": ("Equivalence",),
    "analyses.facet_statistics.build": ("facet_statistics",),
    "analyses.facet_statistics.result": ("FacetStatistics",),
    "analyses.integrated_gradients.integrate": ("integrated_gradients",),
    "analyses.integrated_gradients.result": ("IntegratedGradients",),
    "analyses.interpolation.classifier": ("Interpolant",),
    "analyses.interpolation.clustered": ("interpolate_clustered",),
    "analyses.interpolation.cost": (
        "CostBound",
        "CostDecomposition",
        "barycentric",
        "cost_bound",
        "cost_decomposition",
    ),
    "analyses.interpolation.interpolate": ("interpolate",),
    "analyses.interpolation.polyhedral": ("interpolate_cone", "interpolate_simplex"),
    "analyses.interpolation.sequential": ("interpolate_sequential",),
    "analyses.local": ("LocalMaps", "local"),
    "analyses.local_maps.build": ("local_maps",),
    "analyses.local_maps.clusters": ("ClusterCurve", "ClusteredMaps", "cluster_curve", "cluster_maps"),
    "analyses.local_maps.result": ("MapMatrices",),
    "analyses.local_maps.transfer": (
        "Similarity",
        "Transfer",
        "TransferTable",
        "similarity",
        "transfer",
        "transfer_table",
    ),
    "analyses.map_of": ("PatternMap", "map_of"),
    "analyses.recording.boundary_movement": ("BoundaryMovement", "boundary_movement"),
    "analyses.recording.cell_counts": ("cell_counts",),
    "analyses.recording.map_drift": ("MapDrift", "map_drift"),
    "analyses.recording.recorder": ("open_recording", "record"),
    "analyses.recording.recording": ("Recording",),
    "analyses.reduction.reduce": ("reduce",),
    "analyses.reduction.result": ("Reduction",),
    "analyses.regions": ("Regions", "regions"),
    "analyses.separability.clustered": ("Clustered", "clustered"),
    "analyses.separability.cone": ("cone_separable",),
    "analyses.separability.polyhedral_result": ("PolyhedralSeparability",),
    "analyses.separability.sequence_result": ("SequentialSeparability",),
    "analyses.separability.sequential": ("sequentially_separable",),
    "analyses.separability.simplex": ("simplex_separable",),
    "analyses.shallow.build": ("shallow",),
    "analyses.shallow.edit": ("Edit", "edit"),
    "analyses.shallow.from_pieces": ("from_pieces",),
    "analyses.shallow.network": ("Shallow",),
    "analyses.shapley.explain": ("shapley",),
    "analyses.shapley.result": ("LocalShapley", "Shapley"),
    "analyses.stability.decide": ("stability",),
    "analyses.stability.result": ("Stability",),
    "analyses.statistics.class_areas": ("ClassAreas", "class_areas"),
    "analyses.statistics.classes": ("Classes", "classes"),
    "analyses.statistics.decision_boundary": ("DecisionBoundary", "decision_boundary"),
    "analyses.statistics.extrema": ("Extremum", "maximum", "minimum"),
    "analyses.statistics.lipschitz": ("Lipschitz", "lipschitz"),
    "analyses.statistics.moments": ("covariance", "integral", "mean", "variance"),
    "analyses.statistics.nearest_change": ("NearestChange", "nearest_change"),
    "analyses.summarise": ("Summary", "summarise"),
    "analyses.topology.betti": ("betti",),
    "analyses.topology.class_sets": ("boundary_complex", "class_region"),
    "analyses.topology.critical_points": ("CriticalPoints", "critical_points"),
    "analyses.topology.face_complex": ("FaceComplex", "face_complex"),
    "analyses.topology.level_sets": ("level_set", "sublevel", "superlevel"),
    "analyses.topology.persistence": ("Persistence", "persistence"),
    "analyses.topology.subcomplex": ("Components", "Subcomplex"),
    "analyses.touching_cells": ("TouchingCells",),
    "analyses.truncation.build": ("truncation",),
    "analyses.truncation.cones": ("cone_layer",),
    "analyses.truncation.interpret": ("Interpretation",),
    "analyses.truncation.one_map": ("TruncationMap", "truncation_map"),
    "analyses.truncation.result": ("Truncation",),
    "analyses.two_layer.identifiable": ("Identifiability", "identifiable"),
    "analyses.two_layer.irreducible": ("Irreducible", "irreducible"),
    "analyses.two_layer.match": ("Match", "match"),
    "atlas.atlas": ("Atlas",),
    "atlas.cell": ("Cell",),
    "atlas.certificate": ("Certificate",),
    "atlas.domain": ("Domain", "box", "line", "plane", "polytope", "slice_of"),
    "atlas.evidence": ("Evidence",),
    "atlas.storage": ("open_atlas as open",),
    "engine.blocks": ("Block", "unfold_in_blocks"),
    "engine.certify": ("certify",),
    "engine.check": ("check",),
    "engine.count": ("Count", "count"),
    "engine.explore": ("explore",),
    "engine.resume": ("resume",),
    "engine.unfold": ("unfold",),
    "errors": ("PolyfoldError", "UnknownError"),
    "network.graph": ("Network",),
    "network.load": ("load",),
    "program.program": ("Program",),
    "views.film_strip": ("film_strip",),
    "views.movie": ("Movie", "movie"),
    "views.plot": ("plot",),
    "views.report.report": ("Report", "report"),
}
_MODULE_OF = {
    entry.split(" ")[-1]: (module, entry.split(" ")[0]) for module, names in _PLACES.items() for entry in names
}


if not TYPE_CHECKING:  # or any name would seem to be there to a type checker

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, original = _MODULE_OF[name]
        # As `from module import original`, which imports a module of that name too.
        found = getattr(__import__(f"{__name__}.{module}", fromlist=(original,)), original)
        globals()[name] = found  # so that it is asked for once
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
