"""An affine function of a program in any arithmetic: a fold over its form.

NumPy applies forms to floats by itself (`Affine.__call__`). Whoever computes in something else, rationals, digits,
values with error bounds, says in `Terms` what each kind of form does to its values, and `fold` goes through the form.

Exact arithmetic takes this way and no other. `Affine.blocks` of a structured function are products of coefficients,
which floats round: they are the matrices of a function nearby.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.program.affine import Affine
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken
from polyfold.program.operators import Operator

V = TypeVar("V")


class Terms(Protocol[V]):
    """What forms do to values V: those of one source, or of one form, for as many points as the arithmetic likes."""

    def entries(self, value: V, first: int, count: int) -> V:
        """Consecutive entries of a source."""

    def zeros(self, values: Sequence[V], count: int) -> V:
        """So many zeros, for the points that the sources' values are of."""

    def through(self, operator: Operator, value: V) -> V:
        """A matrix, a sparse matrix or a convolution, applied."""

    def scaled(self, factor: Array, value: V) -> V:
        """Every entry times its factor."""

    def taken(self, index: npt.NDArray[np.int64], value: V) -> V:
        """Some of the entries, in any order, some more than once."""

    def summed(self, parts: Sequence[V]) -> V:
        """The sum of one or more."""

    def stacked(self, parts: Sequence[V]) -> V:
        """The entries of one after those of another."""

    def shifted(self, value: V, bias: Array) -> V:
        """With a bias added to every entry."""


def fold(affine: Affine, values: Sequence[V], by: Terms[V]) -> V:
    """An affine function of the sources' values. Each form is computed once, and kept until its last reader has it.

    >>> class Largest:  # how large a value can be where sources are as large as given
    ...     def entries(self, value, first, count): return value[first : first + count]
    ...     def through(self, operator, value): return operator.changed(np.abs).apply(value[None])[0]
    ...     def summed(self, parts): return sum(parts)
    ...     def shifted(self, value, bias): return value + np.abs(bias)
    >>> from polyfold.program.affine import Block, WrittenOut
    >>> fold(WrittenOut((Block(0, np.array([[1.0, -2.0]])),), np.array([-3.0])), [np.array([10.0, 10.0])], Largest())
    array([33.])
    """
    return by.shifted(fold_form(affine.form, values, by), affine.bias)


def fold_form(form: Form, values: Sequence[V], by: Terms[V]) -> V:
    """The same for a form alone."""
    order = in_order(form)
    readers = Counter(id(part) for reader in order for part in reader.parts)
    known: dict[int, V] = {}
    for reader in order:
        parts = [known[id(part)] for part in reader.parts]
        for part in reader.parts:
            readers[id(part)] -= 1
            if not readers[id(part)]:
                del known[id(part)]
        known[id(reader)] = _of(reader, parts, values, by)
    return known[id(form)]


def in_order(root: Form) -> list[Form]:
    """A form and all that it is made of, each once, parts before what reads them."""
    found: list[Form] = []
    met: set[int] = set()
    left = [(root, False)]
    while left:
        form, parts_done = left.pop()
        if parts_done:
            found.append(form)
        elif id(form) not in met:
            met.add(id(form))
            left.append((form, True))
            left += [(part, False) for part in reversed(form.parts)]
    return found


def _of(form: Form, parts: list[V], values: Sequence[V], by: Terms[V]) -> V:
    """A form's value, given those of its parts."""
    match form:
        case Entries():
            return by.entries(values[form.source], form.first, form.count)
        case Nothing():
            return by.zeros(values, form.count)
        case Applied():
            return by.through(form.operator, parts[0])
        case Scaled():
            return by.scaled(form.factor, parts[0])
        case Taken():
            return by.taken(form.index, parts[0])
        case Summed():
            return by.summed(parts)
        case Stacked():
            return by.stacked(parts)
    raise AssertionError(f"no arithmetic is told what {type(form).__name__} does")
