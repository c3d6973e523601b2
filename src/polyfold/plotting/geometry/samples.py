"""Inputs beside the cells of an atlas that may be a slice: which cells they are in, and where they are drawn."""

from __future__ import annotations

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.patterns import pack
from polyfold.domain.domain import Domain
from polyfold.exact.bounded_values import exact_values
from polyfold.program.passes.bounded import bounded_forward


def cells_of_inputs(atlas: Atlas, inputs: Array) -> Ids:
    """The cell of every input (n, inputs), or -1.

    Inputs do not lie on a slice. There an input belongs to a cell if its gates are on and off as the cell's are: it is
    in the same linear piece of the network. Where floats cannot prove its gates' signs, it belongs to none.

    >>> import polyfold as pf
    >>> corner = pf.unfold([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])], pf.line([-1, 2], [1, 2]))
    >>> cells_of_inputs(corner, np.array([[-3.0, 1.0], [3.0, 1.0], [3.0, -1.0]])).tolist()
    [0, 1, -1]
    """
    if not atlas.domain.is_slice:
        return atlas.locate(inputs, outside="ignore")
    with np.errstate(over="ignore", invalid="ignore"):
        passed = bounded_forward(atlas.program, exact_values(inputs))
    return np.where(passed.certain.all(axis=1), atlas.index.find(pack(passed.pattern)), -1)


def in_parameters(domain: Domain, inputs: Array) -> Array:
    """The parameters of the points of a slice that are nearest to inputs; the inputs themselves without a slice.

    >>> import polyfold as pf
    >>> in_parameters(pf.line([0, 0], [2, 0]).resolve(2), np.array([[1.0, 7.0]])).tolist()
    [[0.5]]
    """
    if not domain.is_slice:
        return inputs
    nearest = np.linalg.lstsq(np.array(domain.basis), (inputs - domain.origin).T, rcond=None)[0].T
    return nearest.astype(np.float64)
