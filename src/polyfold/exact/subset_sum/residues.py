"""Equations over 0/1 variables, modulo a prime: what any solution in integers satisfies too.

Elimination leaves a few free variables, and rows  s_pivot = constant - sum of coefficients times free variables. Rows
that share no free variable are apart from each other (parts). A part is searched variable by variable, where each row
whose variables are all set must come out as 0 or 1; or, if that leaves too many, by meeting in the middle.

A part without a solution proves that the integers have none. A solution is a proposal: modulo a prime something may
vanish that does not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import tick
from polyfold.exact.modular import blocks, reduced

Residues = npt.NDArray[np.uint64]
Choice = dict[int, int]
# Below 2^62, so that two residues can be added in 64 bits.
PRIMES = (2**61 - 1, 2**60 - 93, 2**59 - 55)
# Numbers that a search keeps at once: some hundred megabytes.
_MOST_ENTRIES = 1 << 23
# Variables that meet in the middle: four million sums on either side.
_MOST_VARIABLES = 44


class GaveUpError(Exception):
    """There was too much to search; the message says what."""


@dataclass(frozen=True)
class Row:
    """s_pivot = constant - sum of coefficients[j] s_j, modulo the prime."""

    pivot: int
    constant: int
    coefficients: dict[int, int]


@dataclass(frozen=True)
class Part:
    """Rows that share free variables, directly or through others."""

    rows: tuple[Row, ...]
    free: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.rows) + len(self.free)


def eliminated(equations: Sequence[Sequence[int]], targets: Sequence[int], prime: int) -> list[Row] | None:
    """The reduced rows of all equations; None if they contradict each other."""
    columns = len(equations[0])
    found = blocks([(*row, target) for row, target in zip(equations, targets, strict=True)], prime)
    if any(columns in block.pivots for block in found):
        return None
    rows = []
    for block in reduced(found):
        for number, pivot in enumerate(block.pivots):
            tick()
            line = [int(block.rows[number, j]) for j in range(columns + 1)]
            behind = range(pivot + 1, columns)
            rows.append(Row(pivot, line[-1], {j: line[j] for j in behind if line[j]}))
    return sorted(rows, key=lambda row: row.pivot)


def parts(rows: Sequence[Row], variables: int) -> list[Part]:
    """All rows and free variables, in parts that have nothing to do with each other."""
    pivots = {row.pivot for row in rows}
    leader = list(range(variables))

    def find(j: int) -> int:
        while leader[j] != j:
            leader[j] = leader[leader[j]]
            j = leader[j]
        return j

    for row in rows:
        tick()
        for j in row.coefficients:
            leader[find(j)] = find(row.pivot)
    found: dict[int, tuple[list[Row], list[int]]] = {}
    for row in rows:
        found.setdefault(find(row.pivot), ([], []))[0].append(row)
    for j in range(variables):
        if j not in pivots:
            found.setdefault(find(j), ([], []))[1].append(j)
    return [Part(tuple(some), tuple(free)) for some, free in found.values()]


def solutions(part: Part, prime: int) -> Iterator[Choice]:
    """All choices of 0 and 1 that solve a part; GaveUpError if there is too much to look at."""
    found = _variable_by_variable(part, prime)
    if found is not None:
        return found
    if part.size > _MOST_VARIABLES:
        raise GaveUpError(f"{part.size} variables that depend on each other have too many combinations to try all")
    return _from_both_halves(part, prime)


def _variable_by_variable(part: Part, prime: int) -> Iterator[Choice] | None:
    order = _order(part)
    place = {j: number for number, j in enumerate(order)}
    last = [max((place[j] for j in row.coefficients), default=-1) for row in part.rows]
    constants = np.array([row.constant for row in part.rows], dtype=np.uint64)
    chosen = np.zeros((1, 0), dtype=np.uint8)
    values = constants[None, :]  # what is left of every row
    modulus = np.uint64(prime)
    open_rows = list(range(len(part.rows)))
    for step in range(-1, len(order)):
        if step >= 0:
            tick()
            if 2 * len(chosen) * (len(open_rows) + len(order) // 8 + 1) > _MOST_ENTRIES:
                return None
            coefficients = [part.rows[k].coefficients.get(order[step], 0) for k in open_rows]
            less = np.array([(prime - value) % prime for value in coefficients], dtype=np.uint64)
            values = np.concatenate([values, (values + less) % modulus])
            bit = np.repeat(np.array([0, 1], dtype=np.uint8), len(chosen))
            chosen = np.column_stack([np.concatenate([chosen, chosen]), bit])
        complete = [at for at, k in enumerate(open_rows) if last[k] == step]
        if complete:
            good = (values[:, complete] <= 1).all(axis=1)
            rest = [at for at in range(len(open_rows)) if at not in complete]
            chosen, values = chosen[good], values[good][:, rest]
            open_rows = [open_rows[at] for at in rest]
    return _choices(part, order, chosen, prime)


def _order(part: Part) -> list[int]:
    """Free variables in an order that completes rows early."""
    order: list[int] = []
    missing = [set(row.coefficients) for row in part.rows]
    while len(order) < len(part.free):
        waiting = [some for some in missing if some]
        shortest: set[int] = min(waiting, key=len, default=set(part.free).difference(order))
        following = sorted(shortest)
        order.extend(following)
        missing = [some.difference(following) for some in missing]
    return order


def _choices(part: Part, order: Sequence[int], chosen: npt.NDArray[np.uint8], prime: int) -> Iterator[Choice]:
    for line in chosen:
        choice = dict(zip(order, line.tolist(), strict=True))
        for row in part.rows:
            choice[row.pivot] = _value(row, choice, prime)
        yield choice


def _value(row: Row, choice: Choice, prime: int) -> int:
    return (row.constant - sum(value * choice[j] for j, value in row.coefficients.items())) % prime


def _from_both_halves(part: Part, prime: int) -> Iterator[Choice]:
    """All rows as one, by random factors: sums over one half of the variables that complete sums over the other."""
    factors = random.Random(0)
    weights = [factors.randrange(1, prime) for _ in part.rows]
    sums = dict.fromkeys(part.free, 0)
    for row, weight in zip(part.rows, weights, strict=True):
        sums[row.pivot] = weight
        for j, value in row.coefficients.items():
            sums[j] = (sums[j] + weight * value) % prime
    target = sum(row.constant * weight for row, weight in zip(part.rows, weights, strict=True)) % prime
    variables = sorted(sums)
    left, right = variables[: len(variables) // 2], variables[len(variables) // 2 :]
    have = _all_sums([sums[j] for j in left], prime)
    lack = (np.uint64(target) + np.uint64(prime) - _all_sums([sums[j] for j in right], prime)) % np.uint64(prime)
    tick()
    # Both in order, or looking up millions of sums takes ten times as long.
    ones, others = np.argsort(have), np.argsort(lack)
    tick()
    have, lack = have[ones], lack[others]
    first, behind = np.searchsorted(have, lack, "left"), np.searchsorted(have, lack, "right")
    for place in np.flatnonzero(first < behind).tolist():
        other = int(others[place])
        for one in ones[first[place] : behind[place]].tolist():
            tick()
            choice = {j: one >> k & 1 for k, j in enumerate(left)} | {j: other >> k & 1 for k, j in enumerate(right)}
            if all(_value(row, choice, prime) == choice[row.pivot] for row in part.rows):
                yield choice


def _all_sums(values: Sequence[int], prime: int) -> Residues:
    """Sums over all subsets; bit k of a sum's number says whether value k is in it."""
    sums = np.zeros(1, dtype=np.uint64)
    for value in values:
        tick()
        sums = np.concatenate([sums, (sums + np.uint64(value)) % np.uint64(prime)])
    return sums
