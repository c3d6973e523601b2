"""Certificate: what has been proved about an atlas, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyfold.network.html_table import InNotebooks

Level = Literal["counted", "checked", "certified"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what, how it came out, and the figures behind that."""

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.name} ({self.detail})"


@dataclass(frozen=True)
class Certificate(InNotebooks):
    """What is known about an atlas.

    `level` is "counted" (the engine finished or was stopped, and nothing more is known), "checked" (and every check
    below passed: the facets pair up, the witnesses have their patterns) or "certified" (soundness and completeness
    proved). It speaks of the network and the domain with these digests and of no others. `complete` is False where a
    limit or an interrupt stopped the engine; `stopped_by` then says which. `head` is what the model does behind the
    network, in words; it is part of the network's digest.
    """

    level: Level
    complete: bool
    method: str
    seconds: float
    threads: int
    network_digest: str
    domain_digest: str
    checks: tuple[Check, ...] = ()
    stopped_by: str | None = None
    head: str = ""

    def __str__(self) -> str:
        whole = "complete" if self.complete else f"incomplete (stopped by {self.stopped_by})"
        failed = "".join(f", CHECK FAILED: {check.name}" for check in self.failed_checks)
        head = f", outputs are scores before {self.head}" if self.head else ""
        return f"{self.level}, {whole}{failed}, {self.method}, {self.seconds:.3g} s{head}"

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The checks that did not pass. There should be none: one means a fault of polyfold's, or changed arrays."""
        return tuple(check for check in self.checks if not check.passed)
