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

    @property
    def of_function(self) -> bool: ...


def arrays_digest(atlas: HasArrays) -> str:
    """SHA-256 over all arrays, their types and shapes, and the exact witnesses; the same on every machine.

    Patterns of the function's cells mean something else than the same ones of gates.
    """
    hasher = hashlib.sha256()
    for name in ARRAYS:
        array: npt.NDArray[Any] = np.ascontiguousarray(getattr(atlas, name))
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        written = _in_few_bytes(array)
        # All of this tells the bytes apart that follow, so that other arrays never make the same text.
        hasher.update(f"{name} {array.dtype.str} {array.shape} {written.dtype.str} ".encode())
        hasher.update(written.data if written.size else b"")
    for cell, numbers in sorted(atlas.exact_witnesses.items()):
        hasher.update(f"{cell}: {', '.join(map(str, numbers))}; ".encode())
    if atlas.of_function:
        hasher.update(b"cells of the function")
    return hasher.hexdigest()


def _in_few_bytes(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers; integers in the narrowest type that holds all of them, because a hash takes its time a byte.

    Numbers of walls and cells are far from the ends of their types. What is left is about 60 % of an atlas.

    >>> [_in_few_bytes(np.array([-1, most])).itemsize for most in (127, 128)]
    [1, 2]
    """
    if array.dtype.kind != "i" or not array.size:
        return array
    # ~n is negative and needs as many bits as n does.
    narrow = np.min_scalar_type(min(int(array.min()), ~int(array.max())))
    return array.astype(narrow.newbyteorder("<"), copy=False)
