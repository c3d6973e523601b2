"""The affine maps of cells in floats, with bounds on how far they can be wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.jets import sizes_of_terms
from polyfold.atlas.maps import roundings
from polyfold.atlas.underflow import underflow
from polyfold.exact.bounded import BoundedValues
from polyfold.exact.rounding import relative


def bounded_maps(atlas: Atlas, cells: npt.NDArray[np.int64]) -> BoundedValues:
    """The maps over the domain's parameters (n, m, d + 1): slopes, and the constant behind them."""
    error = relative(roundings(atlas.program) + 2 * atlas.program.input_dim)
    A, c = atlas.maps(cells, over="parameters")
    size_A, size_c = sizes_of_terms(atlas, cells)
    sizes = np.concatenate([size_A, size_c[..., None]], axis=2)
    errors = sizes * error + underflow(atlas.program, atlas.domain)
    return BoundedValues(np.concatenate([A, c[..., None]], axis=2), errors)
