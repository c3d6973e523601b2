"""The digest of an atlas's arrays: every field that says something about cells.

Few ever look at it, and it takes as long as a good part of the engine's work. So it is worked out when somebody reads
it (`ArraysDigest`), which is as good as at once: nobody can write to these arrays.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Protocol
from weakref import ref

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.clock import running

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

# What else says something about cells.
_BESIDE = ("exact_witnesses", "of_function")

# Bytes of an array that are digested in one piece: a hash is no work for several threads, but several hashes are.
_PIECE = 1 << 20


class HasArrays(Protocol):
    """An atlas, as far as its cells go."""

    @property
    def exact_witnesses(self) -> Mapping[int, tuple[Fraction, ...]]: ...

    @property
    def of_function(self) -> bool: ...


class ArraysDigest:
    """The digest of arrays, worked out when it is first called for. It keeps them until then.

    Certificates and the evidence of answers have it of their atlas, who knows by it that they speak of its arrays.
    """

    def __init__(self, arrays: HasArrays, threads: int) -> None:
        self._arrays: HasArrays | None = arrays
        self._threads = threads
        self._digest = ""

    def __call__(self, threads: int | None = None) -> str:
        arrays = self._arrays
        if arrays is not None:
            self._digest = arrays_digest(arrays, threads or self._threads)
            self._arrays = None
        return self._digest


class SharedArrays:
    """The arrays of an atlas and of all that differ from it in their certificates only. It goes with the last of these.

    An answer that outlives them is not to keep gigabytes: if it has the digest, that is worked out then.
    """

    def __init__(self, atlas: HasArrays, threads: int) -> None:
        self._arrays: Any = SimpleNamespace(**{name: getattr(atlas, name) for name in (*ARRAYS, *_BESIDE)})
        self._threads = threads
        self._digest: Callable[[], ArraysDigest | None] = lambda: None

    @property
    def digest(self) -> ArraysDigest:
        """The same one for all who ask, as long as anybody has it."""
        digest = self._digest()
        if digest is None:
            digest = ArraysDigest(self._arrays, self._threads)
            self._digest = ref(digest)
        return digest

    def __del__(self) -> None:
        digest = self._digest()
        if digest is not None and not sys.is_finalizing():
            # Nothing can be raised from here: the clock notes an interrupt. And this may be the garbage collector's
            # moment, in which to wait for other threads may be to wait for ever.
            with running().noting_interrupts(raising=False):
                digest(threads=1)


def arrays_digest(atlas: HasArrays, threads: int = 1) -> str:
    """SHA-256 over all arrays, their types and shapes, and the exact witnesses; the same on every machine.

    Of an array with more than a million bytes the digests of its pieces are digested, which threads make. Patterns
    of the function's cells mean something else than the same ones of gates.
    """
    arrays = {name: _flat(getattr(atlas, name)) for name in ARRAYS}
    pieces = {name: _pieces(array) for name, array in arrays.items() if array.nbytes > _PIECE}
    digests = iter(_digests([piece for name in pieces for piece in pieces[name]], threads))
    hasher = hashlib.sha256()
    for name, array in arrays.items():
        # All of this tells the bytes apart that follow, so that other arrays never make the same text.
        head = f"{name} {array.dtype.str} {getattr(atlas, name).shape}"
        if name in pieces:
            hasher.update(f"{head} in pieces of {_PIECE} bytes ".encode())
            for _ in pieces[name]:
                hasher.update(next(digests))
        else:
            written = _in_few_bytes(array)
            hasher.update(f"{head} {written.dtype.str} ".encode())
            hasher.update(written.data if written.size else b"")
    for cell, numbers in sorted(atlas.exact_witnesses.items()):
        hasher.update(f"{cell}: {', '.join(map(_in_full, numbers))}; ".encode())
    if atlas.of_function:
        hasher.update(b"cells of the function")
    return hasher.hexdigest()


def _in_full(number: Fraction) -> str:
    """The text that Python has for a fraction; of an integer with more than 4,300 digits it refuses to write any."""
    return str(fmpq(number.numerator, number.denominator))


def _flat(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Its numbers one behind the other, with their lowest bytes first."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.astype(flat.dtype.newbyteorder("<"), copy=False)


def _pieces(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    together = _PIECE // array.itemsize
    return [array[first : first + together] for first in range(0, len(array), together)]


def _digests(pieces: list[npt.NDArray[Any]], threads: int) -> list[bytes]:
    if pieces and threads > 1:
        try:
            with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
                return list(pool.map(_digest, pieces))
        except RuntimeError:  # the system gives no more threads
            pass
    return [_digest(piece) for piece in pieces]


def _digest(piece: npt.NDArray[Any]) -> bytes:
    """SHA-256 of a piece of an array. Neither this nor what comes before it holds the interpreter's lock for long."""
    written = _in_few_bytes(piece)
    hasher = hashlib.sha256(f"{written.dtype.str} ".encode())
    hasher.update(written.data)
    return hasher.digest()


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
