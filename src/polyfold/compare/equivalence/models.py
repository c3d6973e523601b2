"""Two models to be compared, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyfold.atlas.certificate import Certificate
from polyfold.compare.equivalence.result import Difference, Said
from polyfold.compare.equivalence.sides import Side
from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.network.head import Head
from polyfold.program.program import Program


@dataclass(frozen=True, eq=False)
class Models:
    """Two models, with their heads, where they are compared and how many cells may be listed.

    `alike`: both are one network, step by step, whatever was rounded.
    """

    sides: tuple[Side, Side]
    place: BoundedDomain
    max_cells: int | None
    threads: int | None
    alike: bool

    @property
    def rounded(self) -> bool:
        """Whether a program may be something else than its network, so that it proves nothing of that."""
        return any(program.rounded for program in self.programs) and not self.alike

    @property
    def first(self) -> Program:
        return self.sides[0].program

    @property
    def second(self) -> Program:
        return self.sides[1].program

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

    verdict: Said
    by_output: tuple[Difference, ...]
    compared: str
    method: str
    certificate: Certificate | None = None
    stopped_by: str | None = None
    certain: bool = False


def nothing_known() -> Difference:
    """A difference of which nothing is known."""
    return Difference(Fraction(0), float("inf"))
