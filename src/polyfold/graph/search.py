"""A way between two cells where nobody has listed the cells: some way first, then the proof that none is shorter."""

from __future__ import annotations

from heapq import heappop, heappush

from polyfold._base.clock import running
from polyfold.engine.cells.frontier import Found
from polyfold.graph.neighbourhood import Around, Neighbourhood, Separation, Step, key

# How a cell was reached: from which one, and by which step.
_Came = dict[bytes, tuple[bytes, Step] | None]


class RouteSearch:
    """Two searches over the same cells.

    The first one goes where the pattern differs least from the goal's, and takes any way. The second one is A*: it
    looks at cells in the order of hops so far plus `Separation`, which changes by one a hop at most, and leaves out
    what cannot be shorter than the way known. When nothing is left, that way is a shortest one.
    """

    def __init__(self, around: Neighbourhood, first: Found, last: Found, limit: int | None) -> None:
        self._around = around
        self._first, self._last = first, last
        self._goal = key(last.signs)
        self._limit = limit
        self._separation = Separation(around.cells, last.signs)
        self._sure = True
        self._best: list[Step] | None = None
        self.lower = self._separation(first.signs)
        self.stopped_by: str | None = None

    @property
    def looked_at(self) -> int:
        return len(self._around)

    @property
    def cells(self) -> list[Found]:
        """The cells on the best way found."""
        return [self._first, *(step.to for step in self.steps)]

    @property
    def steps(self) -> list[Step]:
        """The steps of the best way found."""
        assert self._best is not None
        return self._best

    @property
    def found(self) -> bool:
        """Whether there is a way."""
        return self._best is not None

    def run(self) -> None:
        """Some way, and then the proof that none is shorter; `stopped_by` says what ended this before its end."""
        if self._greedy():
            self._prove()
        if self.found and self.lower == len(self.steps):
            self.stopped_by = None
        elif self.stopped_by is None:
            self.stopped_by = "undecided walls"

    def _look(self, cell: Found) -> Around | None:
        if self._limit is not None and self.looked_at >= self._limit and cell not in self._around:
            self.stopped_by = "max_cells"
            return None
        if not self._may_go_on():
            return None
        found = self._around.around(cell, self._may_go_on)
        if found is not None and not found.sure:
            self._sure = False
        return found

    def _may_go_on(self) -> bool:
        clock = running()
        clock.tell(self.looked_at, what="cells looked at")
        self.stopped_by = clock.stopped_by
        return self.stopped_by is None

    def _greedy(self) -> bool:
        """Any way, quickly; whether there is one."""
        came: _Came = {key(self._first.signs): None}
        heap: list[tuple[int, int, Found]] = [(0, 0, self._first)]
        while heap:
            cell = heappop(heap)[2]
            here = key(cell.signs)
            if here == self._goal:
                self._best = _way(came, here)
                return True
            found = self._look(cell)
            if found is None:
                return False
            for step in found.steps:
                there = key(step.to.signs)
                if there not in came:
                    came[there] = here, step
                    far = int((step.to.signs != self._last.signs).sum())
                    heappush(heap, (far, len(came), step.to))
        self.stopped_by = "undecided walls"
        return False

    def _prove(self) -> None:
        assert self._best is not None
        first = key(self._first.signs)
        came: _Came = {first: None}
        hops, count = {first: 0}, 0
        heap: list[tuple[int, int, int, Found]] = [(self.lower, 0, 0, self._first)]
        while heap and heap[0][0] < len(self._best):
            if self._sure:
                self.lower = max(self.lower, heap[0][0])
            _, minus_hops, _, cell = heap[0]
            here = key(cell.signs)
            if -minus_hops > hops[here]:
                heappop(heap)
                continue
            if here == self._goal:
                self._best = _way(came, here)
                break
            found = self._look(cell)
            if found is None:
                return
            heappop(heap)
            for step in found.steps:
                there, far = key(step.to.signs), hops[here] + 1
                if far < hops.get(there, len(self._best)):
                    hops[there], came[there] = far, (here, step)
                    count += 1
                    heappush(heap, (far + self._separation(step.to.signs), -far, count, step.to))
        if self._sure:
            self.lower = len(self._best)


def _way(came: _Came, last: bytes) -> list[Step]:
    steps: list[Step] = []
    while (before := came[last]) is not None:
        last = before[0]
        steps.append(before[1])
    return steps[::-1]
