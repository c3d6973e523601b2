"""How a stage could do with fewer gates: what goes, what takes over, and what is left to be computed linearly.

Gates that nobody reads, that are constant, or that never pass anything on go for nothing. Gates that are positive
multiples of each other become one. Gates that are always active, and pairs that are active on opposite sides, leave a
linear function of what the stage reads; `carriers.py` finds a way to have it computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold.exact.rational_arrays import Rationals, are_floats, zeros
from polyfold.program.exact_program import ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.rewrite.reduction.draft import Draft, affine_of, bend
from polyfold.rewrite.reduction.groups import Group, forms, groups, is_constant
from polyfold.rewrite.reduction.result import Step

_ZERO = fmpq(0)


@dataclass(eq=False)
class Plan:
    """Gates that stay, the readers' coefficients on them, and on pre-activations of gates that do not.

    `kept` are numbers of old gates; `columns[reader]` is (rows, old width), read only in the columns of kept gates;
    `linear[reader]` is (rows, old width) on pre-activations; `constants[reader]` is added to the reader's bias.
    """

    stage: ExactStage
    readers: dict[int, Rationals]
    kept: list[int] = field(default_factory=list)
    straight: list[int] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    columns: dict[int, Rationals] = field(init=False)
    linear: dict[int, Rationals] = field(init=False)
    constants: dict[int, Rationals] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = {a: V.copy() for a, V in self.readers.items()}
        self.linear = {a: zeros(*V.shape) for a, V in self.readers.items()}
        self.constants = {a: zeros(len(V)) for a, V in self.readers.items()}

    def affine(self) -> dict[int, RationalRows]:
        """The linear part of every reader, over the stage's sources, with its constants."""
        found = {}
        for reader, coefficients in self.linear.items():
            rows = affine_of(self.stage, coefficients)
            found[reader] = RationalRows(rows.terms, rows.bias + self.constants[reader])
        return found

    def name(self, gate: int) -> str:
        return str(self.stage.origins[gate])


def plan(draft: Draft, stage: int, *, fold_straight: bool, join_opposites: bool, only_floats: bool) -> Plan:
    """What would be left of a stage.

    Gates known to be always active stay unless `fold_straight`; pairs with opposite signs, or with other slopes, stay
    unless `join_opposites`. With `only_floats`, whatever would make the readers' coefficients other than floats stays.
    """
    gates, readers, known = draft.program.stages[stage], draft.readers(stage), draft.known[stage]
    found = Plan(gates, readers)
    rows = forms(gates)
    left = []
    for gate in range(gates.width):
        tick()
        if not any(V[:, gate].any() for V in readers.values()):
            found.steps.append(Step("unread", found.name(gate), "nothing reads it", "all outgoing weights are zero"))
        elif is_constant(rows[gate]) and _constant(found, gate, rows[gate][-1], only_floats):
            pass
        elif known[gate].side and not _slope(gates, gate, known[gate].side):
            found.steps.append(Step("never active", found.name(gate), "it is 0 on the whole domain", known[gate].proof))
        else:
            left.append(gate)
    if fold_straight:
        straight = [gate for gate in left if known[gate].side]
        left = [gate for gate in left if not known[gate].side]
        for gate in straight:
            slope = _slope(gates, gate, known[gate].side)
            for reader, V in readers.items():
                found.linear[reader][:, gate] += slope * V[:, gate]
        found.straight = straight
    for group in groups(gates, left):
        for part in [group] if join_opposites else _alike(gates, group):
            _join(found, part, only_floats)
    found.kept.sort()
    return found


def _slope(gates: ExactStage, gate: int, side: int) -> fmpq:
    slope: fmpq = (gates.slope_on if side > 0 else gates.slope_off)[gate]
    return slope


def _constant(found: Plan, gate: int, value: fmpq, only_floats: bool) -> bool:
    """Add a constant gate's output to the readers' biases."""
    gates = found.stage
    output = value * (gates.slope_on[gate] if value > 0 else gates.slope_off[gate])
    more = {reader: output * V[:, gate] for reader, V in found.readers.items()}
    if only_floats and not all(are_floats(column) for column in more.values()):
        return False
    for reader, column in more.items():
        found.constants[reader] = found.constants[reader] + column
    reason = f"it puts out {output} everywhere" if output else "it puts out 0 everywhere"
    found.steps.append(Step("constant", found.name(gate), reason, "all incoming weights are zero"))
    return True


def _alike(gates: ExactStage, group: Group) -> list[Group]:
    """Parts of a group that are positive multiples of each other and have the same slopes."""
    parts: dict[tuple[bool, str, str], list[tuple[int, fmpq]]] = {}
    for gate, factor in zip(group.members, group.factors, strict=True):
        key = (factor > 0, str(gates.slope_on[gate]), str(gates.slope_off[gate]))
        parts.setdefault(key, []).append((gate, factor))
    return [
        Group(tuple(gate for gate, _ in part), tuple(factor / part[0][1] for _, factor in part))
        for part in parts.values()
    ]


def _join(found: Plan, group: Group, only_floats: bool) -> None:
    """Let one gate of a group do what all did; what cannot be said by it is linear."""
    if len(group.members) == 1:
        found.kept.append(group.members[0])
        return
    ways = [_joined(found, group, first) for first in _who_may_stay(found.stage, group)]
    exact = [way for way in ways if all(are_floats(column) for column in way[1].values())]
    if only_floats and not exact:
        found.kept += group.members
        return
    first, columns, linear = (exact or ways)[0]
    gate = group.members[first]
    stays = any(column.any() for column in columns.values())
    for reader in found.readers:
        found.columns[reader][:, gate] = columns[reader]
        found.linear[reader][:, gate] += linear[reader]
    if stays:
        found.kept.append(gate)
    for k, other in enumerate(group.members):
        if other == gate and stays:
            continue
        factor = group.factors[k] / group.factors[first]
        kind, what = ("proportional", "") if factor > 0 else ("opposite", " and a linear function")
        reason = f"it is {factor} times {found.name(gate)} before the activation{what}"
        if not stays:
            kind, reason = "opposite", "it and its opposites add up to a linear function"
        found.steps.append(
            Step(
                "proportional" if kind == "proportional" else "opposite",
                found.name(other),
                reason,
                "equal in rationals, coefficient by coefficient",
                (found.name(gate),) if stays else (),
            )
        )


def _who_may_stay(gates: ExactStage, group: Group) -> list[int]:
    """Places of members that can do what all did: with a bend, or, if none has one, with a slope."""
    for fits in (bend(gates), gates.slope_off):
        able = [k for k, gate in enumerate(group.members) if fits[gate]]
        if able:
            return able
    return [0]  # all put out zero


def _joined(found: Plan, group: Group, first: int) -> tuple[int, dict[int, Rationals], dict[int, Rationals]]:
    """With members[first] as the one that stays: the readers' coefficients on its output and its pre-activation."""
    tick()
    gates, gate = found.stage, group.members[first]
    bends = bend(gates)
    columns, linear = {}, {}
    for reader, V in found.readers.items():
        on_relu, on_z = zeros(len(V)), zeros(len(V))
        for other, factor in zip(group.members, group.factors, strict=True):
            ratio = factor / group.factors[first]
            # relu(-|r| z) = |r| relu(z) - |r| z
            on_relu = on_relu + V[:, other] * (bends[other] * abs(ratio))
            on_z = on_z + V[:, other] * (
                gates.slope_off[other] * ratio - (bends[other] * -ratio if ratio < 0 else _ZERO)
            )
        if bends[gate]:
            columns[reader] = on_relu / bends[gate]
        else:  # no member has a bend: all are multiples of this gate's pre-activation
            columns[reader] = on_z / gates.slope_off[gate] if gates.slope_off[gate] else zeros(len(V))
        linear[reader] = on_z - columns[reader] * gates.slope_off[gate]
    return first, columns, linear


def uniform_slopes(gates: ExactStage) -> tuple[fmpq, fmpq]:
    """The slopes that all gates have, or those of a ReLU."""
    on, off = gates.slope_on[0], gates.slope_off[0]
    same = bool(np.all(gates.slope_on == on)) and bool(np.all(gates.slope_off == off))
    return (on, off) if same and on > 0 and on + off > 0 else (fmpq(1), _ZERO)
