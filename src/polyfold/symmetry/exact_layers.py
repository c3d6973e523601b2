"""A hidden layer of an ExactProgram and everything that reads it: what all transformations change together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from operator import index
from typing import Any

from flint import fmpq

from polyfold._base.apart import apart
from polyfold._base.as_found import first_hand
from polyfold._base.evidence import THE_NETWORK, Evidence
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import computed_in_floats
from polyfold.engine.source import SourceLike, as_program
from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.rational_arrays import Rationals, rationals, zeros
from polyfold.network.load import load
from polyfold.program.exact_program import ExactProgram, ExactStage, from_program, lower_exactly
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.program import Program

Reading = Callable[[RationalRows], RationalRows]


def exactly(source: SourceLike | ExactProgram) -> ExactProgram:
    """An ExactProgram as it is, and any other source in rationals, in the time that there is."""
    if isinstance(source, ExactProgram):
        return source
    if isinstance(source, Atlas | Program):
        return apart(lambda: from_program(as_program(source)))
    return apart(lambda: lower_exactly(load(source)))


def evidence_for(source: SourceLike | ExactProgram, proof: str | None) -> Evidence:
    """Of an answer about the weights of a source: what proves it, in words; None if floats were all."""
    if isinstance(source, ExactProgram):
        return first_hand(Evidence("", "", "", None, True, None, proof=proof))
    known = apart(lambda: computed_in_floats(as_program(source)))
    # A program may be a neighbour of its network, in floats; a network's own weights were read as they are.
    of = known.of if isinstance(source, Atlas | Program) else THE_NETWORK
    return known if proof is None else first_hand(replace(known, proof=proof, of=of))


def layer_of(program: ExactProgram, layer: int, what: Any) -> ExactStage:
    """The stage of a hidden layer, counted from 1; `what` is quoted if there is none."""
    if not 1 <= layer <= len(program.stages):
        raise PolyfoldError(
            f"{what!r}: there is no hidden layer {layer}; the network has "
            f"{how_many(len(program.stages), 'hidden layer')}, counted from 1"
        )
    return program.stages[layer - 1]


def with_layer(program: ExactProgram, layer: int, stage: ExactStage, reading: Reading) -> ExactProgram:
    """Another stage in a layer's place, and all rows that read the layer changed by `reading`."""
    stages = [
        stage if number == layer else replace(other, rows=reading(other.rows)) if layer in other.rows.terms else other
        for number, other in enumerate(program.stages, start=1)
    ]
    output = reading(program.output) if layer in program.output.terms else program.output
    return replace(program, stages=tuple(stages), output=output)


def with_rows(program: ExactProgram, number: int, rows: RationalRows) -> ExactProgram:
    """Other rows of one affine function: stage `number`, or the output if it is one more than there are stages."""
    if number == len(program.stages) + 1:
        return replace(program, output=rows)
    stages = list(program.stages)
    stages[number - 1] = replace(stages[number - 1], rows=rows)
    return replace(program, stages=tuple(stages))


def with_term(rows: RationalRows, source: int, matrix: Rationals) -> RationalRows:
    """Another matrix for a source; none at all if it is zero."""
    terms = {**rows.terms, source: matrix}
    return RationalRows({key: terms[key] for key in sorted(terms) if terms[key].any()}, rows.bias)


def plus_rows(rows: RationalRows, other: RationalRows) -> RationalRows:
    """The sum, without matrices that are zero."""
    total = rows.plus(other)
    return RationalRows({key: total.terms[key] for key in sorted(total.terms) if total.terms[key].any()}, total.bias)


def weights_of(rows: RationalRows, source: int, width: int) -> Rationals:
    """The matrix by which rows read a source; zeros if they do not."""
    found = rows.terms.get(source)
    return zeros(rows.size, width) if found is None else found.copy()


def reader_of(program: ExactProgram, layer: int, reader: int | None, what: Any) -> tuple[int, RationalRows]:
    """Which affine function reads a layer: a later stage's number, or one more than there are stages for the output.

    None is the next one, which is the only one in a network of plain layers.
    """
    last = len(program.stages) + 1
    found = layer + 1 if reader is None else reader
    if not layer < found <= last:
        raise PolyfoldError(
            f"{what!r}: nothing numbered {reader} can read layer {layer}; its readers are the hidden layers after "
            f"it, up to {last - 1}, and the output, {last}"
        )
    return found, program.affines[found - 1]


def for_rows(amount: Fraction | tuple[Fraction, ...], rows: RationalRows, what: Any) -> Rationals:
    """An amount for each of the rows: the same for all, or one by one."""
    if isinstance(amount, Fraction):
        return rationals([amount] * rows.size)
    if len(amount) != rows.size:
        raise PolyfoldError(
            f"{what!r}: {how_many(len(amount), 'amount')} for a reader of {how_many(rows.size, 'row')}; give one "
            "for each, or one number for all"
        )
    return rationals(list(amount))


def amounts(value: Any, what: str) -> Fraction | tuple[Fraction, ...]:
    """One number, or a sequence of numbers."""
    return numbers(value, what) if hasattr(value, "__iter__") else number(value, what)


def shown_amounts(value: Fraction | tuple[Fraction, ...]) -> str:
    """As one writes them: 1/2, or (1/2, 3)."""
    return str(value) if isinstance(value, Fraction) else shown(value)


def negated(value: Fraction | tuple[Fraction, ...]) -> Fraction | tuple[Fraction, ...]:
    """What undoes adding an amount."""
    return -value if isinstance(value, Fraction) else tuple(-entry for entry in value)


def number(value: Any, what: str) -> Fraction:
    """Any rational number as a fraction: nothing is rounded. `what` names it if it is none.

    >>> number(0.5, "the factor"), number(fmpq(1, 3), "the factor")
    (Fraction(1, 2), Fraction(1, 3))
    """
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, Integral):
        return Fraction(int(value))
    try:
        return Fraction(*value.as_integer_ratio())
    except (AttributeError, OverflowError, ValueError, TypeError) as error:
        raise PolyfoldError(
            f"{what} must be a finite number (a float, an integer or a fraction), got {value!r}"
        ) from error


def numbers(values: Any, what: str) -> tuple[Fraction, ...]:
    """Rational numbers as fractions; `what` names them if they are none."""
    try:
        listed = list(values)
    except TypeError as error:
        raise PolyfoldError(f"{what} must be a sequence of numbers, got {values!r}") from error
    return tuple(number(value, f"each of {what}") for value in listed)


def whole(value: Any, what: str) -> int:
    """A number that counts something; `what` names it if it does not."""
    try:
        return index(value)
    except TypeError as error:
        raise PolyfoldError(f"{what} must be an integer, got {value!r}") from error


def wholes(values: Any, what: str) -> tuple[int, ...]:
    """Numbers that count something."""
    try:
        listed = list(values)
    except TypeError as error:
        raise PolyfoldError(f"{what} must be a sequence of integers, got {values!r}") from error
    return tuple(whole(value, f"each of {what}") for value in listed)


def shown(values: tuple[Fraction, ...]) -> str:
    """Fractions as one writes them: (1/2, 3)."""
    return f"({', '.join(map(str, values))}{',' if len(values) == 1 else ''})"
