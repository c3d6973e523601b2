"""Sampling and bisecting: walk along a line, and where the pattern changes between two samples, halve the way between.

What everybody writes first. Cells that lie between two samples of one pattern are missed, and a place where two gates
switch at once cannot be told from two places that are too near to each other. All points of a round are evaluated as
one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Patterns = npt.NDArray[np.uint8]
Evaluate = Callable[[Floats], Patterns]  # packed patterns at rows of parameters

BATCH = 512


@dataclass(frozen=True)
class Sampled:
    """Distinct patterns that were met, places where they change, and how many points that took."""

    cells: int
    breakpoints: int
    points: int


def sample_line(evaluate: Evaluate, start: Floats, end: Floats, samples: int, resolution: float) -> Sampled:
    """The cells on a segment of the parameters; every change of pattern is followed down to the resolution."""
    t = np.linspace(0.0, 1.0, samples)
    at = _in_batches(evaluate, start + t[:, None] * (end - start))
    seen = {row.tobytes() for row in at}
    points = samples
    low, high, low_at, high_at = t[:-1], t[1:], at[:-1], at[1:]
    changes = (low_at != high_at).any(axis=1)
    low, high, low_at, high_at = low[changes], high[changes], low_at[changes], high_at[changes]
    while len(low) and float((high - low).max()) > resolution:
        middle = (low + high) / 2
        middle_at = _in_batches(evaluate, start + middle[:, None] * (end - start))
        points += len(middle)
        seen.update(row.tobytes() for row in middle_at)
        left, right = (low_at != middle_at).any(axis=1), (middle_at != high_at).any(axis=1)
        low, high = np.concatenate([low[left], middle[right]]), np.concatenate([middle[left], high[right]])
        low_at, high_at = (
            np.concatenate([low_at[left], middle_at[right]]),
            np.concatenate([middle_at[left], high_at[right]]),
        )
    return Sampled(len(seen), len(low), points)


def sample_plane(evaluate: Evaluate, extent: float, lines: int, samples: int, resolution: float) -> Sampled:
    """The cells on a square of the parameters that so many parallel lines meet."""
    seen: set[bytes] = set()

    def noted(U: Floats) -> Patterns:
        patterns = evaluate(U)
        seen.update(row.tobytes() for row in patterns)
        return patterns

    found = [
        sample_line(noted, np.array([0.0, v]), np.array([extent, v]), samples, resolution)
        for v in np.linspace(0.0, extent, lines)
    ]
    return Sampled(len(seen), sum(each.breakpoints for each in found), sum(each.points for each in found))


def _in_batches(evaluate: Evaluate, U: Floats) -> Patterns:
    return np.concatenate([evaluate(U[first : first + BATCH]) for first in range(0, len(U), BATCH)])
