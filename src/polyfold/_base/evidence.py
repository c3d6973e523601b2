"""Evidence: what an answer rests on. No answer is surer than what it was read off.

"proved" follows from evidence and is nowhere a flag of its own. Evidence belongs to the answer that it was given with,
and to this process: an answer that was edited has none, and one that comes out of a pickle has a record of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from polyfold._base.as_found import AsFound, first_hand
from polyfold._base.notebook import InNotebooks
from polyfold._base.when_read import WhenRead, replaced

Level = Literal["counted", "checked", "certified"]

THE_NETWORK = "the network"

_LEVELS: tuple[Level, ...] = ("counted", "checked", "certified")


@dataclass(frozen=True, repr=False)
class Evidence(WhenRead, AsFound, InNotebooks):
    """What an answer rests on.

    `level`, `complete`, `stopped_by` and `recorded` are those of the atlas's certificate, and the digests those of what
    it speaks of; `domain` is the domain itself. `of` says whether that is the network's function to the last digit, and
    `head` what the model does behind it. Answers that need no atlas have a `proof` of their own, in words, and no
    level. `rounding` says in words what stood for numbers that floats or rationals lack; what is proved has room for
    it. Without level and proof nothing is proved; without digests the answer was put together by hand, or edited.
    """

    network_digest: str
    domain_digest: str
    arrays_digest: str
    level: Level | None
    complete: bool
    stopped_by: str | None
    of: str = THE_NETWORK
    recorded: str = ""
    proof: str | None = None
    head: str = ""
    rounding: str = ""
    domain: Any = field(default=None, compare=False)

    @property
    def proved(self) -> bool:
        """Whether the cells were proved here, all of them, and of the network itself; or there is a proof without."""
        if self.of != THE_NETWORK or self.source:
            return False
        return self.proof is not None or (self.level == "certified" and self.complete)

    @property
    def source(self) -> str:
        """Where it is recorded, if that was not found out here: "in the file", "in another process" or "by hand"."""
        return self.hearsay or self.recorded

    @property
    def nothing(self) -> bool:
        """Whether nothing is proved or checked."""
        return self.level is None and self.proof is None

    @property
    def word(self) -> str:
        """The one word (or few) for an answer that nothing but its evidence can put in doubt."""
        if self.proved:
            return "proved"
        if self.nothing:
            return "computed in floats, not proved" if self.network_digest else "put together by hand"
        source = f" as recorded {self.source}" if self.source and self.level != "counted" else ""
        function = "" if self.of == THE_NETWORK else f" of {self.of.partition(':')[0]}"
        return f"{self.level or 'proved'}{source}{function}"

    def __repr__(self) -> str:
        return f"Evidence: {self}"

    def __str__(self) -> str:
        if self.level is None:
            return self.word if self.proof is None else f"{self.word}: {self.proof}"
        standing = "certified" if self.proved else self.word
        return f"{standing}, {'complete' if self.complete else 'incomplete'}"

    def to_json(self) -> dict[str, Any]:
        """All of it, for `json.dumps`."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        domain = None if self.domain is None else self.domain.to_json()
        return {"proved": self.proved} | said | {"recorded": self.source, "domain": domain}


NOTHING_KNOWN = Evidence("", "", "", None, False, None)


def weaker(first: Evidence, second: Evidence) -> Evidence:
    """Of an answer that needs both: the digests are those of the first."""
    if first.nothing or second.nothing:
        return NOTHING_KNOWN
    levels = [one.level or "certified" for one in (first, second)]
    return first_hand(
        replaced(
            first,
            level=min(levels, key=_LEVELS.index),
            complete=first.complete and second.complete,
            stopped_by=first.stopped_by or second.stopped_by,
            of=first.of if first.of != THE_NETWORK else second.of,
            recorded=first.source or second.source,
            proof=None,
            rounding=first.rounding or second.rounding,
        )
    )
