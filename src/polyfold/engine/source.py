"""What a question is asked of: one coercion for everything that users have in hand.

A source is whatever `pf.load` takes, a Network, a Program, an Atlas, or a result that is a network itself (a Shallow, a
Reduction ...; those have a method `__polyfold_network__`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import Domain, DomainLike, resolve_domain
from polyfold.errors import DomainError, PolyfoldError
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.program.exact_program import ExactProgram, from_program, lower_exactly
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.program.to_network import to_network

# Whatever `pf.load` takes, or what is made of it. Frameworks are optional, so their types cannot be named here.
SourceLike: TypeAlias = Network | Program | Atlas | Any


def as_network(source: Any) -> Network:
    """The network that a source is, or is about."""
    if isinstance(source, Atlas | Program):
        return to_network(from_program(as_program(source)))
    return load(source)


def as_program(source: Any) -> Program:
    """The program of a source."""
    if isinstance(source, Atlas):
        return source.program
    return source if isinstance(source, Program) else lower(load(source))


def as_program_on(source: Any, domain: DomainLike) -> tuple[Program, Domain]:
    """The program of a source and the domain that is asked about: an atlas has one of its own."""
    if isinstance(source, Atlas):
        return source.program, own_domain(source, domain)
    program = as_program(source)
    return program, resolve_domain(domain, program.input_dim)


def as_exact_program(source: Any) -> ExactProgram:
    """The function of a source in rationals; nothing is rounded."""
    if isinstance(source, Atlas | Program):
        return from_program(as_program(source))
    return lower_exactly(source if isinstance(source, ExactProgram) else load(source))


def domain_of(source: Any, domain: DomainLike, dim: int) -> Domain:
    """The domain that is asked about, of a source with so many inputs: an atlas has one of its own."""
    return own_domain(source, domain) if isinstance(source, Atlas) else resolve_domain(domain, dim)


def program_anywhere(source: Any, domain: DomainLike) -> tuple[Program, Domain]:
    """The same for what makes cells anew: of an atlas the network may be asked about on another domain."""
    if isinstance(source, Atlas) and domain is None:
        return source.program, source.domain
    program = as_program(source)
    return program, resolve_domain(domain, program.input_dim)


def own_domain(atlas: Atlas, domain: DomainLike) -> Domain:
    """The domain of an atlas; another one that is asked for is refused."""
    if domain is not None and resolve_domain(domain, atlas.program.input_dim).digest != atlas.domain.digest:
        raise DomainError(
            f"an atlas has a domain of its own, {atlas.domain.describe()}: leave the domain out, or give the network "
            "to ask about another one"
        )
    return atlas.domain


def of_gates(atlas: Atlas) -> Atlas:
    """An atlas in which every gate cuts; another one is refused."""
    if atlas.of_function:
        raise PolyfoldError(
            "this is asked of cells of gates, each of which is told by one half-space a gate, and the atlas has cells "
            "of the function: unfold with cells='gates'"
        )
    return atlas
