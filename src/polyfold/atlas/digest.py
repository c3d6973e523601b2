"""The digest of an atlas's arrays: every field that says something about cells."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

ARRAYS = (
    "patterns",
    "witnesses",
    "bounded",
    "facet_start",
    "facet_wall",
    "neighbour",
    "shared_facet",
    "shared_wall",
)


class HasArrays(Protocol):
    """An atlas, as far as its cells go."""

    @property
    def exact_witnesses(self) -> Mapping[int, tuple[Fraction, ...]]: ...


def arrays_digest(atlas: HasArrays) -> str:
    """SHA-256 over all arrays, their types and shapes, and the exact witnesses; the same on every machine."""
    hasher = hashlib.sha256()
    for name in ARRAYS:
        array: npt.NDArray[Any] = np.ascontiguousarray(getattr(atlas, name))
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        hasher.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        hasher.update(array.data if array.size else b"")
    for cell, numbers in sorted(atlas.exact_witnesses.items()):
        hasher.update(f"{cell}: {', '.join(map(str, numbers))}; ".encode())
    return hasher.hexdigest()
