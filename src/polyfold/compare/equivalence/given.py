"""The two networks that were given: read, checked against each other, and what to say where only numbers differ."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING
from math import inf
from typing import Any

from polyfold._base.words import in_digits
from polyfold.atlas.atlas import Atlas
from polyfold.compare.equivalence.result import Equivalence
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.network.same import differing_constants, same_networks
from polyfold.program.lower.lower import nearest_program
from polyfold.program.program import Program
from polyfold.rewrite.shallow.edit import Edit
from polyfold.rewrite.shallow.network import Shallow

# So many constants that differ are named.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Compared:
    """A program, in words what shapes it takes and gives, and the network that it is of."""

    program: Program
    shapes: str
    network: Network | Program


def compared(network: Any) -> Compared:
    """Read what was given as a network."""
    # As a source a Shallow stands for the network that its pieces were read off. To compare that one would prove
    # nothing of the pieces.
    if isinstance(network, Shallow | Edit):
        raise PolyfoldError(
            f"{network!r} is no network to compare: its layers have infinite weights, so that only what it was made of "
            "could be looked at. Its evidence says what its pieces rest on"
        )
    if isinstance(network, Atlas):
        network = network.program
    if isinstance(network, Program):
        shapes = f"{how_many(network.input_dim, 'input')} and gives {how_many(network.model_output_dim, 'output')}"
        return Compared(network, shapes, network)
    loaded: Network = load(network)
    program = nearest_program(loaded)
    takes = ", ".join(str(tuple(port.shape)) for port in loaded.inputs)
    gives = ", ".join(str(shape) for shape in loaded.model_output_shapes)
    outputs = how_many(program.model_output_dim, "output")
    words = f"{how_many(loaded.input_dim, 'input')} (shape {takes}) and gives {outputs} (shape {gives})"
    return Compared(program, words, loaded)


def same_steps(a: Compared, b: Compared) -> bool:
    """Whether both are one network, step by step, so that lowering has rounded them alike if it did."""
    one, other = a.network, b.network
    return one is other or (isinstance(one, Network) and isinstance(other, Network) and same_networks(one, other))


def hint_for(a: Compared, b: Compared, found: Equivalence) -> str | None:
    """Why networks that are nearly the same are not, and what to ask instead."""
    if not isinstance(a.network, Network) or not isinstance(b.network, Network):
        return None
    differing = differing_constants(a.network, b.network)
    if not differing:
        return None
    more = f"; {len(differing) - _NAMED} more differ" if len(differing) > _NAMED else ""
    named = "; ".join(differing[:_NAMED])
    if found.upper == inf:
        advice = "where inputs are bounded, as in pf.box, a tolerance can be proved"
    else:
        advice = f"tolerance={in_digits(found.upper, ROUND_CEILING)} is proved to suffice here"
    return f"the networks are the same steps, but for numbers: {named}{more}; {advice}"


def check_shapes(a: Compared, b: Compared) -> None:
    """Refuse networks between which there is no difference to speak of."""
    first, second = a.program, b.program
    if (first.input_dim, first.model_output_dim) != (second.input_dim, second.model_output_dim):
        raise ShapeError(
            f"networks can be compared if their inputs and outputs agree in number: the first takes {a.shapes}, the "
            f"second takes {b.shapes}"
        )
    if not first.output_dim:
        raise ShapeError("networks without outputs cannot be compared")
