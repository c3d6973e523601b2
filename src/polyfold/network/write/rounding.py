"""Weights in another type of floats, for exporters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.errors import NetworkError


def rounded(node: str, values: Array | float, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """The numbers in this type; a number that is too large for it is an error.

    >>> rounded("layer", 0.5, np.dtype(np.float32)).dtype
    dtype('float32')
    """
    array = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        result = array.astype(kind)
    if not np.isfinite(result).all():
        largest = float(np.abs(array).max())
        raise NetworkError(f"node {node!r} holds {largest:.9g}, which is too large for {kind}; export it in float64")
    return result
