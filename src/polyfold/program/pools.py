"""Pools as switches of k ways: which comparisons of a tournament decide anything, given how the others came out.

The largest of k values is found by a tournament of k - 1 matches, each a gate (`lower/tournament.py`). Once the final
is decided, the matches on the loser's side say nothing about the network's value: their gates are idle. The winner is
told by the gates that are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyfold._base.read_only import ReadOnly
from polyfold._base.types import Flags, Ids, Signs


@dataclass(frozen=True, eq=False)
class Pools(ReadOnly):
    """The matches of all tournaments of a program.

    Match m is gate[m]: off where the winner of its left side wins, on where that of its right side does. left[m] and
    right[m] are the gates of the matches that these two have won; -1 for one that has not played before. All members
    of its pool are known to the gates of stage known[m], counted from 0.
    """

    gate: Ids
    left: Ids
    right: Ids
    known: Ids

    @property
    def any_idle(self) -> bool:
        """Whether some gate can be idle: a pool has three members or more."""
        return bool((self.left >= 0).any() or (self.right >= 0).any())

    def idle(self, signs: Signs) -> Flags:
        """The gates that decide nothing under each of these patterns: those of matches on a loser's side."""
        found = np.zeros(signs.shape, dtype=bool)
        for level in self._levels:
            gate = self.gate[level]
            for before, loses in ((self.left[level], signs[:, gate]), (self.right[level], ~signs[:, gate])):
                played = before >= 0
                found[:, before[played]] = found[:, gate[played]] | loses[:, played]
        return found

    def with_idle_off(self, signs: Signs) -> Signs:
        """Patterns that say of pools who wins and no more: the gates that are idle are off."""
        some: Signs = signs & ~self.idle(signs)
        return some

    @cached_property
    def trees(self) -> list[list[int]]:
        """The pools in which gates can be idle: their matches, the final first, every match behind the one it leads to.

        The finals come in the order of their gates.
        """
        of_gate = {gate: match for match, gate in enumerate(self.gate.tolist())}
        left, right = self.left.tolist(), self.right.tolist()
        found = []
        for final in self._finals.tolist():
            tree = [final]
            for match in tree:
                tree += [of_gate[gate] for gate in (left[match], right[match]) if gate >= 0]
            if len(tree) > 1:
                found.append(tree)
        return found

    @property
    def _finals(self) -> Ids:
        first: Ids = np.flatnonzero(~np.isin(self.gate, np.concatenate([self.left, self.right])))
        return first[np.argsort(self.gate[first])]

    @cached_property
    def _levels(self) -> list[Ids]:
        """Matches by how many there are between them and their final."""
        order = np.argsort(self.gate)
        levels, level = [], self._finals
        while len(level):
            levels.append(level)
            before = np.concatenate([self.left[level], self.right[level]])
            level = order[np.searchsorted(self.gate[order], before[before >= 0])]
        return levels


_NOBODY = np.zeros(0, dtype=np.int64)
_NOBODY.setflags(write=False)
NO_POOLS = Pools(_NOBODY, _NOBODY, _NOBODY, _NOBODY)
