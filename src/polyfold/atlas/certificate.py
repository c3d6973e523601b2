"""Certificate: what has been proved about an atlas, and how.

A certificate belongs to what it speaks of. Its claims (a level above "counted", or that no cell is missing) come with
the digests of the network, of the domain and of every array of the atlas, and with the mark of the process that found
them out (`_base/as_found.py`). An atlas believes a certificate only if these fit (`believed`). So a level that was
typed in, or that was copied from another atlas, or whose arrays were exchanged since, counts for nothing; one that
another process has found is kept as its record. Certificates are sealed where something was found out: `sealed` is
called by the engine, by `check`, by `certify`, and by `open` for what a file says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from polyfold._base.as_found import BY_HAND, first_hand
from polyfold._base.evidence import THE_NETWORK, Evidence, Level
from polyfold._base.result import Verdict
from polyfold._base.when_read import WhenRead, read_from, replaced, waiting, when_read
from polyfold.domain.domain import Domain
from polyfold.program.exact_program import ExactProgram
from polyfold.program.program import Program

# The names of two checks: one that fails where a proof was not ended, and one of certificates that belong elsewhere.
SEEN = "every cell was looked at"
OF_THESE_ARRAYS = "the certificate speaks of these arrays"

# The name of the check of a run that was stopped before it found a cell.
ONE_AT_LEAST = "there is a cell at least"

# What `stopped_by` says of an atlas whose certificate was made for something else.
CHANGED = "a change of its arrays"


def what_is_spoken_of(program: Program | ExactProgram) -> str:
    """The function that everything said of a program is true of: that of the network, or a named neighbour of it.

    This is the one place where a program's roundings become words of certificates and evidence.
    """
    return THE_NETWORK if program.rounding is None else program.rounding.words().removeprefix("of ")


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what, how it came out, and the figures behind that."""

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}: {self.name} ({self.detail})"


@dataclass(frozen=True, repr=False)
class Certificate(WhenRead, Verdict):
    """What is known about an atlas.

    `level` is "counted" (the engine finished or was stopped, and nothing more is known), "checked" (and every check
    below passed: the facets pair up, the witnesses have their patterns) or "certified" (soundness and completeness
    proved). It speaks of the network and the domain with these digests and of no others, and `of` says whether that is
    the network's function to the last digit. `complete` is False where a limit or an interrupt stopped the engine;
    `stopped_by` then says which. `recorded` says where that is written, "in the file" or "in another process", if
    nothing else speaks for it: `pf.certify` has not proved it since. `head` is what the model does behind the network,
    in words; it is part of the network's digest.

    `arrays_digest` is that of all arrays of the atlas that it was made for, worked out when it is read; "" if it claims
    nothing of any. An atlas with other arrays keeps nothing of it but "counted", and so does any atlas of one that was
    typed in or edited.

    The verdict is yes if the atlas was checked or certified here, of the network itself, and no if a check failed.
    Anything else is unknown: a run or a proof that was cut short, a level that only a record knows of, or one of a
    neighbour of the network.

    Other results say of themselves what `complete`, `stopped_by` and `seconds` say here of the atlas and of the run
    that made it: they are fields, which files hold and `dataclasses.replace` keeps.
    """

    words = ("passed", "failed", "unknown")

    level: Level
    complete: bool = field()
    method: str
    seconds: float = field()
    threads: int
    network_digest: str
    domain_digest: str
    checks: tuple[Check, ...] = ()
    stopped_by: str | None = None
    head: str = ""
    of: str = THE_NETWORK
    recorded: str = field(default="", compare=False)
    arrays_digest: str = field(default_factory=str, compare=False)

    def __repr__(self) -> str:
        return f"Certificate: {self}"

    def __str__(self) -> str:
        if self.complete:
            whole = "complete"
        elif self.stopped_by == CHANGED:
            whole = "not known to be complete"
        else:
            whole = f"incomplete (stopped by {self.stopped_by})"
        failed = "".join(f", CHECK FAILED: {check.name}" for check in self.failed_checks)
        head = f", outputs are scores before {self.head}" if self.head else ""
        return f"{self.standing}, {whole}{failed}, {self.method}, {self.seconds:.3g} s{head}"

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        if any(check.name != SEEN for check in self.failed_checks):
            return "no"
        return "yes" if self.level != "counted" and not self.source and self.of == THE_NETWORK else "unknown"

    @property
    def evidence(self) -> Evidence:
        """What it says, as the evidence of an answer."""
        said = Evidence(
            self.network_digest,
            "",
            "",
            self.level,
            self.complete,
            self.stopped_by,
            self.of,
            self.source,
            head=self.head,
        )
        return first_hand(read_from(self, said, "domain_digest", "arrays_digest"))

    def facts(self) -> dict[str, Any]:
        return super().facts() | {"standing": self.standing, "recorded": self.source}

    def ask_instead(self) -> str:
        return "look at its level, its checks and what stopped it"

    @property
    def standing(self) -> str:
        """The level, and what must be said with it: that a record is its only source, that it is of a neighbour."""
        source = f" as recorded {self.source}" if self.source and self.level != "counted" else ""
        function = "" if self.of == THE_NETWORK else f" of {self.of}"
        return f"{self.level}{source}{function}"

    @property
    def source(self) -> str:
        """Where its claims are recorded, if they were not found out here."""
        return self.hearsay or self.recorded

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The checks that did not pass. There should be none: one means a fault of polyfold's, or changed arrays."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def none_found(self) -> bool:
        """Whether nothing is known but that there is a cell: a run was stopped before it found any."""
        return any(check.name == ONE_AT_LEAST and check.passed for check in self.checks)

    @property
    def claims(self) -> bool:
        """Whether it says more than that some cells were found."""
        return self.complete or self.level != "counted"

    @property
    def cut_short(self) -> bool:
        """Whether cells are missing because a limit or an interrupt stopped the engine."""
        return not self.complete and self.stopped_by != CHANGED

    @property
    def how_to_complete(self) -> str:
        """Why an atlas cannot be taken for complete, and what to do, for errors."""
        if self.stopped_by == CHANGED:
            refuted = [check.name for check in self.failed_checks if check.name not in (SEEN, OF_THESE_ARRAYS)]
            if refuted:
                return (
                    f"the atlas is not known to be complete (a check failed: {refuted[0]}; its certificate's "
                    "failed_checks say where): pf.unfold finds its cells anew"
                )
            return (
                "the atlas is not known to be complete (its arrays are not those that its certificate was made for): "
                "atlas.with_certificate(pf.certify(atlas)) proves what they hold now"
            )
        return f"the atlas is incomplete (stopped by {self.stopped_by}): pf.resume completes it"


def certificate_of(program: Program, domain: Domain, **said: Any) -> Certificate:
    """What is said of a program's cells on a domain, whose digest is worked out when it is read."""
    about = Certificate(network_digest=program.digest, domain_digest="", head=str(program.head or ""), **said)
    return when_read(about, domain_digest=domain.tell_digest)


def unclaimed(certificate: Certificate) -> Certificate:
    """The same run, with nothing claimed of it yet."""
    return first_hand(replaced(certificate, level="counted", complete=False, recorded="", arrays_digest=""))


def sealed(
    certificate: Certificate, program: Program, arrays_digest: str | Callable[[], str], *, recorded: str = ""
) -> Certificate:
    """A certificate that the atlas with these arrays believes. For those who have found out what it claims.

    Their digest may be given as what works it out when it is read.
    """
    digest = arrays_digest if certificate.claims else ""
    at_once = digest if isinstance(digest, str) else ""
    said = replaced(certificate, of=what_is_spoken_of(program), recorded=recorded, arrays_digest=at_once)
    return first_hand(said if isinstance(digest, str) else when_read(said, arrays_digest=digest))


def believed(
    certificate: Certificate,
    network_digest: str,
    domain: Domain,
    arrays_digest: Callable[[], str],
    *,
    of_these: bool = False,
) -> Certificate:
    """What an atlas of these keeps of a certificate: all of it if they fit, else "counted" and why.

    With `of_these` it was sealed for these very arrays, to which nobody can have written since: that needs no digest.
    """
    if not certificate.claims:
        return certificate
    reason = _doubt(certificate, network_digest, domain, arrays_digest, of_these)
    if reason is not None:
        said = f"{certificate.standing}{', complete' if certificate.complete else ''}"
        doubt = Check(OF_THESE_ARRAYS, False, f"it said {said!r}, but {reason}")
        return first_hand(replaced(unclaimed(certificate), checks=(doubt,), stopped_by=CHANGED))
    if certificate.hearsay:
        return first_hand(replaced(certificate, recorded=certificate.source))
    return certificate


def _doubt(
    certificate: Certificate,
    network_digest: str,
    domain: Domain,
    arrays_digest: Callable[[], str],
    of_these: bool,
) -> str | None:
    """Why a certificate is not believed."""
    if certificate.hearsay == BY_HAND or not (of_these or certificate.arrays_digest):
        return "nobody found that out: levels come from pf.unfold, pf.check and pf.certify"
    if certificate.network_digest != network_digest:
        return f"of network {certificate.network_digest[:12]}, and this is {network_digest[:12]}"
    of_it = waiting(certificate, "domain_digest") == domain.tell_digest
    if not of_it and certificate.domain_digest != domain.digest:
        return f"of domain {certificate.domain_digest[:12]}, and this is {domain.digest[:12]}"
    if not of_these and certificate.arrays_digest != (these := arrays_digest()):
        return f"of arrays {certificate.arrays_digest[:12]}, and these are {these[:12]}"
    return None
