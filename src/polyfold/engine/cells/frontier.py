"""In which order a search looks at the cells it has found: breadth, depth, at random, or towards a target."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush, nsmallest
from typing import Protocol

import numpy as np

from polyfold._base.types import Array, Signs
from polyfold.engine.cells.facets import Witness


@dataclass(frozen=True, eq=False)
class Found:
    """A cell that was seen from a neighbour and has not been looked at yet."""

    signs: Signs
    witness: Witness


class Frontier(Protocol):
    """Cells to look at, each handed out once."""

    def add(self, found: Found) -> None: ...
    def take(self) -> Found: ...
    def keep(self, count: int) -> None:
        """Forget what would not be among the next `count` cells taken, whatever is still added."""

    def __len__(self) -> int: ...


class Breadth:
    """First found, first looked at."""

    def __init__(self) -> None:
        self._cells: deque[Found] = deque()

    def add(self, found: Found) -> None:
        self._cells.append(found)

    def take(self) -> Found:
        return self._cells.popleft()

    def keep(self, count: int) -> None:
        while len(self._cells) > count:
            self._cells.pop()

    def __len__(self) -> int:
        return len(self._cells)


class Depth:
    """Last found, first looked at."""

    def __init__(self) -> None:
        self._cells: deque[Found] = deque()

    def add(self, found: Found) -> None:
        self._cells.append(found)

    def take(self) -> Found:
        return self._cells.pop()

    def keep(self, count: int) -> None:
        while len(self._cells) > count:
            self._cells.popleft()

    def __len__(self) -> int:
        return len(self._cells)


class Wander:
    """A random walk that does not come back: on to a cell found from the last one, or to any if there is none."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._cells: list[Found] = []
        self._fresh = 0  # cells found since the last one was taken

    def add(self, found: Found) -> None:
        self._cells.append(found)
        self._fresh += 1

    def take(self) -> Found:
        among = self._fresh or len(self._cells)
        self._fresh = 0
        return self._cells.pop(len(self._cells) - 1 - int(self._rng.integers(among)))

    def keep(self, count: int) -> None:
        """Any of them may be next."""

    def __len__(self) -> int:
        return len(self._cells)


class Best:
    """Nearest to a target first."""

    def __init__(self, target: Array) -> None:
        self._target = target
        self._cells: list[tuple[float, int, Found]] = []
        self._count = 0

    def add(self, found: Found) -> None:
        self._count += 1  # ties go to who came first
        heappush(self._cells, (float(np.linalg.norm(found.witness.point - self._target)), self._count, found))

    def take(self) -> Found:
        return heappop(self._cells)[2]

    def keep(self, count: int) -> None:
        if len(self._cells) > 2 * count:
            self._cells = nsmallest(count, self._cells)  # sorted, so it is a heap

    def __len__(self) -> int:
        return len(self._cells)
