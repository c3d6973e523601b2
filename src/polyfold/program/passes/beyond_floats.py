"""Forms whose floats cannot be believed: a product on the way has left the range of floats.

Nearly no program has any (`Program.number_range`). In the others every coefficient that is not finite, or so small
that underflow may have made it, is computed again in rationals and rounded once. What is then infinite lies beyond
float64 itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyfold._base.types import Array, Ids, Signs
from polyfold.domain.domain import Domain
from polyfold.errors import LimitError
from polyfold.exact.rational import as_float, rational
from polyfold.exact.rounding import FAR_FROM_OVERFLOW, FAR_FROM_UNDERFLOW, LEAST, smallest
from polyfold.exact.tolerances import WELL_KNOWN
from polyfold.program.coefficients import coefficients
from polyfold.program.number_range import NumberRange, number_range
from polyfold.program.passes.single_gates import Coefficients, ExactGates, TooMuchError, exact_gates
from polyfold.program.program import Program

# Programs with more coefficients are looked at again only where floats have no number at all.
_MOST_COEFFICIENTS = 1 << 20

_TOO_LARGE = (
    "products of this network's weights leave the range of float64, and it is too large for its maps to be computed in "
    "rational numbers: rescale its layers"
)

# Rows (constant, slopes ...) in rationals, as floats in this order.
Round = Callable[[Coefficients], list[float]]


def leaves_range(program: Program, domain: Domain) -> bool:
    """Whether products of floats may overflow or underflow in forms over a domain, of a program that is not large."""
    return coefficients(program) <= _MOST_COEFFICIENTS and not _range(program, domain).holds()


def exact_walls(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array] | None:
    """(a, b) of every gate under one pattern, each computed in rationals; None if that is too much."""
    exact, rows = exact_gates(program, domain), []
    try:
        for gate in range(program.gates):
            rows += [rounded_up_to_scale(form.coefficients) for form in exact.forms(gate, signs[None])]
    except TooMuchError:
        return None
    found = np.array(rows).reshape(program.gates, domain.dim + 1)
    return found[:, 1:], found[:, 0]


def mend_outputs(program: Program, domain: Domain, signs: Signs, outputs: Ids, A: Array, c: Array) -> None:
    """Put right, in place, the maps A (n, m, d) and c (n, m) of some outputs under patterns (n, gates)."""
    in_doubt = _in_doubt(program, domain, A, c)
    if not in_doubt.any():
        return
    exact = exact_gates(program, domain)
    for column, output in enumerate(outputs.tolist()):
        rows = np.flatnonzero(in_doubt[:, column])
        _mend(exact, program.gates + output, signs[rows], rows, A[:, column], c[:, column], rounded)


def mend_gates(
    program: Program, domain: Domain, signs: Signs, rows: Ids, gates: Ids, a: Array, b: Array, as_floats: Round
) -> None:
    """The same for gates: row i of a (n, d) and b (n,) is that of gate gates[i] under the pattern signs[rows[i]]."""
    in_doubt = _in_doubt(program, domain, a, b)
    if not in_doubt.any():
        return
    exact = exact_gates(program, domain)
    for gate in np.unique(gates[in_doubt]).tolist():
        at = np.flatnonzero(in_doubt & (gates == gate))
        _mend(exact, gate, signs[rows[at]], at, a, b, as_floats)


def outputs_at(program: Program, domain: Domain, signs: Signs, points: Array, times: Array) -> Array:
    """The outputs (n, m) of the maps under patterns (n, gates) at parameter points (n, d), times (n,), rounded once.

    Coefficients that underflow count for something where the point is far away. What is not finite stays so.
    """
    values, exact = np.full((len(signs), program.output_dim), np.nan), exact_gates(program, domain)
    finite = np.flatnonzero(np.isfinite(points).all(axis=1) & np.isfinite(times))
    try:
        for output in range(program.output_dim):
            for form in exact.forms(program.gates + output, signs, finite):
                for row in form.cells.tolist():
                    value = form.at(map(rational, points[row].tolist()))
                    values[row, output] = as_float(value * rational(times[row]))
    except TooMuchError:
        raise LimitError(_TOO_LARGE) from None
    return values


def _mend(exact: ExactGates, number: int, signs: Signs, at: Ids, a: Array, b: Array, as_floats: Round) -> None:
    """Rows `at` of a and b become those of one gate or output under the patterns `signs`."""
    try:
        for form in exact.forms(number, signs):
            constant, *slopes = as_floats(form.coefficients)
            a[at[form.cells]], b[at[form.cells]] = slopes, constant
    except TooMuchError:
        # What is only small is as right as floats can be about it.
        if not (np.isfinite(a[at]).all() and np.isfinite(b[at]).all()):
            raise LimitError(_TOO_LARGE) from None


def rounded(row: Coefficients) -> list[float]:
    """Each the nearest float; infinite beyond float64."""
    return [as_float(number) for number in row]


def rounded_up_to_scale(row: Coefficients) -> list[float]:
    """A multiple of the row by a power of two: the row itself where its largest number is a float, else about one.

    >>> rounded_up_to_scale((rational(2.0**900) ** 2, -rational(2.0**900) ** 2 / 4))
    [1.0, -0.25]
    """
    largest = max((abs(number) for number in row), default=rational(0.0))
    if largest == 0 or rational(FAR_FROM_UNDERFLOW) < largest < rational(FAR_FROM_OVERFLOW):
        return rounded(row)
    exponent = int(largest.p).bit_length() - int(largest.q).bit_length()
    return [as_float(number * rational(2.0) ** -exponent) for number in row]


@np.errstate(invalid="ignore")
def _in_doubt(program: Program, domain: Domain, slopes: Array, constants: Array) -> Signs:
    """Which rows have a number that is none, or one so small that underflow may have made it; zeros are among these."""
    in_doubt: Signs = ~(np.isfinite(slopes).all(axis=-1) & np.isfinite(constants))
    if leaves_range(program, domain):
        # Such a program adds up no more products than it has coefficients.
        lost = _range(program, domain).most * LEAST * _MOST_COEFFICIENTS
        least = np.minimum(np.abs(slopes).min(axis=-1, initial=np.inf), np.abs(constants))
        in_doubt |= least * WELL_KNOWN <= lost
    return in_doubt


def _range(program: Program, domain: Domain) -> NumberRange:
    if not domain.is_slice:
        return program.number_range
    return number_range(program, _sizes(domain), min(smallest(domain.basis), smallest(domain.origin)))


def _sizes(domain: Domain) -> Array:
    """Bounds on the inputs' coefficients over the parameters, at least one each."""
    if not domain.is_slice:
        return np.full(domain.input_dim, 2.0)
    with np.errstate(over="ignore"):
        sizes: Array = 1 + np.abs(domain.origin) + np.abs(domain.basis).max(axis=1, initial=0.0)
    return sizes


def to_unit_size(A: Array, b: Array) -> tuple[Array, Array]:
    """Rows a . u <= b multiplied by powers of two that make the largest number of a about one: nothing is rounded.

    A bound that is then infinite lies beyond all floats. A row of zeros stays.

    >>> to_unit_size(np.array([[3 * 2.0**900, 0.0]]), np.array([2.0**900]))
    (array([[0.75, 0.  ]]), array([0.25]))
    """
    _, exponents = np.frexp(np.abs(A).max(axis=1, initial=0.0))
    with np.errstate(over="ignore"):
        return np.ldexp(A, -exponents[:, None]), np.ldexp(b, -exponents)
