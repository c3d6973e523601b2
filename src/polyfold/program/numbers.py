"""Real numbers that need not be floats, nor rational: next to them floats and rationals, and how far each are off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.exact.rational import as_float, rational
from polyfold.exact.rational_arrays import Rationals, filled
from polyfold.exact.roots import ROOT_BITS, root
from polyfold.network.ops import Normalise
from polyfold.program.changes import upwards

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

# A quotient by a root's neighbour is off by less than twice what the neighbour is.
_OFF = fmpq(1, 2 ** (ROOT_BITS - 1))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers by their floats and by rationals; each differs from the true number by its error at most."""

    floats: Array
    rationals: Rationals
    float_error: Array
    rational_error: Array

    def take(self, index: Index) -> Numbers:
        """Numbers by index."""
        return Numbers(self.floats[index], self.rationals[index], self.float_error[index], self.rational_error[index])


def normalisation(op: Normalise, salt: bytes = b"") -> tuple[Numbers, Numbers]:
    """Factor and offset of every channel, with y = factor * x + offset."""
    factors, offsets, errors = [], [], []
    for gamma, beta, mean, variance in zip(
        *(a.tolist() for a in (op.gamma, op.beta, op.mean, op.variance)), strict=True
    ):
        deviation = root(rational(variance) + rational(op.epsilon), salt)
        factor = rational(gamma) / deviation.value
        factors.append(factor)
        offsets.append(rational(beta) - rational(mean) * factor)
        error = fmpq(0) if deviation.exact else abs(factor) * _OFF
        errors.append((error, abs(rational(mean)) * error))
    near_factor, near_offset = op.folded
    return (
        _numbers(near_factor, factors, [error for error, _ in errors]),
        _numbers(near_offset, offsets, [error for _, error in errors]),
    )


def _numbers(floats: Array, exact: list[fmpq], errors: list[fmpq]) -> Numbers:
    gaps = [
        abs(rational(near) - value) + error for near, value, error in zip(floats.tolist(), exact, errors, strict=True)
    ]
    return Numbers(floats, filled(exact, floats.shape), _sizes(gaps), _sizes(errors))


def _sizes(values: list[fmpq]) -> Array:
    """Floats that are no smaller; 0 stays 0."""
    return upwards(np.array([max(as_float(value), 2.0**-1000) if value else 0.0 for value in values]), 1)
