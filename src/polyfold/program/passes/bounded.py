"""A network's forward pass in floats that knows what it knows: every value comes with a bound on its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polyfold._base.types import Array, Flags
from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.rounding import TINY, relative, smallest
from polyfold.program.affine import Affine, is_there
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.program import Program, Stage


@dataclass(frozen=True, eq=False)
class BoundedPass:
    """A forward pass: the pattern, which of its entries are proved, which gates are zero (proved), and the outputs."""

    pattern: Flags
    certain: Flags
    zero: Flags
    outputs: BoundedValues


def affine(form: Affine, sources: Sequence[BoundedValues], *, linear: bool = False) -> BoundedValues:
    """An affine function of bounded sources; with linear=True without its bias."""
    values = [source.values for source in sources]
    sizes = form.changed(np.abs)
    total = form.linear(values) if linear else form(values)
    magnitudes = sizes.linear(_each_read(form, values, np.abs))
    if not linear:
        magnitudes = np.abs(form.bias) + magnitudes
    errors, underflowed = np.zeros_like(total), _underflowed(form, values)
    if any(sources[number].errors.any() for number in form.sources):
        doubts = [source.errors for source in sources]
        errors, underflowed = sizes.linear(doubts), underflowed | _underflowed(form, doubts)
    terms = 4 + form.terms
    slack = 1 + relative(2 * terms)
    bound = (errors + relative(terms) * magnitudes) * slack
    # A bound that overflowed is not a number, and neither zero nor known.
    return BoundedValues(total, np.where((bound != 0) | underflowed, bound + TINY, 0.0))


def sum_of_sizes(form: Affine, sizes: Sequence[Array]) -> Array:
    """A bound on the sum of all terms' sizes, from bounds on the sizes of the sources; 0 only where there is no term.

    Of the constant counts its size.
    """
    slack = 1 + relative(2 * (4 + form.terms))
    total = (np.abs(form.bias) + form.changed(np.abs).linear(sizes)) * slack
    return np.where((total != 0) | _underflowed(form, sizes), total + TINY, 0.0)


def _underflowed(form: Affine, values: Sequence[Array]) -> Flags:
    """Where products may have underflowed to zero: only what has no term at all is zero then."""
    if form.smallest * min((smallest(values[number]) for number in form.sources), default=1.0) >= TINY:
        return np.zeros((1, 1), dtype=bool)
    there: Flags = form.changed(is_there).linear(_each_read(form, values, is_there)) > 0
    return there


def _each_read(form: Affine, values: Sequence[Array], change: Callable[[Array], Array]) -> list[Array]:
    """The sources with those changed that the form reads."""
    return [change(array) if number in form.sources else array for number, array in enumerate(values)]


@np.errstate(over="ignore", invalid="ignore")
def bounded_forward(program: Program, inputs: BoundedValues) -> BoundedPass:
    """The network at rows of inputs. Behind an unproved gate the bounds still hold: they cover both of its sides."""
    nobody = np.zeros((len(inputs.values), 0), dtype=bool)
    found = [_Signs(nobody, nobody, nobody)]
    for at in walk(program, _Bounded(), inputs):
        outputs = at.z
        if at.decided is not None:
            found.append(at.decided)
        del at
    signs, proved, zeros = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
    return BoundedPass(signs, proved, zeros, outputs)


class _Signs(NamedTuple):
    """Which gates are on, for which of them that is proved, and which are proved to be zero."""

    on: Flags
    certain: Flags
    zero: Flags


class _Bounded:
    """Rows of floats, each with a bound on its error. A gate is on where its value is positive, be it proved or not."""

    def affine(self, form: Affine, values: Sequence[BoundedValues]) -> BoundedValues:
        return affine(form, values)

    def decide(self, gates: Gates[Stage], z: BoundedValues) -> _Signs:
        return _Signs(z.values > 0, z.certain, (z.values == 0) & (z.errors == 0))

    def output(self, gates: Gates[Stage], z: BoundedValues, decided: _Signs) -> BoundedValues:
        stage, certain = gates.stage, decided.certain
        slope = np.where(decided.on, stage.slope_on, stage.slope_off)
        other = np.where(decided.on, stage.slope_off, stage.slope_on)
        values = z.values * slope
        steepest = np.maximum(np.abs(slope), np.where(certain, 0.0, np.abs(other)))
        crossing = np.where(certain, 0.0, np.abs(z.values) * np.abs(slope - other))
        errors = (z.errors * steepest + crossing + relative(2) * np.abs(values)) * (1 + relative(8))
        exact = (z.errors == 0) & (np.isin(slope, (0.0, 1.0, -1.0)) | (z.values == 0))
        exact |= certain & (slope == 0)
        return BoundedValues(values, np.where(exact, 0.0, errors + TINY))

    def nothing(self, inputs: BoundedValues) -> BoundedValues:
        return exact_values(inputs.values[:, :0])
