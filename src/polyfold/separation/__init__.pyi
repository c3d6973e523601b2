from .clustered import Clustered as Clustered, clustered as clustered
from .cone import cone as cone
from .interpolation.classifier import Interpolant as Interpolant
from .interpolation.clustered import interpolate_clustered as interpolate_clustered
from .interpolation.cost import (
    CostBound as CostBound,
    CostDecomposition as CostDecomposition,
    barycentric as barycentric,
    cost_bound as cost_bound,
    cost_decomposition as cost_decomposition,
)
from .interpolation.interpolate import interpolate as interpolate
from .interpolation.polyhedral import interpolate_cone as interpolate_cone, interpolate_simplex as interpolate_simplex
from .interpolation.sequential import interpolate_sequential as interpolate_sequential
from .polyhedral_result import PolyhedralSeparability as PolyhedralSeparability
from .sequence_result import SequentialSeparability as SequentialSeparability
from .sequential import sequential as sequential
from .simplex import simplex as simplex
