"""The largest of several values as a tournament: pairs are compared, then the winners, until one is left.

Every comparison is a gate with a name: `pool[c,i,j].max(0,1)` compares the first two members of that window,
`pool[c,i,j].max(0-1,2-3)` the winners of the first four. It is on where the later one is larger.
"""

from __future__ import annotations

import numpy as np

from polyfold.program.lower.rows import Index, Rows
from polyfold.program.lower.writer import NodeGates


def tournament(place: NodeGates, x: Rows, members: Index) -> Rows:
    """The largest of some rows of x for every entry of the place's value.

    Line i of `members` (entries, most members) lists the rows for entry i; -1 where there are fewer.
    """
    most = members.shape[1]
    span = 1  # how many members a competitor stands for
    won = np.full(x.size, -1)  # the match that each competitor has won last
    depth = x.depth
    while members.shape[1] > 1:
        if members.shape[1] % 2:
            members = np.pad(members, ((0, 0), (0, 1)), constant_values=-1)
        x, won, members = _compared(place, x, won, members[:, 0::2], members[:, 1::2], span, most, depth)
        span *= 2
    return x.take(members[:, 0])


def _compared(
    place: NodeGates, x: Rows, won: Index, left: Index, right: Index, span: int, most: int, depth: int
) -> tuple[Rows, Index, Index]:
    """The winners of one round, the matches that they have won, and which of them play on for each entry."""
    remaining = np.full(left.shape, -1)
    parts: list[Rows] = []
    matches: list[Index] = []
    count = 0
    for pair in range(left.shape[1]):
        entries = np.flatnonzero((left[:, pair] >= 0) & (right[:, pair] >= 0))
        if len(entries):
            a, b = x.take(left[entries, pair]), x.take(right[entries, pair])
            # Off where they are equal: the earlier one wins.
            gates = place.gates(b.minus(a), _role(2 * pair * span, span, most), entries)
            parts.append(a.plus(gates))
            matches.append(place.writer.matches(gates, won[left[entries, pair]], won[right[entries, pair]], depth))
            remaining[entries, pair] = count + np.arange(len(entries))
            count += len(entries)
    # Who has no opponent plays on.
    alone = (left >= 0) ^ (right >= 0)
    parts.append(x.take(np.maximum(left, right)[alone]))
    matches.append(won[np.maximum(left, right)[alone]])
    remaining[alone] = count + np.arange(int(alone.sum()))
    return place.stacked([part for part in parts if part.size] or parts[:1]), np.concatenate(matches), remaining


def _role(first: int, span: int, most: int) -> str:
    """The members that are compared, by their places in the window."""

    def some(start: int) -> str:
        last = min(start + span, most) - 1
        return str(start) if start == last else f"{start}-{last}"

    return f"max({some(first)},{some(first + span)})"
