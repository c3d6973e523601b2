"""What is known of gates that never switch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from polyfold._base.notebook import InNotebooks
from polyfold._base.truth import NoTruthValue
from polyfold.errors import how_many
from polyfold.program.origins import GateOrigin

Behaviour = Literal["on", "off", "switches", "undecided"]
BEHAVIOURS: tuple[Behaviour, ...] = ("on", "off", "switches", "undecided")


@dataclass(frozen=True, eq=False, repr=False)
class Stability(NoTruthValue, InNotebooks):
    """How every gate behaves on a domain.

    `behaviour` has a word for each gate, in the program's order: "on" (its pre-activation is nowhere negative, so it
    passes everything on), "off" (nowhere positive), "switches" (points of both signs are known) or "undecided".
    `proof` says for gates that are on or off what proves it. `origins` are their names.
    """

    behaviour: tuple[Behaviour, ...]
    proof: tuple[str, ...]
    origins: Sequence[GateOrigin]
    network_digest: str
    domain_digest: str
    seconds: float

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

    def to_json(self) -> dict[str, Any]:
        """Numbers and words only."""
        return {
            "counts": self.counts,
            "gates": [
                {"gate": str(origin), "behaviour": word, "proof": proof or None}
                for origin, word, proof in zip(self.origins, self.behaviour, self.proof, strict=True)
            ],
            "seconds": self.seconds,
        }


_SAID = {"on": "always on", "off": "always off", "switches": "switch", "undecided": "undecided"}
