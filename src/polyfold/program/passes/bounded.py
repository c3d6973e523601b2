"""A network's forward pass in floats that knows what it knows: every value comes with a bound on its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.program_like import AffineLike, ProgramLike
from polyfold.exact.rounding import TINY, relative, smallest

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoundedPass:
    """A forward pass: the pattern, which of its entries are proved, which gates are zero (proved), and the outputs."""

    pattern: npt.NDArray[np.bool_]
    certain: npt.NDArray[np.bool_]
    zero: npt.NDArray[np.bool_]
    outputs: BoundedValues


def affine(form: AffineLike, sources: list[BoundedValues], *, linear: bool = False) -> BoundedValues:
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
    # A bound that overflowed is no number, and neither zero nor known.
    return BoundedValues(total, np.where((bound != 0) | underflowed, bound + TINY, 0.0))


def sum_of_sizes(form: AffineLike, sizes: list[Array]) -> Array:
    """A bound on the sum of all terms' sizes, from bounds on the sizes of the sources; 0 only where there is no term.

    Of the constant counts its size.
    """
    slack = 1 + relative(2 * (4 + form.terms))
    total = (np.abs(form.bias) + form.changed(np.abs).linear(sizes)) * slack
    return np.where((total != 0) | _underflowed(form, sizes), total + TINY, 0.0)


def _underflowed(form: AffineLike, values: list[Array]) -> npt.NDArray[np.bool_]:
    """Where products may have underflowed to zero: only what has no term at all is zero then."""
    if form.smallest * min((smallest(values[number]) for number in form.sources), default=1.0) >= TINY:
        return np.zeros((1, 1), dtype=bool)
    there: npt.NDArray[np.bool_] = form.changed(_is_there).linear(_each_read(form, values, _is_there)) > 0
    return there


def _each_read(form: AffineLike, values: list[Array], change: Callable[[Array], Array]) -> list[Array]:
    """The sources with those changed that the form reads."""
    return [change(array) if number in form.sources else array for number, array in enumerate(values)]


def _is_there(array: Array) -> Array:
    return np.asarray(array != 0, dtype=np.float64)


@np.errstate(over="ignore", invalid="ignore")
def bounded_forward(program: ProgramLike, inputs: BoundedValues) -> BoundedPass:
    """The network at rows of inputs. Behind an unproved gate the bounds still hold: they cover both of its sides."""
    sources = [inputs]
    patterns = [np.zeros((len(inputs.values), 0), dtype=bool)]
    certain = [np.zeros((len(inputs.values), 0), dtype=bool)]
    zero = [np.zeros((len(inputs.values), 0), dtype=bool)]
    for number, step in enumerate(program.steps.steps):
        z = affine(step.affine, sources)
        if step.stage is None:
            sources.append(z)
            _forget(sources, program.steps.last_reader, number)
            continue
        stage = program.stages[step.stage]
        on = z.values > 0
        patterns.append(on)
        certain.append(z.certain)
        zero.append((z.values == 0) & (z.errors == 0))
        slope = np.where(on, stage.slope_on, stage.slope_off)
        other = np.where(on, stage.slope_off, stage.slope_on)
        values = z.values * slope
        steepest = np.maximum(np.abs(slope), np.where(z.certain, 0.0, np.abs(other)))
        crossing = np.where(z.certain, 0.0, np.abs(z.values) * np.abs(slope - other))
        errors = (z.errors * steepest + crossing + relative(2) * np.abs(values)) * (1 + relative(8))
        exact = (z.errors == 0) & (np.isin(slope, (0.0, 1.0, -1.0)) | (z.values == 0))
        exact |= z.certain & (slope == 0)
        sources.append(BoundedValues(values, np.where(exact, 0.0, errors + TINY)))
        _forget(sources, program.steps.last_reader, number)
    signs, proved, zeros = (np.concatenate(parts, axis=1) for parts in (patterns, certain, zero))
    return BoundedPass(signs, proved, zeros, affine(program.steps.output, sources))


def _forget(sources: list[BoundedValues], last_reader: Sequence[int], reader: int) -> None:
    """Drop what nothing behind this reader needs, but for the inputs."""
    for source in range(1, len(sources)):
        if last_reader[source] <= reader:
            sources[source] = exact_values(sources[0].values[:, :0])
