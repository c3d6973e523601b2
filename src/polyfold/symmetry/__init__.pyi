from .curvature import Flatness as Flatness, flatness as flatness
from .distances import Distance as Distance, distance as distance
from .free_weights import FreeIncoming as FreeIncoming, FreeOutgoing as FreeOutgoing
from .mixing import PositiveMixing as PositiveMixing
from .normal_forms import NormalForm as NormalForm, normal_form as normal_form
from .path_norms import PathNorm as PathNorm, path_norm as path_norm
from .shifting import ShiftOutgoing as ShiftOutgoing, shift_everything as shift_everything
from .transformations import (
    Composition as Composition,
    Flip as Flip,
    Permutation as Permutation,
    Rescaling as Rescaling,
    Transformation as Transformation,
    compose as compose,
    identity as identity,
    random_transformation as random_transformation,
)
