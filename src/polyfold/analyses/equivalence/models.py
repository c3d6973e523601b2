"""Two models to be compared, and within which limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from polyfold.analyses.equivalence.result import Difference, Verdict
from polyfold.analyses.place import Place
from polyfold.atlas.certificate import Certificate
from polyfold.network.head import Head
from polyfold.program.program import Program


@dataclass(frozen=True, eq=False)
class Models:
    """The programs of two models, with their heads, where they are compared and how many cells may be listed.

    `rounded`: a program may be something else than its network, by rounding, so that it proves nothing of that.
    """

    first: Program
    second: Program
    place: Place
    max_cells: int
    threads: int | None
    report: Callable[[int], None]
    rounded: bool

    @property
    def programs(self) -> tuple[Program, Program]:
        return self.first, self.second

    @property
    def heads(self) -> tuple[Head | None, Head | None]:
        return self.first.head, self.second.head

    @property
    def scores(self) -> tuple[int, int]:
        """How many scores each has."""
        return self.first.output_dim, self.second.output_dim


@dataclass(frozen=True, eq=False)
class Part:
    """What is known of some of the outputs: a verdict, differences and what they are differences of.

    `certain`: true of the models themselves, even if the programs were rounded.
    """

    verdict: Verdict
    by_output: tuple[Difference, ...]
    compared: str
    method: str
    certificate: Certificate | None = None
    stopped_by: str | None = None
    certain: bool = False


def nothing_known() -> Difference:
    """A difference of which nothing is known."""
    return Difference(Fraction(0), float("inf"))
