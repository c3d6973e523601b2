from .clustered import Clustered as Clustered, clustered as clustered
from .interpolation.classifier import Interpolant as Interpolant
from .interpolation.cost import (
    CostBound as CostBound,
    CostDecomposition as CostDecomposition,
    barycentric as barycentric,
    cost_bound as cost_bound,
    cost_decomposition as cost_decomposition,
)
from .interpolation.interpolate import interpolate as interpolate
from .polyhedral import PolyhedralSeparability as PolyhedralSeparability, cone as cone, simplex as simplex
from .sequential import SequentialSeparability as SequentialSeparability, sequential as sequential
