"""The linear functions of a stage's sources that a plan leaves to be computed for the readers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyfold.exact.rational_arrays import Rationals, zeros
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.rewrite.reduction.draft import Known
from polyfold.rewrite.reduction.plans import Plan
from polyfold.rewrite.reduction.result import Step


class LinearPart:
    """The linear functions that readers are still to get: over all sources that the stage reads, side by side.

    All, because gates that help to compute them may read more than they are made of.
    """

    def __init__(self, plan: Plan, added: dict[int, RationalRows]) -> None:
        self.plan, self.added = plan, added
        self.sources = sorted(plan.stage.rows.terms)
        self._widths = [plan.stage.rows.terms[source].shape[1] for source in self.sources]
        self.rows = np.concatenate([self.side_by_side(rows) for rows in added.values()])

    def side_by_side(self, rows: RationalRows) -> Rationals:
        parts = [rows.terms.get(s, zeros(rows.size, w)) for s, w in zip(self.sources, self._widths, strict=True)]
        return np.concatenate(parts, axis=1)

    def apart(self, rows: Rationals, bias: Rationals) -> RationalRows:
        """The other way round."""
        starts = np.cumsum([0, *self._widths])
        return RationalRows({s: rows[:, starts[k] : starts[k + 1]] for k, s in enumerate(self.sources)}, bias)


def folded(plan: Plan, known: Sequence[Known], gate: int, into: tuple[str, ...] = ()) -> Step:
    """The step of a gate that is linear and goes."""
    where = "others that are" if into else "the weights of what reads it"
    on = "always active" if known[gate].side > 0 else "never active, and passes a multiple on"
    return Step(
        "always active", plan.name(gate), f"it is {on}, so it is linear and goes into {where}", known[gate].proof, into
    )
