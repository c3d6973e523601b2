from .clusters import (
    ClusterCurve as ClusterCurve,
    ClusteredMaps as ClusteredMaps,
    cluster as cluster,
    cluster_curve as cluster_curve,
)
from .dual_space.build import dual_space as dual_space
from .dual_space.jumps import FacetJumps as FacetJumps, facet_jumps as facet_jumps
from .dual_space.result import DualSpace as DualSpace
from .matrices import matrices as matrices
from .result import MapMatrices as MapMatrices
from .transfer import (
    Similarity as Similarity,
    Transfer as Transfer,
    TransferTable as TransferTable,
    similarity as similarity,
    transfer as transfer,
    transfer_table as transfer_table,
)
from polyfold.engine.cells.local import LocalMaps as LocalMaps
from polyfold.engine.cells.of_pattern import PatternMap as PatternMap, of_pattern as of_pattern
from polyfold.engine.cells.touching_cells import TouchingCells as TouchingCells
