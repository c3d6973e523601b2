"""The affine maps of cells in floats, with bounds on how far they can be wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyfold.atlas.atlas import Atlas
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rounding import relative
from polyfold.program.passes.jets import sizes_of_terms
from polyfold.program.passes.pulled_back import roundings
from polyfold.program.passes.underflow import underflow


def bounded_maps(atlas: Atlas, cells: npt.NDArray[np.int64]) -> BoundedValues:
    """The maps over the domain's parameters (n, m, d + 1): slopes, and the constant behind them."""
    error = relative(roundings(atlas.program) + 2 * atlas.program.input_dim)
    A, c = atlas.maps(cells, over="parameters")
    size_A, size_c = sizes_of_terms(atlas.program, atlas.domain, atlas.signs(cells))
    sizes = np.concatenate([size_A, size_c[..., None]], axis=2)
    errors = sizes * error + underflow(atlas.program, atlas.domain)
    return BoundedValues(np.concatenate([A, c[..., None]], axis=2), errors)
