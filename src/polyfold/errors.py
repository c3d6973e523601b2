"""Everything that can go wrong because of what the user gave us.

Each error quotes the input, names the place and says what to do. The command line turns any of them into one
line on standard error and exit code 2; anything else that escapes is a bug of ours.
"""

from __future__ import annotations

__all__ = [
    "ContradictionError",
    "DataError",
    "DomainError",
    "LimitError",
    "NetworkError",
    "PolyfoldError",
    "ShapeError",
    "StorageError",
    "UnknownError",
    "UnsupportedOpError",
]


def how_many(count: int, thing: str) -> str:
    """A number with its noun, for messages and summaries.

    >>> how_many(1, "row"), how_many(1200, "cell")
    ('1 row', '1,200 cells')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


class PolyfoldError(Exception):
    """Base class of every error that polyfold raises on purpose."""


class NetworkError(PolyfoldError):
    """What was given is no usable network: an unreadable file, NaN weights, layers that do not fit."""


class UnsupportedOpError(NetworkError):
    """A node of the network is not continuous piecewise linear, or is not supported yet."""


class ShapeError(PolyfoldError):
    """An array has the wrong shape or contains NaN where numbers are needed."""


class DomainError(PolyfoldError):
    """The domain is empty, inverted, flat, or of another dimension than the network's input."""


class LimitError(PolyfoldError):
    """The job is larger than a limit that was set, and no partial answer makes sense."""


class UnknownError(PolyfoldError):
    """A truth value was asked for of what is not known, or of what is no yes or no."""


class StorageError(PolyfoldError):
    """A file cannot be written, or a saved atlas cannot be read."""


class DataError(PolyfoldError):
    """Labelled data that nothing can be made of: labels that contradict each other, one class only, or data that a
    construction does not apply to."""


class ContradictionError(PolyfoldError):
    """Cells that are listed are none of the network's, or the library contradicts itself. Nothing is returned; where
    nobody changed the atlas by hand, it is a fault of ours and worth a report."""
