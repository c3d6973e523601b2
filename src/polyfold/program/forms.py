"""Linear functions of a program's sources that stay as they were built: convolutions are never written out.

A Form is a small tree. Its leaves are entries of sources; above them lie operators, factors, selections, sums and
stacks. It can be applied to rows of source values, and pulled back: rows of coefficients on its values become rows of
coefficients on the sources.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from polyfold._base.read_only import ReadOnly
from polyfold._base.types import Array
from polyfold.exact.rounding import smallest
from polyfold.program.operators import Change, Operator

Index = npt.NDArray[np.int64]


class Pulled:
    """Rows of coefficients on every source, while they are added up."""

    def __init__(self, widths: Sequence[int], rows: int) -> None:
        self._widths = widths
        self._rows = rows
        self.on: dict[int, Array] = {}

    def of(self, source: int) -> Array:
        """The coefficients on a source, zero at first."""
        if source not in self.on:
            self.on[source] = np.zeros((self._rows, self._widths[source]))
        return self.on[source]


class Values:
    """Rows of every source, and what was already computed from them."""

    def __init__(self, sources: Sequence[Array]) -> None:
        self.sources = sources
        self._known: dict[int, Array] = {}

    def of(self, form: Form) -> Array:
        """A form's values; several readers of one form share them."""
        found = self._known.get(id(form))
        if found is None:
            found = self._known[id(form)] = form.apply(self)
        return found


class Form(ReadOnly, ABC):
    """A linear function of the sources with `rows` values.

    `kind` is its name in digests and files, which stays whatever the class is called.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def rows(self) -> int: ...

    @abstractmethod
    def apply(self, values: Values) -> Array:
        """The values (n, rows)."""

    @abstractmethod
    def pull(self, y: Array, pulled: Pulled) -> None:
        """Add y W to `pulled`, for rows y of coefficients on the values."""

    @abstractmethod
    def changed(self, change: Change) -> Form:
        """The form with every coefficient changed; products and sums of coefficients are made of the changed ones."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Form, ...]:
        """The forms that it is made of."""

    @property
    def factors(self) -> Array:
        """The numbers that values are multiplied with here, without those of its parts."""
        return np.ones(0)

    @property
    def structure(self) -> bytes:
        """Whatever else tells it from another form of its kind."""
        return b""

    @property
    def own_terms(self) -> int:
        """How many roundings it adds to those of its parts."""
        return 1

    @cached_property
    def terms(self) -> int:
        """Bounds how many roundings lie behind one value."""
        return self.own_terms + max((part.terms for part in self.parts), default=0)

    @cached_property
    def smallest(self) -> float:
        """Bounds the products of coefficients on the way from a source from below, in absolute value, zeros apart."""
        return smallest(self.factors) * min((part.smallest for part in self.parts), default=1.0)

    @cached_property
    def sources(self) -> frozenset[int]:
        """The sources that it reads."""
        return frozenset[int]().union(*(part.sources for part in self.parts))


@dataclass(frozen=True, eq=False)
class Entries(Form):
    """Consecutive entries of a source."""

    kind: ClassVar[str] = "Entries"

    source: int
    first: int
    count: int

    @property
    def rows(self) -> int:
        return self.count

    def apply(self, values: Values) -> Array:
        return values.sources[self.source][:, self.first : self.first + self.count]

    def pull(self, y: Array, pulled: Pulled) -> None:
        pulled.of(self.source)[:, self.first : self.first + self.count] += y

    def changed(self, change: Change) -> Form:
        return self

    @property
    def parts(self) -> tuple[Form, ...]:
        return ()

    @property
    def structure(self) -> bytes:
        return f"{self.source} {self.first} {self.count}".encode()

    @cached_property
    def sources(self) -> frozenset[int]:
        return frozenset([self.source])


@dataclass(frozen=True, eq=False)
class Nothing(Form):
    """Zeros: the linear part of a constant."""

    kind: ClassVar[str] = "Nothing"

    count: int

    @property
    def rows(self) -> int:
        return self.count

    def apply(self, values: Values) -> Array:
        return np.zeros((len(values.sources[0]), self.rows))

    def pull(self, y: Array, pulled: Pulled) -> None:
        return

    def changed(self, change: Change) -> Form:
        return self

    @property
    def parts(self) -> tuple[Form, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class Applied(Form):
    """An operator on the values of a form."""

    kind: ClassVar[str] = "Applied"

    operator: Operator
    form: Form

    @property
    def rows(self) -> int:
        return self.operator.rows

    def apply(self, values: Values) -> Array:
        return self.operator.apply(values.of(self.form))

    def pull(self, y: Array, pulled: Pulled) -> None:
        self.form.pull(self.operator.pull(y), pulled)

    def changed(self, change: Change) -> Form:
        return Applied(self.operator.changed(change), self.form.changed(change))

    @property
    def parts(self) -> tuple[Form, ...]:
        return (self.form,)

    @property
    def factors(self) -> Array:
        return self.operator.factors

    @property
    def structure(self) -> bytes:
        return self.operator.kind.encode() + self.operator.structure

    @property
    def own_terms(self) -> int:
        return self.operator.terms


@dataclass(frozen=True, eq=False)
class Scaled(Form):
    """Every value times a factor."""

    kind: ClassVar[str] = "Scaled"

    factor: Array
    form: Form

    @cached_property
    def is_minus_one(self) -> bool:
        """Whether all factors are -1: what is subtracted need not be multiplied."""
        return bool((self.factor == -1).all())

    @property
    def rows(self) -> int:
        return self.form.rows

    def apply(self, values: Values) -> Array:
        return values.of(self.form) * self.factor

    def pull(self, y: Array, pulled: Pulled) -> None:
        self.form.pull(y * self.factor, pulled)

    def changed(self, change: Change) -> Form:
        return Scaled(change(self.factor), self.form.changed(change))

    @property
    def parts(self) -> tuple[Form, ...]:
        return (self.form,)

    @property
    def factors(self) -> Array:
        return self.factor


@dataclass(frozen=True, eq=False)
class Taken(Form):
    """Some of the values, in any order, some more than once."""

    kind: ClassVar[str] = "Taken"

    index: Index
    form: Form

    def __post_init__(self) -> None:
        if len(self.index) and not 0 <= self.index.min() <= self.index.max() < self.form.rows:
            raise IndexError(f"entries {self.index.min()} to {self.index.max()} cannot be taken of {self.form.rows}")

    @property
    def rows(self) -> int:
        return len(self.index)

    def apply(self, values: Values) -> Array:
        # The index was checked when the form was made; without another check taking is twice as fast.
        return np.take(values.of(self.form), self.index, axis=1, mode="clip")

    def pull(self, y: Array, pulled: Pulled) -> None:
        if self._distinct:
            spread = np.zeros((len(y), self.form.rows))
            spread[:, self.index] = y
        else:
            # What is taken several times comes back as a sum: entries that are equal are next to each other.
            order, first = self._sorted
            spread = np.zeros((len(y), self.form.rows))
            spread[:, self.index[order[first]]] = np.add.reduceat(y[:, order], first, axis=1)
        self.form.pull(spread, pulled)

    @cached_property
    def _distinct(self) -> bool:
        return len(self._sorted[1]) == len(self.index)

    @cached_property
    def _sorted(self) -> tuple[Index, Index]:
        """An order that puts equal entries together, and where each group of them starts."""
        order = np.argsort(self.index, kind="stable")
        ascending = self.index[order]
        return order, np.flatnonzero(np.diff(ascending, prepend=-1))

    def changed(self, change: Change) -> Form:
        return Taken(self.index, self.form.changed(change))

    @property
    def parts(self) -> tuple[Form, ...]:
        return (self.form,)

    @property
    def structure(self) -> bytes:
        return self.index.astype("<i8").tobytes()


@dataclass(frozen=True, eq=False)
class Summed(Form):
    """The sum of forms with equally many values."""

    kind: ClassVar[str] = "Summed"

    forms: tuple[Form, ...]

    @property
    def parts(self) -> tuple[Form, ...]:
        return self.forms

    @property
    def rows(self) -> int:
        return self.parts[0].rows

    def apply(self, values: Values) -> Array:
        first, *others = self.parts
        total = values.of(first)
        for number, other in enumerate(others):
            # The first sum makes a new array, which the others may change.
            out = total if number else None
            if isinstance(other, Scaled) and other.is_minus_one:
                total = np.subtract(total, values.of(other.form), out=out)
            else:
                total = np.add(total, values.of(other), out=out)
        return total

    def pull(self, y: Array, pulled: Pulled) -> None:
        for part in self.parts:
            part.pull(y, pulled)

    def changed(self, change: Change) -> Form:
        return Summed(tuple(part.changed(change) for part in self.parts))

    @property
    def own_terms(self) -> int:
        return len(self.parts)


@dataclass(frozen=True, eq=False)
class Stacked(Form):
    """The values of several forms, one form after the other."""

    kind: ClassVar[str] = "Stacked"

    forms: tuple[Form, ...]

    @property
    def parts(self) -> tuple[Form, ...]:
        return self.forms

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    def apply(self, values: Values) -> Array:
        return np.concatenate([values.of(part) for part in self.parts], axis=1)

    def pull(self, y: Array, pulled: Pulled) -> None:
        start = 0
        for part in self.parts:
            part.pull(y[:, start : start + part.rows], pulled)
            start += part.rows

    def changed(self, change: Change) -> Form:
        return Stacked(tuple(part.changed(change) for part in self.parts))
