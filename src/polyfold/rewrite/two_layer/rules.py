"""Rules R1, R2 and R3 of paper 004: neurons that can be left out without changing the function on all of R^d.

All of it follows from one identity. Two neurons on one wall see z and s z for some s != 0, and

    v h(s z) = u g(z) + t z    with    u = |s| v (h_on - h_off) / (g_on - g_off),
                                       t = s v (h_off if s > 0 else h_on) - u g_off,

for gates g and h of any two different slopes each, and vectors v of outgoing weights. With s > 0 and equal gates t is
zero (R2); with s < 0 it is the linear part of an opposite pair (R3). Neurons with different gates are as such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from flint import fmpq

from polyfold._base.clock import tick
from polyfold.exact.rational_arrays import Rationals
from polyfold.program.origins import GateOrigin
from polyfold.rewrite.two_layer.form import TwoLayer, Wall

Rule = Literal["R1", "R2", "R3", "domain", "flip", "linear part"]


@dataclass(frozen=True)
class Step:
    """`rule` is R1, R2 or R3 of paper 004; "domain": a wall that misses the domain; "flip": psi; "linear part": how
    N(x) is written with neurons, or why it is not. `neurons` have the names that they had in the network given."""

    rule: Rule
    neurons: tuple[GateOrigin, ...]
    why: str

    def __str__(self) -> str:
        names = ", ".join(str(origin) for origin in self.neurons)
        return f"{self.rule}: {names}: {self.why}" if names else f"{self.rule}: {self.why}"


@dataclass(frozen=True, eq=False)
class Reduced:
    """A network on the way to its irreducible form, and what was done to it."""

    form: TwoLayer
    steps: tuple[Step, ...] = ()


def by_rules(form: TwoLayer) -> Reduced:
    """R1, R2 and R3: neurons on pairwise different walls, none of which can be left out, and the linear part.

    >>> from polyfold.rewrite.two_layer.form import of_program
    >>> from polyfold.program.exact_program import from_layers
    >>> pair = of_program(from_layers([([[1], [-1]], [0, 0]), ([[1, -1]], [3])]))  # relu(x) - relu(-x) + 3 = x + 3
    >>> found = by_rules(pair).form
    >>> found.neurons, found.alpha.tolist(), found.c.tolist()
    (0, [[1]], [3])
    """
    return r3(r2(r1(Reduced(form))))


def r1(reduction: Reduced) -> Reduced:
    """Neurons that are constant, have one slope only, or are not heard: into the linear part."""
    work = _Work(reduction)
    for k in range(work.form.neurons):
        work.drop_if_idle(k)
    return work.done()


def r2(reduction: Reduced) -> Reduced:
    """Neurons with equal gates that see the same up to a positive factor: into one of them."""
    work = _Work(reduction)
    for members in work.walls():
        alike: dict[tuple[bool, fmpq, fmpq], list[int]] = {}
        for k in members:
            alike.setdefault((work.factor[k] > 0, work.form.on[k], work.form.off[k]), []).append(k)
        for some in alike.values():
            survivor = some[_survivor([work.factor[k] for k in some])]
            for k in some:
                if k != survivor:
                    work.merge(k, survivor)
            if len(some) > 1:
                work.drop_if_idle(survivor)
    return work.done()


def r3(reduction: Reduced) -> Reduced:
    """Opposite pairs, and neurons with different gates, on one wall: into one neuron and the linear part."""
    work = _Work(reduction)
    for members in work.walls():
        for k in members[1:]:
            work.merge(k, members[0])
        if len(members) > 1:
            work.drop_if_idle(members[0])
    return work.done()


def opposite_pairs(form: TwoLayer) -> list[tuple[int, int]]:
    """Two neurons on one wall, for each wall that has more than one."""
    return [(members[0], members[1]) for members in _Work(Reduced(form)).walls() if len(members) > 1]


def _survivor(factors: Sequence[fmpq]) -> int:
    """The neuron that the others are added to: the first for which their factors are floats, if there is one, so that
    floats stay floats."""
    for number, one in enumerate(factors):
        if all(_is_power_of_two(int((other / one).q)) for other in factors):
            return number
    return 0


def _is_power_of_two(value: int) -> bool:
    return value & (value - 1) == 0


class _Work:
    """A network whose neurons are being merged and dropped."""

    def __init__(self, reduction: Reduced) -> None:
        self.form = reduction.form
        self.steps = list(reduction.steps)
        self.V, self.alpha, self.c = self.form.V.copy(), self.form.alpha.copy(), self.form.c.copy()
        self.alive = [True] * self.form.neurons
        self.factor: dict[int, fmpq] = {}

    def walls(self) -> list[list[int]]:
        """The neurons of each wall; every one of them must have some incoming weight."""
        found: dict[Wall, list[int]] = {}
        for k in range(self.form.neurons):
            tick()
            wall, self.factor[k] = self.form.walls[k]
            found.setdefault(wall, []).append(k)
        return list(found.values())

    def drop_if_idle(self, k: int) -> None:
        tick()
        form = self.form
        v, bias = self.V[:, k], form.b[k]
        if not v.any():
            self._drop(k, "R1", "all its outgoing weights are zero")
        elif not form.W[k].any():
            self.c = self.c + v * (bias * (form.on[k] if bias > 0 else form.off[k]))
            words = "all its incoming weights and its bias are zero" if bias == 0 else "it reads nothing but its bias"
            self._drop(k, "R1", words if bias == 0 else f"{words}; what it adds is now in the output's bias")
        elif form.on[k] == form.off[k]:
            self._add_linear(v * form.on[k], k)
            self._drop(k, "R1", "it has one slope only; it is now part of N(x)")

    def merge(self, k: int, into: int) -> None:
        """Say neuron k in terms of another one on its wall."""
        tick()
        form = self.form
        s = self.factor[k] / self.factor[into]
        v = self.V[:, k]
        u = v * (abs(s) * (form.on[k] - form.off[k]) / (form.on[into] - form.off[into]))
        t = v * (s * (form.off[k] if s > 0 else form.on[k])) - u * form.off[into]
        self.V[:, into] = self.V[:, into] + u
        self._add_linear(t, into)
        name = form.origins[into]
        linear = " and N(x)" if t.any() else ""
        equal = s > 0 and form.on[k] == form.on[into] and form.off[k] == form.off[into]
        becomes = f"it is now part of {name}" if equal else f"the pair is now {name}{linear}"
        self._drop(k, "R2" if equal else "R3", f"it sees {s} times what {name} does; {becomes}", also=into)

    def done(self) -> Reduced:
        if all(self.alive):
            return Reduced(self.form, tuple(self.steps))
        form = replace(self.form, V=self.V, alpha=self.alpha, c=self.c)
        return Reduced(form.take([k for k, alive in enumerate(self.alive) if alive]), tuple(self.steps))

    def _add_linear(self, t: Rationals, k: int) -> None:
        """Add t (w x + b) of a neuron to the linear part."""
        if t.any():
            self.alpha = self.alpha + t[:, None] * self.form.W[k][None, :]
            self.c = self.c + t * self.form.b[k]

    def _drop(self, k: int, rule: Rule, why: str, also: int | None = None) -> None:
        self.alive[k] = False
        neurons = (self.form.origins[k],) if also is None else (self.form.origins[k], self.form.origins[also])
        self.steps.append(Step(rule, neurons, why))
