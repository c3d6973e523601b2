"""In which order a search looks at the cells it has found: breadth, depth, at random, or towards a target."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
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


@dataclass(frozen=True, eq=False)
class Ahead:
    """A cell that a search has seen, and a way in: through a point on a facet and one that lies beyond it.

    The way passes the cell behind the facet, but may end beyond that. A cell with a witness needs no way.
    """

    signs: Signs
    on: Array
    beyond: Array
    witness: Witness | None = None


def at_witness(found: Found) -> Ahead:
    """A cell of which a witness is known."""
    return Ahead(found.signs, found.witness.point, found.witness.point, found.witness)


class Frontier(Protocol):
    """Cells to look at, each handed out once."""

    def add(self, ahead: Ahead) -> None: ...
    def take(self) -> Ahead: ...
    def keep(self, count: int) -> None:
        """Forget what would not be among the next `count` cells taken, whatever is still added."""

    def __len__(self) -> int: ...


class Breadth:
    """First found, first looked at."""

    def __init__(self) -> None:
        self._cells: deque[Ahead] = deque()

    def add(self, ahead: Ahead) -> None:
        self._cells.append(ahead)

    def take(self) -> Ahead:
        return self._cells.popleft()

    def keep(self, count: int) -> None:
        while len(self._cells) > count:
            self._cells.pop()

    def __len__(self) -> int:
        return len(self._cells)


class Depth:
    """Last found, first looked at."""

    def __init__(self) -> None:
        self._cells: deque[Ahead] = deque()

    def add(self, ahead: Ahead) -> None:
        self._cells.append(ahead)

    def take(self) -> Ahead:
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
        self._cells: list[Ahead] = []
        self._fresh = 0  # cells found since the last one was taken

    def add(self, ahead: Ahead) -> None:
        self._cells.append(ahead)
        self._fresh += 1

    def take(self) -> Ahead:
        among = self._fresh or len(self._cells)
        self._fresh = 0
        return self._cells.pop(len(self._cells) - 1 - int(self._rng.integers(among)))

    def keep(self, count: int) -> None:
        """Any of them may be next."""

    def __len__(self) -> int:
        return len(self._cells)


class Best:
    """Nearest to a target first, where points on the way in are measured."""

    def __init__(self, distance: Callable[[Array], float]) -> None:
        self._distance = distance
        self._cells: list[tuple[float, int, Ahead]] = []
        self._count = 0

    def add(self, ahead: Ahead) -> None:
        self._count += 1  # ties go to who came first
        heappush(self._cells, (self._distance(ahead.on), self._count, ahead))

    def take(self) -> Ahead:
        return heappop(self._cells)[2]

    def keep(self, count: int) -> None:
        if len(self._cells) > 2 * count:
            self._cells = nsmallest(count, self._cells)  # sorted, so it is a heap

    def __len__(self) -> int:
        return len(self._cells)
