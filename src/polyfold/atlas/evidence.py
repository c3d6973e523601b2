"""Evidence: what an answer about an atlas rests on. No answer is surer than the atlas that it was read off.

Every question over an atlas hands its evidence out with the answer: which network and domain it speaks of, what is
known of the cells, whether all of them are there. "proved" follows from that and is nowhere a flag of its own. Evidence
belongs to the answer that it was given with, and to this process: an answer that was edited has none, and one that
comes out of a pickle has a record of it.
"""

from __future__ import annotations

from dataclasses import replace

from polyfold._base.as_found import BY_HAND, AsFound, first_hand
from polyfold._base.evidence import NOTHING_KNOWN, Evidence
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Certificate, what_is_spoken_of
from polyfold.domain.domain import Domain
from polyfold.program.exact_program import ExactProgram
from polyfold.program.program import Program


def evidence_of(atlas: Atlas) -> Evidence:
    """What is known of an atlas."""
    return atlas.evidence


def evidence_from(said: Certificate) -> Evidence:
    """What a certificate says, as the evidence of an answer."""
    return said.evidence


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
    program: Program | ExactProgram, domain: Domain, proof: str | None, stopped_by: str | None = None
) -> Evidence:
    """Of an answer that is proved without an atlas, unless something stopped it; None where it is not proved."""
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


def proof_of(
    result: AsFound, program: Program, domain: Domain, proof: str | None, stopped_by: str | None = None
) -> Evidence:
    """The same when a result is asked for it, which spares it the digests until then: if it is as it was found."""
    if result.hearsay == BY_HAND:
        return NOTHING_KNOWN
    said = proof_without_atlas(program, domain, proof, stopped_by)
    return first_hand(replace(said, recorded=result.hearsay))
