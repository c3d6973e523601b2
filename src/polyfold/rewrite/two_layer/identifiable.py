"""identifiable: whether a network's function determines its weights, up to order and positive factors (theorem 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from polyfold._base.as_found import first_hand
from polyfold._base.clock import check_seconds
from polyfold._base.notebook import InNotebooks
from polyfold._base.truth import YesOrNo
from polyfold.exact.subset_sum.zero_one import DEFAULT_SECONDS
from polyfold.program.origins import GateOrigin
from polyfold.rewrite.two_layer.form import TwoLayer, two_layer
from polyfold.rewrite.two_layer.linear_part import flips_without_effect
from polyfold.rewrite.two_layer.rules import Reduced, opposite_pairs, r1, r2
from polyfold.rewrite.two_layer.steps import Step


@dataclass(frozen=True, repr=False)
class Identifiability(YesOrNo, InNotebooks):
    """What theorem 2 of paper 004 says about a network: "yes", "no" or "unknown", and which of its conditions fails.

    `steps`: what R1 and R2 would take away, if anything. `pair`: two neurons on one wall, if there are some (condition
    i). `subset`: neurons that can be flipped together without anything else changing but biases, if there are some
    (condition ii); with a linear path from the input, any neuron can be flipped by itself. `reason` says it in words.

    As a truth value, "unknown" raises UnknownError.
    """

    verdict: Literal["yes", "no", "unknown"]
    reason: str
    steps: tuple[Step, ...] = ()
    pair: tuple[GateOrigin, GateOrigin] | None = None
    subset: tuple[GateOrigin, ...] | None = None

    def truth(self) -> bool | None:
        return None if self.verdict == "unknown" else self.verdict == "yes"

    def ask_instead(self) -> str:
        return "look at its verdict and reason, or give it more time (max_seconds)"

    def __repr__(self) -> str:
        return f"Identifiability: {self.verdict.upper()}; {self.reason}"


def identifiable(network: Any, *, max_seconds: float | None = None) -> Identifiability:
    """Whether a network's function determines its weights, up to order and positive factors: theorem 2 of paper 004.

    The conditions are that nothing can be left out (R1, R2), that all walls differ, and that there are no neurons whose
    sum, without the gates and times their outgoing weights, is constant.

    Parameters
    ----------
    network: anything that `pf.load` takes, or an ExactProgram, with at most one hidden layer.
    max_seconds: how long to search for neurons that add up to a constant; None for 10 seconds.

    >>> import polyfold as pf
    >>> hexagon = [([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    >>> pf.rewrite.identifiable(hexagon)  # x+ + y+ + (-x-y)+ = (-x)+ + (-y)+ + (x+y)+
    Identifiability: NO; relu1[0], relu1[1], relu1[2] can be flipped together: what they send adds up to a constant
    >>> pf.rewrite.identifiable([*hexagon[:1], ([[1.0, 1.0, 2.0]], [0.0])]).verdict
    'yes'
    """
    check_seconds(max_seconds)
    form = two_layer(network, asked="pf.rewrite.identifiable", instead="pf.symmetry")
    return first_hand(_decided(form, DEFAULT_SECONDS if max_seconds is None else float(max_seconds)))


def _decided(form: TwoLayer, max_seconds: float) -> Identifiability:
    reduced = r2(r1(Reduced(form)))
    if reduced.steps:
        names = _named(tuple(step.neurons[0] for step in reduced.steps))
        return Identifiability("no", f"{names} can be left out (R1, R2), so other widths do", reduced.steps)
    pairs = opposite_pairs(form)
    if pairs:
        one, other = (form.origins[k] for k in pairs[0])
        return Identifiability("no", f"{one} and {other} have the same wall", pair=(one, other))
    if not form.is_plain and form.neurons:
        neuron = form.origins[:1]
        return Identifiability("no", f"{neuron[0]} can be flipped: a linear path takes up the rest", subset=neuron)
    found = flips_without_effect(form, max_seconds)
    if found.status == "found":
        subset = tuple(form.origins[k] for k in found.members)
        together = "together: what they send adds up to a constant" if len(subset) > 1 else "by itself: it is even"
        return Identifiability("no", f"{_named(subset)} can be flipped {together}", subset=subset)
    if found.status == "unknown":
        return Identifiability("unknown", f"whether some neurons add up to a constant was not decided: {found.how}")
    return Identifiability("yes", "all walls differ, and no neurons add up to a constant")


def _named(neurons: tuple[GateOrigin, ...]) -> str:
    return ", ".join(str(neuron) for neuron in neurons)
