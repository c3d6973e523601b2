"""Step: one thing that was done to a network, with the neurons it was done to and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyfold.program.origins import GateOrigin

Rule = Literal["R1", "R2", "R3", "domain", "flip", "linear part"]


@dataclass(frozen=True)
class Step:
    """`rule` is R1, R2 or R3 of paper 004; "domain": a wall that misses the domain; "flip": psi; "linear part": how
    N(x) is written with neurons, or why it is not. `neurons` have the names that they had in the network given."""

    rule: Rule
    neurons: tuple[GateOrigin, ...]
    why: str

    def __str__(self) -> str:
        names = ", ".join(str(origin) for origin in self.neurons)
        return f"{self.rule}: {names}: {self.why}" if names else f"{self.rule}: {self.why}"
