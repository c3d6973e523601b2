"""Linear parts that need nobody to compute them: gates that stay are turned round, so that what that leaves cancels.

gate(z) = (on + off) z + gate(-z), so turning a gate round adds a linear function to what its readers get. Whether some
of these add up to what is to cancel is a question of subset sums (paper 004, behind theorem 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polyfold._base.clock import Clock, OutOfTimeError, tick
from polyfold.exact.rational_arrays import Rationals
from polyfold.exact.subset_sum.outer_products import OuterProducts
from polyfold.exact.subset_sum.zero_one import subset_with_sum
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.rewrite.reduction.draft import Change, Known
from polyfold.rewrite.reduction.result import Step
from polyfold.rewrite.reduction.straight_part import LinearPart, folded

# Gates among which a subset is looked for, numbers in the equations, and seconds for that.
_MOST_GATES, _MOST_NUMBERS, _SECONDS = 256, 2_000_000, 2.0


def turned_round(known: Sequence[Known], part: LinearPart) -> list[tuple[Change, list[Step]]]:
    """The change in which some gates are turned round and nothing linear is left, if one was found."""
    plan = part.plan
    if not plan.kept or len(plan.kept) > _MOST_GATES or part.rows.size * len(plan.kept) > _MOST_NUMBERS:
        return []
    kept = plan.stage.take(plan.kept)
    columns = np.concatenate([plan.columns[reader][:, plan.kept] for reader in part.added])
    columns = columns * (kept.slope_on + kept.slope_off)
    forms = part.side_by_side(kept.rows)
    try:
        with Clock(_SECONDS):
            found = subset_with_sum(OuterProducts(columns, forms), -part.rows.ravel())
    except OutOfTimeError:
        tick()
        return []
    if found.status != "found":
        return []
    flipped = list(found.members)
    signs = np.ones(len(plan.kept))
    signs[flipped] = -1.0
    gates = replace(kept, rows=kept.rows.scaled(signs))
    constants, first = {}, 0
    for reader, rows in part.added.items():
        own = slice(first, first + rows.size)
        first += rows.size
        constants[reader] = RationalRows({}, rows.bias + _sum(columns[own][:, flipped] * kept.rows.bias[flipped]))
    facts = tuple(_turned(known[gate], k in found.members) for k, gate in enumerate(plan.kept))
    change = Change(gates, facts, {reader: plan.columns[reader][:, plan.kept] for reader in part.added}, constants)
    return [(change, [*plan.steps, *(folded(plan, known, gate) for gate in plan.straight)])]


def _sum(rows: Rationals) -> Rationals:
    total: Rationals = rows.sum(axis=1)
    return total


def _turned(known: Known, round_: bool) -> Known:
    return Known(-known.side, known.proof) if round_ else known
