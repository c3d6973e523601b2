"""Which neurons to flip so that the linear part N(x) becomes a constant, if any do.

Flipping neuron j (its incoming weights are negated) adds (on + off) v_j w_j to the slope of N. So the question is for a
subset of these matrices whose sum is minus that slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyfold._base.result import Verdict, answered
from polyfold.exact.subset_sum.outer_products import OuterProducts
from polyfold.exact.subset_sum.zero_one import Subset, nonempty_subset_without_sum, subset_with_sum
from polyfold.program.exact_program import ExactProgram
from polyfold.program.origins import GateOrigin
from polyfold.rewrite.two_layer.form import TwoLayer, of_program


@dataclass(frozen=True)
class ConstantLinearPart(Verdict):
    """Neurons whose flips leave N(x) constant: "found", "none" (proved) or "unknown".

    `members` are their numbers in the hidden layer, `neurons` their names, `how` what was done to find out.
    """

    words = ("found", "none", "unknown")

    subset: Subset
    neurons: tuple[GateOrigin, ...]

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        """Whether there are some."""
        return self.subset.verdict

    @property
    def status(self) -> str:
        return self.subset.status

    @property
    def members(self) -> tuple[int, ...]:
        return self.subset.members

    @property
    def how(self) -> str:
        return self.subset.how

    def ask_instead(self) -> str:
        return self.subset.ask_instead()


def constant_linear_part(program: ExactProgram) -> ConstantLinearPart:
    """Find neurons of a program of one stage whose flips make its linear part constant, whenever there are some.

    >>> from polyfold.program.exact_program import from_layers
    >>> from polyfold.rewrite.two_layer.form import of_program
    >>> three = of_program(from_layers([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])]))
    >>> found = constant_linear_part(three.flipped([0, 2]).program)
    >>> found.status, found.members
    ('found', (0, 2))
    """
    form = of_program(program)
    return as_linear_part(form, flips_to_constant(form))


def as_linear_part(form: TwoLayer, subset: Subset) -> ConstantLinearPart:
    """What `flips_to_constant` found, with the neurons' names."""
    return answered(ConstantLinearPart(subset, tuple(form.origins[k] for k in subset.members)))


def flips_to_constant(form: TwoLayer) -> Subset:
    """Which flips make N constant; none at all if it is."""
    if form.is_plain:
        return answered(Subset("found", (), "N(x) is constant as it is"))
    return subset_with_sum(_added_by_flips(form), -form.alpha.ravel())


def flips_without_effect(form: TwoLayer) -> Subset:
    """Which flips, one at least, leave the slope of N as it is."""
    return nonempty_subset_without_sum(_added_by_flips(form))


def _added_by_flips(form: TwoLayer) -> OuterProducts:
    """What each flip adds to the slope of N, as columns (m d, n)."""
    return OuterProducts(form.V * (form.on + form.off), form.W)
