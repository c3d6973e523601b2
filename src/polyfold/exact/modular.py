"""Elimination modulo a prime, block of rows by block: flint holds the interpreter, so each step has to be short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from flint import nmod_mat

from polyfold._base.clock import tick

# So many products modulo a prime take some hundredths of a second.
_PRODUCTS_AT_ONCE = 1 << 27
_FEWEST_ROWS = 16


@dataclass(frozen=True, eq=False)
class Block:
    """Rows in echelon form: row k is 1 in the column pivots[k], where all other rows of the block are 0."""

    rows: nmod_mat
    pivots: tuple[int, ...]


def blocks(rows: Sequence[Sequence[int]], prime: int) -> list[Block]:
    """An echelon form of integer rows modulo a prime: together the blocks have as many pivots as the rank is.

    Rows of a block are 0 in the pivots of all blocks before it.

    >>> [block.pivots for block in blocks([[1, 2, 3], [2, 4, 7]], 101)]
    [(0, 2)]
    """
    columns = len(rows[0]) if rows else 0
    step = max(_FEWEST_ROWS, isqrt(_PRODUCTS_AT_ONCE // max(1, columns)))
    found: list[Block] = []
    for start in range(0, len(rows), step):
        some, entries = rows[start : start + step], []
        for row in some:
            tick()
            entries += [value % prime for value in row]
        left = nmod_mat(len(some), columns, entries, prime)
        for block in found:
            tick()
            left = _cleared(left, block)
        tick()
        reduced, rank = left.rref()
        if rank:
            found.append(Block(_first(reduced, rank), _pivots(reduced, rank)))
    return found


def reduced(found: list[Block]) -> list[Block]:
    """The blocks with zeros in the pivots of all others: the reduced echelon form, but for the order of its rows."""
    result: list[Block] = []
    for last in found:
        before = []
        for block in result:
            tick()
            before.append(Block(_cleared(block.rows, last), block.pivots))
        result = [*before, last]
    return result


def _cleared(rows: nmod_mat, block: Block) -> nmod_mat:
    """Rows without the block's pivots."""
    factors = [rows[i, pivot] for i in range(rows.nrows()) for pivot in block.pivots]
    width = len(block.pivots)
    by = nmod_mat(rows.nrows(), width, factors, rows.modulus())
    return rows - by * block.rows


def _first(rows: nmod_mat, count: int) -> nmod_mat:
    if count == rows.nrows():
        return rows
    columns = rows.ncols()
    return nmod_mat(count, columns, rows.entries()[: count * columns], rows.modulus())


def _pivots(reduced: nmod_mat, rank: int) -> tuple[int, ...]:
    pivots: list[int] = []
    at = 0
    for row in range(rank):
        while not int(reduced[row, at]):
            at += 1
        pivots.append(at)
        at += 1
    return tuple(pivots)
