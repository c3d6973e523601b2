"""Transformations that leave a network's function the same, and what they leave the same of its weights.

>>> import polyfold as pf
>>> pf.symmetry.Permutation(1, (1, 0)).then(pf.symmetry.Rescaling(1, (2, 2))).inverse()
Composition(steps=(Rescaling(layer=1, factors=(1/2, 1/2)), Permutation(layer=1, order=(1, 0))))
"""

from polyfold.analyses.symmetry.curvature import Flatness, flatness
from polyfold.analyses.symmetry.distances import Distance, distance
from polyfold.analyses.symmetry.free_weights import FreeIncoming, FreeOutgoing
from polyfold.analyses.symmetry.mixing import PositiveMixing
from polyfold.analyses.symmetry.normal_forms import NormalForm, normal_form
from polyfold.analyses.symmetry.path_norms import path_norm
from polyfold.analyses.symmetry.shifting import ShiftOutgoing, shift_everything
from polyfold.analyses.symmetry.transformations import (
    Composition,
    Flip,
    Permutation,
    Rescaling,
    Transformation,
    compose,
    identity,
    random_transformation,
)

__all__ = [
    "Composition",
    "Distance",
    "Flatness",
    "Flip",
    "FreeIncoming",
    "FreeOutgoing",
    "NormalForm",
    "Permutation",
    "PositiveMixing",
    "Rescaling",
    "ShiftOutgoing",
    "Transformation",
    "compose",
    "distance",
    "flatness",
    "identity",
    "normal_form",
    "path_norm",
    "random_transformation",
    "shift_everything",
]
