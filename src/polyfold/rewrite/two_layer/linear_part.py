"""Which neurons to flip so that the linear part N(x) becomes a constant, if any do.

Flipping neuron j (its incoming weights are negated) adds (on + off) v_j w_j to the slope of N. So the question is for a
subset of these matrices whose sum is minus that slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.as_found import first_hand
from polyfold._base.truth import YesOrNo
from polyfold.exact.rational_arrays import Rationals, zeros
from polyfold.exact.subset_sum.zero_one import DEFAULT_SECONDS, Subset, nonempty_subset_without_sum, subset_with_sum
from polyfold.program.exact_program import ExactProgram
from polyfold.program.origins import GateOrigin
from polyfold.rewrite.two_layer.form import TwoLayer, of_program


@dataclass(frozen=True)
class ConstantLinearPart(YesOrNo):
    """Neurons whose flips leave N(x) constant: "found", "none" (proved) or "unknown".

    `members` are their numbers in the hidden layer, `neurons` their names, `how` what was done to find out.
    """

    subset: Subset
    neurons: tuple[GateOrigin, ...]

    @property
    def status(self) -> str:
        return self.subset.status

    @property
    def members(self) -> tuple[int, ...]:
        return self.subset.members

    @property
    def how(self) -> str:
        return self.subset.how

    def truth(self) -> bool | None:
        return self.subset.truth()

    def ask_instead(self) -> str:
        return self.subset.ask_instead()


def constant_linear_part(program: ExactProgram, max_seconds: float = DEFAULT_SECONDS) -> ConstantLinearPart:
    """Find neurons of a program of one stage whose flips make its linear part constant, whenever there are some.

    >>> from polyfold.program.exact_program import from_layers
    >>> from polyfold.rewrite.two_layer.form import of_program
    >>> three = of_program(from_layers([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])]))
    >>> found = constant_linear_part(three.flipped([0, 2]).program)
    >>> found.status, found.members
    ('found', (0, 2))
    """
    form = of_program(program)
    subset = flips_to_constant(form, max_seconds)
    return as_linear_part(form, subset)


def as_linear_part(form: TwoLayer, subset: Subset) -> ConstantLinearPart:
    """What `flips_to_constant` found, with the neurons' names."""
    return first_hand(ConstantLinearPart(subset, tuple(form.origins[k] for k in subset.members)))


def flips_to_constant(form: TwoLayer, max_seconds: float) -> Subset:
    """Which flips make N constant; none at all if it is."""
    if form.is_plain:
        return first_hand(Subset("found", (), "N(x) is constant as it is"))
    return subset_with_sum(_added_by_flips(form), -form.alpha.ravel(), max_seconds)


def flips_without_effect(form: TwoLayer, max_seconds: float) -> Subset:
    """Which flips, one at least, leave the slope of N as it is."""
    return nonempty_subset_without_sum(_added_by_flips(form), max_seconds)


def _added_by_flips(form: TwoLayer) -> Rationals:
    """What each flip adds to the slope of N, as columns (m d, n)."""
    if not form.neurons:
        return zeros(form.alpha.size, 0)
    sent = form.V * (form.on + form.off)
    return np.stack([(sent[:, k][:, None] * form.W[k][None, :]).ravel() for k in range(form.neurons)], axis=1)
