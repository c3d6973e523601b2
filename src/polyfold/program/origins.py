"""Where gates come from, in the user's words. There may be millions: names are made when they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import overload

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class GateOrigin:
    """Where a gate comes from: the user's node, the entry of its value, and which switch of it."""

    node: str
    index: tuple[int, ...]
    role: str = "relu"

    def __str__(self) -> str:
        place = f"{self.node}[{','.join(map(str, self.index))}]"
        return place if self.role == "relu" else f"{place}.{self.role}"


@dataclass(frozen=True, eq=False)
class OriginGroup:
    """Gates of one kind of one node, on some entries of its flattened value."""

    node: str
    shape: tuple[int, ...]
    entries: npt.NDArray[np.int64]
    role: str = "relu"

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, number: int) -> GateOrigin:
        index = np.unravel_index(int(self.entries[number]), self.shape) if self.shape else ()
        return GateOrigin(self.node, tuple(int(i) for i in index), self.role)


class Origins(Sequence[GateOrigin], ABC):
    """Origins of gates, made one by one."""

    @abstractmethod
    def origin(self, number: int) -> GateOrigin:
        """The origin of a gate that there is."""

    @overload
    def __getitem__(self, number: int) -> GateOrigin: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[GateOrigin]: ...

    def __getitem__(self, number: int | slice) -> GateOrigin | Sequence[GateOrigin]:
        if isinstance(number, slice):
            return tuple(self[i] for i in range(*number.indices(len(self))))
        if not -len(self) <= number < len(self):
            raise IndexError(f"there is no gate {number}: the program has {len(self)}")
        return self.origin(number % len(self))


class GateOrigins(Origins):
    """The origins of all gates, one group after another."""

    def __init__(self, groups: Sequence[OriginGroup]) -> None:
        self.groups = tuple(groups)
        self._start = (0, *accumulate(len(group) for group in self.groups))

    def __len__(self) -> int:
        return self._start[-1]

    def origin(self, number: int) -> GateOrigin:
        group = bisect_right(self._start, number) - 1
        return self.groups[group][number - self._start[group]]

    def __iter__(self) -> Iterator[GateOrigin]:
        for group in self.groups:
            for number in range(len(group)):
                yield group[number]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]
