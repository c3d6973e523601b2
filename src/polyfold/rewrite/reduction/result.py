"""What a reduction gives: the smaller network, every step with its reason and proof, and what is guaranteed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING
from functools import cached_property
from math import inf
from typing import Any, Literal

from polyfold._base.result import Result
from polyfold._base.words import in_digits
from polyfold.domain.domain import Domain
from polyfold.errors import how_many
from polyfold.network.graph import Network
from polyfold.network.head import Head, head_json, what_it_speaks_of
from polyfold.program.exact_program import ExactProgram
from polyfold.program.program import Program
from polyfold.program.to_network import to_network
from polyfold.rewrite.reduction.rounding_error import RoundingError

Kind = Literal["unread", "constant", "never active", "always active", "proportional", "opposite"]


@dataclass(frozen=True)
class Step:
    """One neuron less: which, why, and what proves it.

    `into` names the neurons that took over what it did; none if nothing had to be.
    """

    kind: Kind
    neuron: str
    reason: str
    proof: str
    into: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.neuron}: {self.reason} ({self.proof})"


@dataclass(frozen=True, eq=False, repr=False)
class Reduction(Result):
    """The same function on a domain with fewer neurons.

    Of a model with a head (softmax, sigmoid, argmax), `network` has the same one, and differences are those of the
    scores before it.

    Attributes
    ----------
    before : Network or Program
        The network as it was.
    program : ExactProgram
        The smaller one in rationals, equal to it on the domain; `network` is the smaller one as a Network.
    domain : Domain
        Where they are equal.
    layers_before : tuple of int
        The gates of every stage before.
    steps : tuple of Step
        What went, in the order in which it did.
    undecided : tuple of str
        The neurons of which it is not known whether they switch: some of them may be superfluous, too.
    rounding_error : RoundingError
        Bounds, output by output, what rounding the new weights to floats has changed.
    """

    before: Network | Program
    program: ExactProgram
    domain: Domain
    layers_before: tuple[int, ...]
    steps: tuple[Step, ...]
    undecided: tuple[str, ...]
    rounding_error: RoundingError

    def __polyfold_network__(self) -> Network:
        return self.network

    def __repr__(self) -> str:
        return (
            f"Reduction: {self.neurons_before:,} to {how_many(self.neurons_after, 'neuron')}; {self.guarantee}; "
            f"{self.seconds:.3g} s"
        )

    def ask_instead(self) -> str:
        return "found.neurons_after < found.neurons_before says whether anything went, found.proved what is known of it"

    @cached_property
    def network(self) -> Network:
        """The smaller network, with the nearest floats as weights."""
        return to_network(self.program)

    @property
    def neurons_before(self) -> int:
        return sum(self.layers_before)

    @property
    def neurons_after(self) -> int:
        return self.program.gates

    @property
    def exact(self) -> bool:
        """Whether `network` is the same function on the domain to the last digit: no weight had to be rounded."""
        return self.program.in_floats

    @property
    def difference(self) -> float:
        """What the outputs of `network` are proved not to differ by more than, on the domain; infinite if that has no
        end and weights were rounded."""
        return max(self.rounding_error.absolute, default=0.0)

    @property
    def relative_difference(self) -> float:
        """At an input x of the domain, outputs are proved not to differ by more than this times 1 + max |x_i|."""
        return max(self.rounding_error.relative, default=0.0)

    @property
    def guarantee(self) -> str:
        """What is proved, in words."""
        if self.hearsay:
            again = "pf.equivalent(found.before, found.network, found.domain) looks again"
            return f"the same function as recorded {self.hearsay}: {again}"
        # Where numbers of the network are no rationals, steps are proved of a neighbour.
        proved = "proved" if self.proved else f"proved of {self.evidence.of.partition(':')[0]}"
        if self.exact:
            return f"the same function, exactly, {proved}"
        same, behind = "the same function", ""
        if self.head is not None:
            same, behind = "the same scores", f", and the same {self.head.kinds} behind them"
        if self.difference < inf:
            return f"{same} up to {in_digits(self.difference, ROUND_CEILING)}, {proved}{behind}"
        if self.relative_difference < inf:
            most = in_digits(self.relative_difference, ROUND_CEILING)
            return f"{same} up to {most} times 1 + max |x_i|, {proved}{behind}"
        return "the same function before its weights were rounded to floats; after that nothing is proved"

    @property
    def head(self) -> Head | None:
        """What the model does behind its last piecewise-linear op; `network` has it, too."""
        return self.program.frame.head

    @property
    def counts(self) -> dict[str, int]:
        """How many neurons went for which reason."""
        return dict(Counter(step.kind for step in self.steps))

    def facts(self) -> dict[str, Any]:
        return {
            "neurons_before": self.neurons_before,
            "neurons_after": self.neurons_after,
            "proved": self.proved,
            "exact": self.exact,
            "difference": self.difference if self.difference < inf else None,
            "relative_difference": self.relative_difference if self.relative_difference < inf else None,
            "difference_of": what_it_speaks_of(self.head),
            "head": head_json(self.head),
            "guarantee": self.guarantee,
            "removed": self.counts,
            "undecided": list(self.undecided),
            "layers_before": list(self.layers_before),
            "layers_after": [stage.width for stage in self.program.stages],
            "steps": [asdict(step) for step in self.steps],
        }
