"""Evidence: what an answer about an atlas rests on. No answer is surer than the atlas that it was read off.

Every question over an atlas hands its evidence out with the answer: which network and domain it speaks of, what is
known of the cells, whether all of them are there. "proved" follows from that and is nowhere a flag of its own. Evidence
belongs to the answer that it was given with, and to this process: an answer that was edited has none, and one that
comes out of a pickle has a record of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from polyfold._base.as_found import first_hand
from polyfold._base.evidence import NOTHING_KNOWN, Evidence
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Certificate, what_is_spoken_of
from polyfold.domain.domain import Domain
from polyfold.program.exact_program import ExactProgram
from polyfold.program.program import Program

_EVIDENCE = "_evidence"


class Answer:
    """A result that carries what is known of the atlas that it was computed from.

    It is kept beside the fields, so that `dataclasses.replace` leaves it behind: nobody has found out what is edited.
    """

    @property
    def evidence(self) -> Evidence:
        """What is known of the cells that the answer rests on."""
        known: Evidence = self.__dict__.get(_EVIDENCE, NOTHING_KNOWN)
        return known


Given = TypeVar("Given", bound=Answer)


def resting_on(evidence: Evidence, answer: Given) -> Given:
    """The answer with its evidence. For those who have just found it."""
    object.__setattr__(answer, _EVIDENCE, evidence)
    return answer


def evidence_of(atlas: Atlas) -> Evidence:
    """What is known of an atlas."""
    said = evidence_from(atlas.certificate)
    return first_hand(replace(said, of=what_is_spoken_of(atlas.program), domain=atlas.domain))


def evidence_from(said: Certificate) -> Evidence:
    """What a certificate says, as the evidence of an answer."""
    return first_hand(
        Evidence(
            said.network_digest,
            said.domain_digest,
            said.arrays_digest,
            said.level,
            said.complete,
            said.stopped_by,
            said.of,
            said.source,
            head=said.head,
        )
    )


def computed_in_floats(program: Program) -> Evidence:
    """Of an answer about a network that rests on nothing but float arithmetic."""
    of, head = what_is_spoken_of(program), str(program.head or "")
    return first_hand(Evidence(program.digest, "", "", None, True, None, of, head=head))


def nothing_known_of(program: Program, domain: Domain) -> Evidence:
    """Of an answer about cells that nobody has looked at: which network and domain they are cells of."""
    spoken_of = what_is_spoken_of(program)
    of = replace(NOTHING_KNOWN, network_digest=program.digest, domain_digest=domain.digest, of=spoken_of, domain=domain)
    return first_hand(of)


def proof_without_atlas(
    program: Program | ExactProgram, domain: Domain, proof: str, stopped_by: str | None = None
) -> Evidence:
    """Of an answer that is proved without an atlas, unless something stopped it."""
    return first_hand(
        Evidence(
            program.digest,
            domain.digest,
            "",
            None,
            stopped_by is None,
            stopped_by,
            what_is_spoken_of(program),
            proof=proof,
            domain=domain,
        )
    )
