"""Real numbers that need not be floats, nor rational: next to them floats and rationals, and how far each are off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.types import Array
from polyfold.exact.near import Near
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rational_arrays import Rationals, filled, rationals
from polyfold.exact.reals import Reals, nearest_floats
from polyfold.exact.roots import ROOT_BITS, root
from polyfold.exact.rounding import TINY
from polyfold.network.ops.linear import Normalise
from polyfold.network.ops.op import Op
from polyfold.network.ops.unrounded import Unrounded
from polyfold.program.lower.changes import upwards

Index = npt.NDArray[np.int64]

# A quotient by a root's neighbour is off by less than twice what the neighbour is.
_OFF = fmpq(1, 2 ** (ROOT_BITS - 1))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers by their floats and by rationals; each differs from the true number by its error at most.

    All four are arrays of one shape.
    """

    floats: Array
    rationals: Rationals
    float_error: Array
    rational_error: Array

    def take(self, index: Index) -> Numbers:
        """Numbers by index."""
        return Numbers(self.floats[index], self.rationals[index], self.float_error[index], self.rational_error[index])

    def spread(self, shape: tuple[int, ...]) -> Numbers:
        """Numbers broadcast to a shape, in a row."""
        places = np.arange(self.floats.size).reshape(self.floats.shape)
        flat = Numbers(
            self.floats.ravel(), self.rationals.ravel(), self.float_error.ravel(), self.rational_error.ravel()
        )
        return flat.take(np.broadcast_to(places, shape).ravel())


def floats_alone(floats: Array) -> Numbers:
    """Numbers that are floats."""
    nothing = np.zeros(floats.shape)
    return Numbers(floats, rationals(floats), nothing, nothing)


def reals_of(floats: Array, reals: Reals | None, salt: bytes) -> Numbers:
    """Numbers that an op keeps, with the floats that stand for them; without `reals` these are the floats.

    What is not rational is drawn with the salt.
    """
    if reals is None:
        return floats_alone(floats)
    exact, errors = [], []
    for value in reals.ravel().tolist():
        near, off = value.drawn(salt) if isinstance(value, Near) else (value, fmpq(0))
        exact.append(near)
        errors.append(off)
    return _numbers(floats, exact, errors)


def drawn(op: Unrounded) -> Op:
    """An op with rationals in the places of floats; not to be evaluated."""
    fixed = [None if each is None else reals_of(nearest_floats(each), each, b"").rationals for each in op.parts]
    return Unrounded(op.op, *fixed).exactly


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
        abs(rational(near) - value) + error
        for near, value, error in zip(floats.ravel().tolist(), exact, errors, strict=True)
    ]
    sizes = (_sizes(each).reshape(floats.shape) for each in (gaps, errors))
    return Numbers(floats, filled(exact, floats.shape), *sizes)


def _sizes(values: list[fmpq]) -> Array:
    """Floats that are no smaller; 0 stays 0."""
    return upwards(np.array([max(as_float(value), TINY) if value else 0.0 for value in values]), 1)
