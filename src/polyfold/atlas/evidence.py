"""Evidence: what an answer about an atlas rests on. No answer is surer than the atlas that it was read off.

Every question over an atlas hands its evidence out with the answer: which network and domain it speaks of, what is
known of the cells, whether all of them are there. "proved" follows from that and is nowhere a flag of its own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import THE_NETWORK, Certificate, Level, what_is_spoken_of
from polyfold.atlas.domain import Domain
from polyfold.network.html_table import InNotebooks
from polyfold.program.program import Program

_LEVELS: tuple[Level, ...] = ("counted", "checked", "certified")


@dataclass(frozen=True)
class Evidence(InNotebooks):
    """What an answer rests on.

    `level`, `complete`, `stopped_by` and `recorded` are those of the atlas's certificate, and the digests those of what
    it speaks of. `of` says whether that is the network's function to the last digit, and `head` what the model does
    behind it. Answers that need no atlas have a `proof` of their own, in words, and no level.
    """

    network_digest: str
    domain_digest: str
    arrays_digest: str
    level: Level | None
    complete: bool
    stopped_by: str | None
    of: str = THE_NETWORK
    recorded: bool = False
    proof: str | None = None
    head: str = ""

    @property
    def proved(self) -> bool:
        """Whether the cells were proved here, all of them, and of the network itself; or there is a proof without."""
        if self.of != THE_NETWORK:
            return False
        return self.proof is not None or (self.level == "certified" and self.complete and not self.recorded)

    @property
    def word(self) -> str:
        """The one word (or few) for an answer that nothing but its evidence can put in doubt."""
        if self.proved:
            return "proved"
        source = " as recorded in the file" if self.recorded and self.level != "counted" else ""
        function = "" if self.of == THE_NETWORK else f" of {self.of.partition(':')[0]}"
        return f"{self.level or 'proved'}{source}{function}"

    def __str__(self) -> str:
        if self.level is None:
            return f"{self.word}: {self.proof}"
        standing = "certified" if self.proved else self.word
        return f"{standing}, {'complete' if self.complete else 'incomplete'}"

    def to_json(self) -> dict[str, Any]:
        """All of it: words and truth values only."""
        return {"proved": self.proved} | asdict(self)


class HoldsAtlas(Protocol):
    """A result that keeps the atlas that was asked."""

    @property
    def atlas(self) -> Atlas: ...


class OverAnAtlas:
    """A result that keeps the atlas it was read off, and is as sure as that one."""

    @property
    def evidence(self: HoldsAtlas) -> Evidence:
        """What is known of the atlas that was asked."""
        return evidence_of(self.atlas)


def evidence_of(atlas: Atlas) -> Evidence:
    """What is known of an atlas."""
    return replace(evidence_from(atlas.certificate), of=what_is_spoken_of(atlas.program))


def evidence_from(said: Certificate) -> Evidence:
    """What a certificate says, as the evidence of an answer."""
    return Evidence(
        said.network_digest,
        said.domain_digest,
        said.arrays_digest,
        said.level,
        said.complete,
        said.stopped_by,
        said.of,
        said.recorded,
        head=said.head,
    )


def proof_without_atlas(program: Program, domain: Domain, proof: str, stopped_by: str | None = None) -> Evidence:
    """Of an answer that is proved without an atlas, unless something stopped it."""
    return Evidence(
        program.digest,
        domain.digest,
        "",
        None,
        stopped_by is None,
        stopped_by,
        what_is_spoken_of(program),
        False,
        proof,
    )


def weaker(first: Evidence, second: Evidence) -> Evidence:
    """Of an answer that needs both: the digests are those of the first."""
    levels = [one.level or "certified" for one in (first, second)]
    return replace(
        first,
        level=min(levels, key=_LEVELS.index),
        complete=first.complete and second.complete,
        stopped_by=first.stopped_by or second.stopped_by,
        of=first.of if first.of != THE_NETWORK else second.of,
        recorded=first.recorded or second.recorded,
        proof=None,
    )
