"""Patterns as bytes: packing, looking up, ordering.

Gate g is bit g % 8 (lowest first) of byte g // 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Packed = npt.NDArray[np.uint8]


def pack(signs: npt.NDArray[np.bool_]) -> Packed:
    """Bit-packed rows of a boolean matrix (cells, gates).

    >>> pack(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    rows, gates = signs.shape
    bytes_ = (gates + 7) // 8
    # NumPy packs one long row several times as fast as many short ones.
    whole = np.zeros((rows, 8 * bytes_), dtype=bool)
    whole[:, :gates] = signs
    return np.packbits(whole.reshape(-1), bitorder="little").reshape(rows, bytes_)


def unpack(patterns: Packed, gates: int) -> npt.NDArray[np.bool_]:
    """The boolean matrix behind packed rows.

    >>> unpack(np.array([[5]], dtype=np.uint8), 3).tolist()
    [[True, False, True]]
    """
    return np.unpackbits(patterns, axis=1, count=gates, bitorder="little").view(np.bool_)


def pattern_texts(patterns: Packed, gates: int) -> list[str]:
    """Patterns as texts of 0 and 1, gate by gate.

    >>> pattern_texts(np.array([[5]], dtype=np.uint8), 3)
    ['101']
    """
    text = (unpack(patterns, gates).view(np.uint8) + np.uint8(ord("0"))).tobytes().decode("ascii")
    return (
        [text[first : first + gates] for first in range(0, gates * len(patterns), gates)]
        if gates
        else [""] * len(patterns)
    )


def order_by_gate(patterns: Packed) -> npt.NDArray[np.int64]:
    """The order that sorts patterns by gate 0, then gate 1, and so on; off comes before on."""
    mirrored = np.packbits(np.unpackbits(patterns, axis=1, bitorder="little"), axis=1)
    return np.argsort(_as_keys(mirrored), kind="stable")


class PatternIndex:
    """From patterns to cell ids, by binary search."""

    def __init__(self, patterns: Packed) -> None:
        keys = _as_keys(patterns)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    @property
    def repeated(self) -> int:
        """How many patterns have been listed before."""
        return int((self._keys[1:] == self._keys[:-1]).sum())

    def find(self, patterns: Packed) -> npt.NDArray[np.int64]:
        """The cell of each pattern, or -1."""
        if len(self._keys) == 0:
            return np.full(len(patterns), -1, dtype=np.int64)
        keys = _as_keys(patterns)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._order[at], -1)


def _as_keys(patterns: Packed) -> npt.NDArray[Any]:
    # Fixed-width byte strings compare like the rows they stand for; a leading 1 keeps NumPy from dropping trailing
    # zeros.
    rows = np.concatenate([patterns, np.ones((len(patterns), 1), dtype=np.uint8)], axis=1)
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel()
