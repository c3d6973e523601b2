"""identifiable: whether a network's function determines its weights, up to order and positive factors (theorem 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from polyfold._base.clock import OutOfTimeError, Report, running
from polyfold._base.question import question
from polyfold._base.result import Verdict, answered
from polyfold.atlas.evidence import proof_without_atlas
from polyfold.domain.domain import resolve_domain
from polyfold.engine.source import SourceLike
from polyfold.program.origins import GateOrigin
from polyfold.rewrite.two_layer.form import TwoLayer, two_layer
from polyfold.rewrite.two_layer.linear_part import flips_without_effect
from polyfold.rewrite.two_layer.rules import Reduced, Step, opposite_pairs, r1, r2


@dataclass(frozen=True, repr=False)
class Identifiability(Verdict):
    """What theorem 2 of paper 004 says about a network, and which of its conditions fails.

    As a truth value, "unknown" raises UnknownError.

    Attributes
    ----------
    verdict : "yes", "no" or "unknown"
        Whether the function determines the weights, up to order and positive factors.
    reason : str
        The same in words.
    steps : tuple of Step
        What R1 and R2 would take away, if anything.
    pair : tuple of two GateOrigin, optional
        Two neurons on one wall, if there are some (condition i).
    subset : tuple of GateOrigin, optional
        Neurons that can be flipped together without anything else changing but biases, if there are some (condition
        ii); with a linear path from the input, any neuron can be flipped by itself.
    """

    words = ("identifiable", "not identifiable", "unknown")

    verdict: Literal["yes", "no", "unknown"]
    reason: str
    steps: tuple[Step, ...] = ()
    pair: tuple[GateOrigin, GateOrigin] | None = None
    subset: tuple[GateOrigin, ...] | None = None

    def ask_instead(self) -> str:
        return "look at its verdict and reason, or give it more time (max_seconds)"

    def facts(self) -> dict[str, Any]:
        return {
            **super().facts(),
            "steps": [str(step) for step in self.steps],
            "pair": None if self.pair is None else [str(neuron) for neuron in self.pair],
            "subset": None if self.subset is None else [str(neuron) for neuron in self.subset],
        }

    def __repr__(self) -> str:
        return f"Identifiability: {self.verdict.upper()}; {self.reason}"


@question("rewrite.identifiable")
def identifiable(
    source: SourceLike, *, max_seconds: float | None = None, progress: bool | Report = False
) -> Identifiability:
    """Whether a network's function determines its weights, up to order and positive factors: theorem 2 of paper 004.

    The conditions are that nothing can be left out (R1, R2), that all walls differ, and that there are no neurons whose
    sum, without the gates and times their outgoing weights, is constant.

    Parameters
    ----------
    source : SourceLike
        A model with at most one hidden layer.
    max_seconds : float, optional
        The limit. If the search for neurons that add up to a constant is not over by then, or at Ctrl-C, the answer is
        "unknown".
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Identifiability
        The verdict, and which condition fails.

    Examples
    --------
    >>> import polyfold as pf
    >>> hexagon = [([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    >>> pf.rewrite.identifiable(hexagon)  # x+ + y+ + (-x-y)+ = (-x)+ + (-y)+ + (x+y)+
    Identifiability: NO; relu1[0], relu1[1], relu1[2] can be flipped together: what they send adds up to a constant
    >>> pf.rewrite.identifiable([*hexagon[:1], ([[1.0, 1.0, 2.0]], [0.0])]).verdict
    'yes'
    """
    form = two_layer(source, asked="pf.rewrite.identifiable", instead="pf.symmetry")
    running().tell(form.neurons, form.neurons, "neurons looked at")
    everywhere = resolve_domain(None, form.W.shape[1])
    try:
        with running().noting_interrupts():
            found = _decided(form)
    except OutOfTimeError as error:
        reason = f"whether some neurons add up to a constant was not decided: {error.stopped_by} ended the search"
        return answered(Identifiability("unknown", reason), stopped_by=error.stopped_by)
    if found.verdict == "unknown":
        return answered(found)
    return answered(found, proof_without_atlas(form.program, everywhere, "theorem 2 of paper 004, in rationals"))


def _decided(form: TwoLayer) -> Identifiability:
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
    found = flips_without_effect(form)
    if found.status == "found":
        subset = tuple(form.origins[k] for k in found.members)
        together = "together: what they send adds up to a constant" if len(subset) > 1 else "by itself: it is even"
        return Identifiability("no", f"{_named(subset)} can be flipped {together}", subset=subset)
    if found.status == "unknown":
        return Identifiability("unknown", f"whether some neurons add up to a constant was not decided: {found.how}")
    return Identifiability("yes", "all walls differ, and no neurons add up to a constant")


def _named(neurons: tuple[GateOrigin, ...]) -> str:
    return ", ".join(str(neuron) for neuron in neurons)
