"""A program in the order in which a pass computes it, with what several stages read computed once.

The rounds of a pool all read the convolution before it, and every sum along a chain of skips holds the ones before.
In a Program each stage has all of that in its own form, down to the sources. In steps it is a value of its own,
between the stages: the forms that read it have entries of that value in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np

from polyfold._base.types import Array
from polyfold.program.affine import Affine, Structured
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken


class Reads(Protocol):
    """A function that says which values it reads: an `Affine`, rows of rationals, a layer of nearest floats."""

    @property
    def sources(self) -> frozenset[int]: ...


A = TypeVar("A", bound=Reads)


@dataclass(frozen=True, eq=False)
class Step(Generic[A]):
    """A function of the values so far: value 0 is the input, value k what step k (counted from 1) puts out.

    `stage` is the stage whose gates it feeds, or None where its values are passed on as they are.
    """

    affine: A
    stage: int | None


@dataclass(frozen=True, eq=False)
class Steps(Generic[A]):
    """All steps of a program, and its output as a function of their values."""

    steps: tuple[Step[A], ...]
    output: A

    @cached_property
    def value_of_source(self) -> tuple[int, ...]:
        """The value that each source of the program is: the input, and what each stage puts out."""
        return (0, *(number for number, step in enumerate(self.steps, start=1) if step.stage is not None))

    @cached_property
    def last_reader(self) -> tuple[int, ...]:
        """For each value the last step, counted from 0, that reads it (the output is one more); -1 if none does."""
        last = [-1] * (len(self.steps) + 1)
        for number, affine in enumerate(self.affines):
            for value in affine.sources:
                last[value] = number
        return tuple(last)

    @cached_property
    def last_read_by(self) -> tuple[tuple[int, ...], ...]:
        """For each step, counted from 0, the values that nothing behind it reads: there a pass forgets them.

        Its own value is among them if nothing reads it at all. The input is never: its rows tell how many there are.
        """
        return forgotten_by(self.last_reader)

    @property
    def affines(self) -> tuple[A, ...]:
        return (*(step.affine for step in self.steps), self.output)

    @property
    def widths(self: Steps[Affine]) -> list[int]:
        """How many numbers each step puts out."""
        return [len(step.affine.bias) for step in self.steps]


def forgotten_by(last_reader: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """For each step, counted from 0, the values that it is the last one to need, given the last reader of each."""
    table: list[list[int]] = [[] for _ in last_reader[1:]]
    for value, last in enumerate(last_reader[1:], start=1):
        # A value that nobody reads is forgotten where it is made; one that the output reads, never.
        if max(last, value - 1) < len(table):
            table[max(last, value - 1)].append(value)
    return tuple(map(tuple, table))


def one_each(affines: Sequence[A]) -> Steps[A]:
    """One step per stage, and the output: what several stages read is computed again by each."""
    return Steps(tuple(Step(affine, number) for number, affine in enumerate(affines[:-1])), affines[-1])


def in_steps(input_dim: int, affines: Sequence[Affine]) -> Steps[Affine]:
    """The steps of a program with these functions: one per stage and those that are shared, and the output."""
    structured = [affine for affine in affines if isinstance(affine, Structured)]
    # Written out, nothing is read twice.
    return one_each(affines) if len(structured) < len(affines) else _Splitter(input_dim, structured).steps()


class _Splitter:
    def __init__(self, input_dim: int, affines: Sequence[Structured]) -> None:
        self.affines = affines
        self.shared = _read_twice([affine.form for affine in affines])
        self.widths = [input_dim]
        self.made: list[Step[Affine]] = []
        self.value_of_stage = [0]
        self.value_of_form: dict[int, int] = {}

    def steps(self) -> Steps[Affine]:
        for number, affine in enumerate(self.affines[:-1]):
            self._add(affine.form, affine.bias, number)
            self.value_of_stage.append(len(self.made))
        last = self.affines[-1]
        form = self._over_values(last.form, {})
        return Steps(tuple(self.made), Structured(form, last.bias, tuple(self.widths)))

    def _add(self, form: Form, bias: Array, stage: int | None) -> None:
        # What it reads has to be there first.
        over_values = self._over_values(form, {}, top=True)
        self.made.append(Step(Structured(over_values, bias, tuple(self.widths)), stage))
        self.widths.append(form.rows)

    def _over_values(self, form: Form, known: dict[int, Form], *, top: bool = False) -> Form:
        if id(form) in known:
            return known[id(form)]
        if id(form) in self.shared and not top:
            if id(form) not in self.value_of_form:
                self._add(form, np.zeros(form.rows), None)
                self.value_of_form[id(form)] = len(self.made)
            result: Form = Entries(self.value_of_form[id(form)], 0, form.rows)
        elif isinstance(form, Entries):
            result = Entries(self.value_of_stage[form.source], form.first, form.count)
        else:
            parts = [self._over_values(part, known) for part in form.parts]
            result = with_parts(form, parts)
        known[id(form)] = result
        return result


def with_parts(form: Form, parts: list[Form]) -> Form:
    """A form of the same kind that is made of other parts."""
    match form:
        case Nothing():
            return form
        case Applied():
            return Applied(form.operator, parts[0])
        case Scaled():
            return Scaled(form.factor, parts[0])
        case Taken():
            return Taken(form.index, parts[0])
        case Summed():
            return Summed(tuple(parts))
        case Stacked():
            return Stacked(tuple(parts))
    raise AssertionError(f"{type(form).__name__} has no parts that could be replaced")


def _read_twice(forms: Sequence[Form]) -> set[int]:
    """The forms, by their ids, that are worth a value of their own: they cost something, and two others read them."""
    worth = {id(form): form for root in forms for form in _walk(root, set()) if _costs_something(form)}
    while True:
        readers: dict[int, set[int]] = {key: set() for key in worth}
        for reader in [*forms, *worth.values()]:
            for form in _walk(reader, set(worth)):
                if form is not reader and id(form) in worth:
                    readers[id(form)].add(id(reader))
        once = [key for key, found in readers.items() if len(found) < 2]
        if not once:
            return set(worth)
        for key in once:
            del worth[key]


def _costs_something(form: Form) -> bool:
    """An operator; or a sum of such, which would be a chain's next one again and again."""
    if isinstance(form, Summed):
        return sum(_has_operator(part) for part in form.forms) > 1
    return isinstance(form, Applied)


def _has_operator(form: Form) -> bool:
    return any(isinstance(each, Applied) for each in _walk(form, set()))


def _walk(root: Form, stop: set[int]) -> Iterator[Form]:
    """A form and what it is made of, each once; what `stop` holds is met but not walked into, but for the root."""
    seen = {id(root)}
    left = [root]
    while left:
        form = left.pop()
        yield form
        if id(form) in stop and form is not root:
            continue
        for part in form.parts:
            if id(part) not in seen:
                seen.add(id(part))
                left.append(part)
