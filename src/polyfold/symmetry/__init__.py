"""Transformations that leave a network's function the same, and what they leave the same of its weights.

>>> import polyfold as pf
>>> pf.symmetry.Permutation(1, (1, 0)).then(pf.symmetry.Rescaling(1, (2, 2))).inverse()
Composition(steps=(Rescaling(layer=1, factors=(1/2, 1/2)), Permutation(layer=1, order=(1, 0))))
"""

from polyfold.symmetry.curvature import Flatness, flatness
from polyfold.symmetry.distances import Distance, distance
from polyfold.symmetry.free_weights import FreeIncoming, FreeOutgoing
from polyfold.symmetry.mixing import PositiveMixing
from polyfold.symmetry.normal_forms import NormalForm, normal_form
from polyfold.symmetry.path_norms import path_norm
from polyfold.symmetry.shifting import ShiftOutgoing, shift_everything
from polyfold.symmetry.transformations import (
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
