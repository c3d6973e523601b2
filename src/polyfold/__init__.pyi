from . import (
    atlas as atlas,
    compare as compare,
    datasets as datasets,
    domain as domain,
    engine as engine,
    errors as errors,
    explain as explain,
    graph as graph,
    layers as layers,
    maps as maps,
    network as network,
    program as program,
    reporting as reporting,
    rewrite as rewrite,
    separation as separation,
    size as size,
    stats as stats,
    symmetry as symmetry,
    testing as testing,
    topology as topology,
    training as training,
)
from .atlas.atlas import Atlas as Atlas
from .atlas.cell import Cell as Cell
from .atlas.certificate import Certificate as Certificate
from .atlas.storage import open as open
from .compare.equivalence.decide import equivalent as equivalent
from .domain.domain import (
    Domain as Domain,
    box as box,
    line as line,
    plane as plane,
    polytope as polytope,
    slice_of as slice_of,
)
from .engine.blocks import unfold_in_blocks as unfold_in_blocks
from .engine.cells.explore import explore as explore
from .engine.cells.local import local as local
from .engine.count import count as count
from .engine.proof.certify import certify as certify
from .engine.proof.check import check as check
from .engine.regions import regions as regions
from .engine.resume import resume as resume
from .engine.unfold import unfold as unfold
from .errors import PolyfoldError as PolyfoldError
from .network.graph import Network as Network
from .network.load import load as load
from .plotting.api import plot as plot
from .reporting.report import report as report
from .rewrite.reduction.reduce import reduce as reduce
from .stats.summarise import summarise as summarise

__version__: str
