"""The linear functions of a stage's sources that a plan leaves to be computed for the readers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyfold.analyses.reduction.draft import Known
from polyfold.analyses.reduction.plans import Plan
from polyfold.analyses.reduction.result import Step
from polyfold.exact.rational_arrays import Rationals, zeros
from polyfold.program.rational_rows import RationalRows


class LinearPart:
    """The linear functions that readers are still to get: over all sources that they are made of, side by side."""

    def __init__(self, plan: Plan, added: dict[int, RationalRows]) -> None:
        self.plan, self.added = plan, added
        self.sources = sorted({source for rows in added.values() for source in rows.terms})
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
