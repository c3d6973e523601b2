"""Affine functions of a program's sources: written out as matrices, or structured as they were built."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from polyfold._base.read_only import ReadOnly
from polyfold._base.types import Array
from polyfold.errors import LimitError
from polyfold.exact.rounding import smallest
from polyfold.program.forms import Applied, Entries, Form, Nothing, Pulled, Summed, Values
from polyfold.program.operators import Matrix, Operator

Change = Callable[[Array], Array]

# Coefficients of one affine function that may be written out: a gigabyte.
_MOST_WRITTEN_OUT = 1 << 27
# Rows that are pulled back at once while they are.
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Block(ReadOnly):
    """A matrix applied to one source; its columns are the source's entries."""

    source: int
    weight: Array


class Affine(ReadOnly, ABC):
    """A linear function of the sources, plus bias."""

    form: Form
    bias: Array

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The matrices. A structured function is written out for that, which rounds: exact arithmetic goes by `form`
        (`program/passes/fold.py`). Refused if it is too large."""

    @property
    @abstractmethod
    def sources(self) -> frozenset[int]:
        """The sources that it reads."""

    @property
    @abstractmethod
    def terms(self) -> int:
        """Bounds how many roundings lie behind one value."""

    @property
    @abstractmethod
    def smallest(self) -> float:
        """Bounds the products of coefficients from below, in absolute value, zeros apart."""

    @abstractmethod
    def __call__(self, sources: Sequence[Array]) -> Array:
        """Rows of values from the rows of every source."""

    @abstractmethod
    def linear(self, sources: Sequence[Array]) -> Array:
        """The same without the bias."""

    @abstractmethod
    def pull(self, rows: Array) -> dict[int, Array]:
        """Coefficients (..., width) on the values, as coefficients on each source that is read."""

    @abstractmethod
    def rows(self, index: npt.NDArray[np.int64]) -> dict[int, Array]:
        """The coefficients of some values on each source that is read."""

    @abstractmethod
    def changed(self, change: Change) -> Affine:
        """The function with every coefficient changed; sums and products are made of the changed ones."""

    @abstractmethod
    def written_out(self) -> WrittenOut:
        """The same function as matrices."""

    @abstractmethod
    def update(self, hasher: hashlib._Hash) -> None:
        """Tell a digest everything that the function consists of."""


@dataclass(frozen=True, eq=False)
class WrittenOut(Affine):
    """sum over blocks of W @ source, plus bias. A source may have several blocks, whose sum would be rounded."""

    matrices: tuple[Block, ...]
    bias: Array

    @cached_property
    def form(self) -> Form:  # type: ignore[override]
        parts = [Applied(Matrix(b.weight), Entries(b.source, 0, b.weight.shape[1])) for b in self.matrices]
        return (Summed(tuple(parts)) if len(parts) > 1 else parts[0]) if parts else Nothing(len(self.bias))

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.matrices

    @property
    def sources(self) -> frozenset[int]:
        return frozenset(block.source for block in self.blocks)

    @property
    def terms(self) -> int:
        return sum(block.weight.shape[1] for block in self.blocks)

    @cached_property
    def smallest(self) -> float:
        return min((smallest(block.weight) for block in self.blocks), default=1.0)

    def __call__(self, sources: Sequence[Array]) -> Array:
        if not self.matrices:
            return np.broadcast_to(self.bias, (len(sources[0]), len(self.bias)))
        first, *others = self.matrices
        total: Array = sources[first.source] @ first.weight.T
        total += self.bias
        for block in others:
            total += sources[block.source] @ block.weight.T
        return total

    def linear(self, sources: Sequence[Array]) -> Array:
        total = np.zeros((len(sources[0]), len(self.bias)))
        for block in self.blocks:
            total += sources[block.source] @ block.weight.T
        return total

    def pull(self, rows: Array) -> dict[int, Array]:
        return _by_source((block.source, _times(rows, block.weight)) for block in self.blocks)

    def rows(self, index: npt.NDArray[np.int64]) -> dict[int, Array]:
        return _by_source((block.source, block.weight[index]) for block in self.blocks)

    def changed(self, change: Change) -> Affine:
        return WrittenOut(tuple(Block(b.source, change(b.weight)) for b in self.blocks), change(self.bias))

    def written_out(self) -> WrittenOut:
        return self

    def update(self, hasher: hashlib._Hash) -> None:
        for block in self.blocks:
            weight = np.ascontiguousarray(block.weight)
            hasher.update(f"{block.source}:{weight.shape}".encode() + weight.tobytes())
        hasher.update(self.bias.tobytes())


@dataclass(frozen=True, eq=False)
class Structured(Affine):
    """A form over sources of these widths, plus bias."""

    form: Form
    bias: Array
    widths: tuple[int, ...]

    @property
    def sources(self) -> frozenset[int]:
        return self.form.sources

    @property
    def terms(self) -> int:
        return self.form.terms

    @property
    def smallest(self) -> float:
        return self.form.smallest

    @cached_property
    def size(self) -> int:
        """How many coefficients it has when it is written out."""
        return len(self.bias) * sum(self.widths[source] for source in self.sources)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        if self.size > _MOST_WRITTEN_OUT:
            raise LimitError(
                f"a layer with {len(self.bias):,} values and {self.size:,} coefficients is too large to be written out "
                "as a matrix: look at the network with pf.local, pf.explore, or on a line or plane"
            )
        weights = {source: np.empty((len(self.bias), self.widths[source])) for source in sorted(self.sources)}
        for start in range(0, len(self.bias), _ROWS_AT_ONCE):
            index = np.arange(start, min(start + _ROWS_AT_ONCE, len(self.bias)))
            for source, rows in self.rows(index).items():
                weights[source][index] = rows
        for weight in weights.values():
            weight.setflags(write=False)
        return tuple(Block(source, weight) for source, weight in weights.items() if weight.any())

    def __call__(self, sources: Sequence[Array]) -> Array:
        return self.linear(sources) + self.bias

    def linear(self, sources: Sequence[Array]) -> Array:
        return self.form.apply(Values(sources))

    def pull(self, rows: Array) -> dict[int, Array]:
        flat = rows.reshape(-1, rows.shape[-1])
        pulled = Pulled(self.widths, len(flat))
        self.form.pull(flat, pulled)
        return {source: array.reshape(*rows.shape[:-1], -1) for source, array in pulled.on.items()}

    def rows(self, index: npt.NDArray[np.int64]) -> dict[int, Array]:
        units = np.zeros((len(index), len(self.bias)))
        units[np.arange(len(index)), index] = 1.0
        return self.pull(units)

    def changed(self, change: Change) -> Affine:
        return Structured(self.form.changed(change), change(self.bias), self.widths)

    def written_out(self) -> WrittenOut:
        return WrittenOut(self.blocks, self.bias)

    def update(self, hasher: hashlib._Hash) -> None:
        _update(hasher, self.form)
        hasher.update(self.bias.tobytes())


def is_there(array: Array) -> Array:
    """Ones for all numbers but zeros: a function that is so `changed` is zero only where it has no term."""
    return np.asarray(array != 0, dtype=np.float64)


def _times(rows: Array, weight: Array) -> Array:
    """Rows (n, k, width) times a matrix: as one product, not n small ones."""
    product: Array = (rows.reshape(-1, rows.shape[-1]) @ weight).reshape(*rows.shape[:-1], weight.shape[1])
    return product


def _by_source(parts: Iterable[tuple[int, Array]]) -> dict[int, Array]:
    """Coefficients on each source, those of several blocks added up."""
    total: dict[int, Array] = {}
    for source, coefficients in parts:
        total[source] = total[source] + coefficients if source in total else coefficients
    return total


def operators(affine: Affine) -> Iterator[Operator]:
    """The matrices and convolutions that an affine function applies."""
    if isinstance(affine, Structured):
        yield from (form.operator for form in forms(affine) if isinstance(form, Applied))
    else:
        yield from (Matrix(block.weight) for block in affine.blocks)


def forms(affine: Structured) -> Iterator[Form]:
    """All forms that an affine function is made of, each once."""
    todo, seen = [affine.form], set()
    while todo:
        form = todo.pop()
        if id(form) not in seen:
            seen.add(id(form))
            yield form
            todo += form.parts


def _update(hasher: hashlib._Hash, form: Form) -> None:
    hasher.update(form.kind.encode() + form.structure + np.ascontiguousarray(form.factors).tobytes())
    for part in form.parts:
        _update(hasher, part)
