"""polyfold: every linear piece of a ReLU network, exactly and fast.

>>> import numpy as np, polyfold as pf
>>> atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
>>> len(atlas), atlas.certificate.level
(4, 'checked')
"""

from __future__ import annotations

from polyfold.analyses.local import LocalMaps, local
from polyfold.analyses.map_of import PatternMap, map_of
from polyfold.analyses.regions import Regions, regions
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.cell import Cell
from polyfold.atlas.certificate import Certificate
from polyfold.atlas.domain import Domain, box, line, plane, polytope, slice_of
from polyfold.atlas.storage import open_atlas as open
from polyfold.engine.certify import certify
from polyfold.engine.check import check
from polyfold.engine.count import Count, count
from polyfold.engine.explore import explore
from polyfold.engine.resume import resume
from polyfold.engine.unfold import unfold
from polyfold.errors import PolyfoldError
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.program.program import Program

__version__ = "0.1.0"

__all__ = [
    "Atlas",
    "Cell",
    "Certificate",
    "Count",
    "Domain",
    "LocalMaps",
    "Network",
    "PatternMap",
    "PolyfoldError",
    "Program",
    "Regions",
    "box",
    "certify",
    "check",
    "count",
    "explore",
    "line",
    "load",
    "local",
    "map_of",
    "open",
    "plane",
    "polytope",
    "regions",
    "resume",
    "slice_of",
    "unfold",
]
