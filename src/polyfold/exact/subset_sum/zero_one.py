"""Which of some vectors add up to a given one: exact, or unknown.

The question contains subset sum, which is NP-hard, so no way is quick on all inputs. What makes most of them easy is
structure: every independent equation settles a variable, and what is left falls into parts (residues.py). Where parts
are too large, a basis of all integer solutions may decide (lattice.py), or linear and integer programs propose
(guides.py). Nothing counts until it is checked in integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, inf, lcm
from typing import Literal

import numpy as np
from flint import fmpq

from polyfold._base.clock import Clock, OutOfTimeError, running, tick
from polyfold._base.result import Verdict, answered
from polyfold._base.types import Ids
from polyfold.errors import how_many
from polyfold.exact.rational_arrays import Rationals, zeros
from polyfold.exact.subset_sum.guides import Equations, contradiction, proposal
from polyfold.exact.subset_sum.lattice import by_lattice, seconds_for
from polyfold.exact.subset_sum.outer_products import OuterProducts
from polyfold.exact.subset_sum.residues import PRIMES, Choice, GaveUpError, eliminated, parts, solutions

Vectors = Rationals | OuterProducts

# Without a limit, a basis of all integer solutions that would take longer than this is not looked for.
_SECONDS_FOR_A_BASIS = 10.0


@dataclass(frozen=True)
class Subset(Verdict):
    """ "found", with the members; "none", proved; or "unknown". `how` says what was done to find out."""

    words = ("found", "none", "unknown")

    status: Literal["found", "none", "unknown"]
    members: tuple[int, ...]
    how: str

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        """Whether there is one."""
        return {"found": "yes", "none": "no", "unknown": "unknown"}[self.status]  # type: ignore[return-value]

    def ask_instead(self) -> str:
        return "look at its status and at how it was looked for"


def subset_with_sum(vectors: Vectors, target: Rationals) -> Subset:
    """Which columns of `vectors` (k, n) add up to `target` (k,), in the time that the running clock leaves.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> subset_with_sum(rationals([[1, 2, 4, 8]]), rationals([11])).members
    (0, 1, 3)
    >>> subset_with_sum(rationals([[1, 2], [1, 0]]), rationals([2, 1])).status
    'none'
    """
    if not target.any():
        return answered(Subset("found", (), "the sum over no column is zero"))
    return answered(_decided(vectors, target, False))


def nonempty_subset_without_sum(vectors: Vectors) -> Subset:
    """Which columns of `vectors` (k, n), at least one, add up to zero.

    >>> from polyfold.exact.rational_arrays import rationals
    >>> nonempty_subset_without_sum(rationals([[1, 0, -1], [0, 1, -1]])).members
    (0, 1, 2)
    >>> nonempty_subset_without_sum(rationals([[1, 0, -2], [0, 1, -1]])).status
    'none'
    """
    zero = _columns_of_zeros(vectors)
    if len(zero):
        return answered(Subset("found", (int(zero[0]),), "it is zero by itself"))
    return answered(_decided(vectors, zeros(len(vectors)), True))


def _columns_of_zeros(vectors: Vectors) -> Ids:
    there = np.zeros(vectors.shape[1], dtype=bool)
    for number in range(len(vectors)):
        if there.all():
            break
        tick()
        there |= np.asarray(vectors[number] != 0, dtype=bool)
    return np.flatnonzero(~there)


def _decided(vectors: Vectors, target: Rationals, nonempty: bool) -> Subset:
    # Some of the equations are enough if they have no solution, and then the others need not be written in integers.
    step = len(vectors) // (2 * vectors.shape[1] + 1)
    if step > 1:
        some = _Question(*_integers(vectors, target, step), vectors.shape[1], nonempty)
        if (why := some.why_none()) is not None:
            return Subset("none", (), why)
    return _Question(*_integers(vectors, target), vectors.shape[1], nonempty).answer()


class _Question:
    """Equations over 0/1 variables; with `nonempty`, zero is no answer."""

    def __init__(self, equations: Equations, targets: Sequence[int], variables: int, nonempty: bool) -> None:
        self.equations, self.targets, self.variables = equations, targets, variables
        self.nonempty = nonempty

    def answer(self) -> Subset:
        if not self.variables:
            return Subset("none", (), "there is nothing to choose from")
        try:
            for prime in PRIMES:
                found = self._by_residues(prime)
                if found is not None:
                    return found
        except GaveUpError as error:
            found = self._by_lattice()
            return self._by_guides(str(error)) if found is None else found
        return self._by_guides("what solves the equations modulo several primes does not solve them")

    def why_none(self) -> str | None:
        """Why there is no solution, if one look, in half of the time, is enough to see that there is none."""
        half = running().left / 2
        try:
            with Clock(None if half == inf else half):
                found = self._by_residues(PRIMES[0]) if self.equations else None
        except (GaveUpError, OutOfTimeError):
            tick()
            return None
        return found.how if found is not None and found.status == "none" else None

    def _by_residues(self, prime: int) -> Subset | None:
        """An answer, or None if the prime is unlucky: the equations have a solution modulo it that is none."""
        rows = eliminated(self.equations, self.targets, prime)
        free = self.variables - len(rows or ())
        how = f"elimination leaves {free:,} of {how_many(self.variables, 'variable')} free"
        if rows is None:
            return Subset("none", (), f"the {how_many(len(self.equations), 'equation')} contradict each other")
        chosen: Choice = {}
        for part in parts(rows, self.variables):
            found = solutions(part, prime)
            choice = next((one for one in found if not self.nonempty or any(one.values())), None)
            if choice is None and not self.nonempty:
                return Subset("none", (), f"{how}, and no way to set them")
            if choice is not None:
                chosen.update(choice)
                if self.nonempty:
                    break
        members = tuple(sorted(j for j, value in chosen.items() if value))
        if self.nonempty and not members:
            return Subset("none", (), f"{how}, and no way to set them but to zero")
        return Subset("found", members, how) if self._is_solution(members) else None

    def _by_lattice(self) -> Subset | None:
        """An answer that a basis of all integer solutions gives, if it does."""
        left = running().left
        if seconds_for(self.variables) > (_SECONDS_FOR_A_BASIS if left == inf else left):
            return None
        found = by_lattice(self.equations, self.targets, self.nonempty)
        if found.none:
            return Subset("none", (), "integer solutions are too long to be zeros and ones (a reduced basis shows it)")
        solved = next((members for members in found.proposals if self._is_solution(members)), None)
        return None if solved is None else Subset("found", solved, "part of a reduced basis of all integer solutions")

    def _by_guides(self, how: str) -> Subset:
        y = contradiction(self.equations, self.targets, self.nonempty)
        if y is not None and self._contradicts(y):
            return Subset("none", (), "a combination of the equations has one sign for every choice")
        variables = proposal(self.equations, self.targets, self.nonempty)
        if variables is not None:
            members = tuple(j for j, value in enumerate(variables) if value)
            if self._is_solution(members):
                return Subset("found", members, "found by an integer program in floats, checked in integers")
        return Subset("unknown", (), f"{how}; a linear program proved nothing, an integer program found nothing")

    def _is_solution(self, members: Sequence[int]) -> bool:
        if self.nonempty and not members:
            return False
        sums = (sum(row[j] for j in members) for row in self.equations)
        return all(found == target for found, target in zip(sums, self.targets, strict=True))

    def _contradicts(self, y: Sequence[fmpq]) -> bool:
        """Whether y proves that there is no solution: in rationals, so that it does not matter where y comes from."""
        used = [
            (factor, row, target) for factor, row, target in zip(y, self.equations, self.targets, strict=True) if factor
        ]
        combined = [sum((factor * row[j] for factor, row, _ in used), fmpq(0)) for j in range(self.variables)]
        target = sum((factor * value for factor, _, value in used), fmpq(0))
        if self.nonempty:
            return all(value > 0 for value in combined)
        reach = [sum((value for value in combined if value * sign > 0), fmpq(0)) for sign in (-1, 1)]
        return not reach[0] <= target <= reach[1]


def _integers(vectors: Vectors, target: Rationals, step: int = 1) -> tuple[list[list[int]], list[int]]:
    """Every so many equations in smallest integers, without those that say nothing and those that say the same."""
    found: dict[tuple[int, ...], None] = {}
    for number in range(0, len(vectors), step):
        tick()
        row = [*vectors[number].tolist(), target[number]]
        if any(row):
            scale = lcm(*(int(value.q) for value in row))
            whole = [int(value.p) * (scale // int(value.q)) for value in row]
            common = gcd(*whole)
            found[tuple(value // common for value in whole)] = None
    return [list(row[:-1]) for row in found], [row[-1] for row in found]
