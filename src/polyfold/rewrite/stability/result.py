"""What is known of gates that never switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from polyfold._base.result import Rows
from polyfold.errors import how_many
from polyfold.program.origins import GateOrigin

Behaviour = Literal["on", "off", "switches", "undecided"]
BEHAVIOURS: tuple[Behaviour, ...] = ("on", "off", "switches", "undecided")


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Rows):
    """How every gate behaves on a domain.

    Attributes
    ----------
    behaviour : tuple of str
        A word for each gate, in the program's order: "on" (its pre-activation is nowhere negative, so it passes
        everything on), "off" (nowhere positive), "switches" (points of both signs are known) or "undecided".
    proof : tuple of str
        For gates that are on or off, what proves it.
    origins : sequence of GateOrigin
        Their names.
    network_digest, domain_digest : str
        What it was found on.
    """

    behaviour: tuple[Behaviour, ...]
    proof: tuple[str, ...]
    origins: Sequence[GateOrigin]
    network_digest: str
    domain_digest: str

    def __repr__(self) -> str:
        counts = self.counts
        said = ", ".join(f"{counts[word]:,} {_SAID[word]}" for word in BEHAVIOURS if counts[word])
        return f"Stability of {how_many(len(self.behaviour), 'gate')}: {said or 'none'}; {self.seconds:.3g} s"

    def ask_instead(self) -> str:
        return "found.counts says how many gates are on, off, switch or are undecided"

    @property
    def counts(self) -> dict[Behaviour, int]:
        """How many gates behave how."""
        return {word: self.behaviour.count(word) for word in BEHAVIOURS}

    def of(self, behaviour: Behaviour) -> list[str]:
        """The names of all gates that behave so."""
        return [str(self.origins[k]) for k, word in enumerate(self.behaviour) if word == behaviour]

    def rows(self) -> Mapping[str, Any]:
        names = [str(origin) for origin in self.origins]
        return {"gate": names, "behaviour": list(self.behaviour), "proof": [proof or None for proof in self.proof]}

    def facts(self) -> dict[str, Any]:
        columns = self.rows()
        gates = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"counts": self.counts, "gates": gates}


_SAID = {"on": "always on", "off": "always off", "switches": "switch", "undecided": "undecided"}
