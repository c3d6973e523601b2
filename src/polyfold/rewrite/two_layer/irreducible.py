"""irreducible: the form of a network with one hidden layer that nothing can be taken from (paper 004)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polyfold._base.clock import check_seconds
from polyfold._base.notebook import InNotebooks
from polyfold._base.truth import NoTruthValue
from polyfold.domain.domain import DomainLike, resolve_domain
from polyfold.errors import how_many
from polyfold.exact.rational_arrays import Rationals
from polyfold.exact.subset_sum.zero_one import DEFAULT_SECONDS
from polyfold.network.graph import Network
from polyfold.program.exact_program import ExactProgram
from polyfold.program.to_network import to_network
from polyfold.rewrite.two_layer.form import TwoLayer, of_program, two_layer
from polyfold.rewrite.two_layer.linear_part import ConstantLinearPart, as_linear_part, flips_to_constant
from polyfold.rewrite.two_layer.on_domain import Reach, without_idle_walls
from polyfold.rewrite.two_layer.rules import Reduced, opposite_pairs, r1, r2, r3
from polyfold.rewrite.two_layer.steps import Step
from polyfold.rewrite.two_layer.without_linear_part import cost, written_plainly


@dataclass(frozen=True, eq=False, repr=False)
class Irreducible(NoTruthValue, InNotebooks):
    """The irreducible form of a network with one hidden layer, exactly, and a network that computes it.

    `program` is sum_j v_j g(n_j(x)) + N(x) with pairwise different walls n_j = 0 and N(x) = alpha x + c written out as
    a linear path from the input. `written` is the same function without that path, unless the network given had one:
    `network` is made of it, rounded to floats where `rounded` says so. `constant` tells whether flips can make N(x)
    constant; if they can, they have been applied. `steps` is what was done, in the user's names.
    """

    program: ExactProgram
    written: ExactProgram
    steps: tuple[Step, ...]
    neurons_before: int
    constant: ConstantLinearPart

    def ask_instead(self) -> str:
        return "found.neurons_after < found.neurons_before says whether neurons were left out"

    @property
    def linear(self) -> tuple[Rationals, Rationals]:
        """alpha (m, d) and c (m,) of the linear part N(x) = alpha x + c."""
        form = of_program(self.program)
        return form.alpha, form.c

    @property
    def neurons_after(self) -> int:
        """The neurons of `network`."""
        return self.written.gates

    @cached_property
    def network(self) -> Network:
        """The network that `written` is, in floats."""
        return to_network(self.written)

    @property
    def rounded(self) -> bool:
        """Whether some coefficient of `network` is no float and had to be rounded."""
        return not self.written.in_floats

    def __repr__(self) -> str:
        known = {
            "found": "N(x) is constant",
            "none": "N(x) is not constant, and no flips make it so",
            "unknown": "N(x) is not constant; it is UNKNOWN whether flips can make it so",
        }[self.constant.status]
        rounded = "; as a network it is rounded to floats" if self.rounded else ""
        before, after = how_many(self.neurons_before, "neuron"), how_many(self.neurons_after, "neuron")
        return f"Irreducible: {before} before, {after} now, on {how_many(self.program.gates, 'wall')}; {known}{rounded}"


def irreducible(network: Any, domain: DomainLike = None, *, max_seconds: float | None = None) -> Irreducible:
    """Leave out all neurons that a network with one hidden layer does not need, exactly.

    Neurons that are constant, unheard, or the same as others up to a factor are merged (rules R1, R2 and R3 of paper
    004). What opposite pairs do besides that is linear, and flips of other neurons may undo it. As a network without a
    linear path the form gets neurons for the linear part, as few as its rank and the domain allow; if that is no fewer
    than before, opposite pairs stay.

    Parameters
    ----------
    network: anything that `pf.load` takes, or an ExactProgram, with at most one hidden layer of ReLUs, LeakyReLUs,
        absolute values or any other gates with two slopes.
    domain: where the function has to stay the same: None for all of R^d, or a box or polytope. There, neurons whose
        wall misses the domain are linear, and linear parts cost half as many neurons.
    max_seconds: how long to search for flips that make the linear part constant; None for 10 seconds.

    >>> import polyfold as pf
    >>> layers = [([[1.0], [-1.0], [2.0], [0.0]], [0.0, 0.0, 0.0, 1.0]), ([[1.0, 3.0, 1.0, 5.0]], [0.0])]
    >>> found = pf.rewrite.irreducible(layers)  # 3 relu(x) + 3 relu(-x) + 5
    >>> found
    Irreducible: 4 neurons before, 2 neurons now, on 1 wall; N(x) is not constant, and no flips make it so
    >>> for step in found.steps:
    ...     print(step)
    R1: relu1[3]: it reads nothing but its bias; what it adds is now in the output's bias
    R2: relu1[2], relu1[0]: it sees 2 times what relu1[0] does; it is now part of relu1[0]
    R3: relu1[1], relu1[0]: it sees -1 times what relu1[0] does; the pair is now relu1[0] and N(x)
    linear part: no flips make N(x) constant: elimination leaves 0 of 1 variable free, and no way to set them
    linear part: as a network, 1 opposite pair stays: 2 neurons; R3 would need 2
    """
    check_seconds(max_seconds)
    form = two_layer(network, asked="pf.rewrite.irreducible", instead="pf.reduce")
    reach = Reach(resolve_domain(domain, form.W.shape[1]))
    reduction = r1(Reduced(form))
    if reach.domain.rows:
        reduction = without_idle_walls(reduction, reach)
    paired = r2(reduction)
    single = r3(paired)
    subset = flips_to_constant(single.form, DEFAULT_SECONDS if max_seconds is None else float(max_seconds))
    constant = as_linear_part(single.form, subset)
    steps = list(single.steps)
    found = single.form
    if subset.members:
        found = found.flipped(subset.members)
        steps.append(Step("flip", constant.neurons, "their incoming weights are negated, which makes N(x) constant"))
    elif subset.status != "found":
        word = "no flips make N(x) constant" if subset.status == "none" else "flips that make N(x) constant: unknown"
        steps.append(Step("linear part", (), f"{word}: {subset.how}"))
    written, more = _written(form, paired.form, found, reach)
    return Irreducible(found.program, written.program, (*steps, *more), form.neurons, constant)


def _written(given: TwoLayer, paired: TwoLayer, found: TwoLayer, reach: Reach) -> tuple[TwoLayer, list[Step]]:
    """The form as a network without a linear path, unless there was one: with opposite pairs if that takes no more."""
    if found.is_plain:
        return found, []
    if not given.is_plain:
        return found, [Step("linear part", (), "N(x) is a linear path, as the network given has one")]
    costs = [form.neurons + cost(form, reach) for form in (given, paired, found)]
    best = costs.index(min(costs))
    written = (given, paired, found)[best]
    steps = []
    if best < 2:
        pairs = len(opposite_pairs(paired))
        stay = "1 opposite pair stays" if pairs == 1 else f"{pairs:,} opposite pairs stay"
        what = stay if best else "all stays as it was"
        steps.append(Step("linear part", (), f"as a network, {what}: {costs[best]} neurons; R3 would need {costs[2]}"))
    if not written.is_plain:
        written, step = written_plainly(written, reach)
        steps.append(step)
    return written, steps
