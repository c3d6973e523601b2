"""Linear programs over one cell, by HiGHS: the model is built once, and each answer warms up the next question.

What comes back are proposals: points and multipliers in rounded arithmetic. Others prove them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.clock import Clock
from polyfold._base.types import Array
from polyfold.exact.tolerances import SAME_PLACE

# Programs of more numbers may take seconds, so that somebody may want to leave them; asking costs as much as a step of
# a smaller one.
_LONG = 1 << 16
_SECONDS_BETWEEN_QUESTIONS = 0.02


@dataclass(frozen=True, eq=False)
class Proposal:
    """The highest point over a row once that row is loosened, and the other rows' multipliers that say so."""

    point: Array
    multipliers: Array


class CellPrograms:
    """{u : A u <= b} seen from a point inside, with rows of length one and the next wall at distance one.

    The solver's tolerances are absolute; in these coordinates they mean the same for cells of all sizes.
    """

    def __init__(self, A: Array, b: Array, inside: Array, may_go_on: Callable[[], bool] = lambda: True) -> None:
        # Imported here because HiGHS takes longer to import than all of polyfold.
        import highspy

        self._highs = highspy
        self._inside = inside
        self._norms = np.linalg.norm(A, axis=1)
        rows = A / self._norms[:, None]
        slack = np.maximum(b / self._norms - rows @ inside, 0.0)
        # Walls through the point, or as good as through it, say nothing about the cell's size.
        away = slack[slack > SAME_PLACE * slack.max(initial=0.0)]
        self._size = float(away.min()) if len(away) else 1.0
        self._slack = slack / self._size
        self._rows = rows
        self._left = False
        self._model = self._build()
        if A.size > _LONG:
            self._ask_while_running(may_go_on)

    def _build(self) -> Any:
        count, dim = self._rows.shape
        infinity = self._highs.kHighsInf
        model = self._highs.Highs()
        # Questions differ in what they maximise, so the last answer is a corner to start from: the primal simplex does.
        options = {"output_flag": False, "presolve": "off", "solver": "simplex", "simplex_strategy": 4}
        for name, value in options.items():
            model.setOptionValue(name, value)
        model.addVars(dim, np.full(dim, -infinity), np.full(dim, infinity))
        model.addVars(1, np.zeros(1), np.zeros(1))  # the radius of a ball
        wide = np.column_stack([self._rows, np.ones(count)])
        at_row, at_column = np.nonzero(wide)
        starts = np.searchsorted(at_row, np.arange(count)).astype(np.int32)
        model.addRows(
            count,
            np.full(count, -infinity),
            self._slack,
            len(at_row),
            starts,
            at_column.astype(np.int32),
            wide[at_row, at_column],
        )
        return model

    def _ask_while_running(self, may_go_on: Callable[[], bool]) -> None:
        pause = Clock(_SECONDS_BETWEEN_QUESTIONS)

        def step(event: Any) -> None:
            nonlocal pause
            if not self._left and pause.over:
                self._left = not may_go_on()
                pause = Clock(_SECONDS_BETWEEN_QUESTIONS)
            if self._left:
                event.interrupt()

        self._model.cbSimplexInterrupt.subscribe(step)

    def centre(self) -> Array | None:
        """The centre of a ball as large as fits, up to the distance of the farthest wall."""
        dim = self._rows.shape[1]
        cap = float(self._slack.max(initial=1.0))
        self._model.changeColBounds(dim, 0.0, cap)
        self._model.changeColCost(dim, -1.0)
        found = self._run()
        self._model.changeColCost(dim, 0.0)
        self._model.changeColBounds(dim, 0.0, 0.0)
        return None if found is None else self._inside + found[0][:dim] * self._size

    def largest_ball(self) -> tuple[Array, float] | None:
        """Centre and radius; NaN and infinity if there is no largest. None if it was left before the end."""
        dim, infinity = self._rows.shape[1], self._highs.kHighsInf
        self._model.changeColBounds(dim, 0.0, infinity)
        self._model.changeColCost(dim, -1.0)
        found = self._run()
        if found is not None:
            return self._inside + found[0][:dim] * self._size, float(found[0][dim]) * self._size
        statuses = self._highs.HighsModelStatus
        if self._model.getModelStatus() in (statuses.kUnbounded, statuses.kUnboundedOrInfeasible):
            return np.full(dim, np.nan), np.inf
        return None

    def beyond(self, row: int) -> Proposal | None:
        """How far the other rows let one go beyond this one, up to a quarter more than it is away."""
        dim, infinity = self._rows.shape[1], self._highs.kHighsInf
        columns = np.arange(dim, dtype=np.int32)
        self._model.changeRowBounds(row, -infinity, 1.25 * float(self._slack[row]))
        self._model.changeColsCost(dim, columns, -self._rows[row])
        found = self._run()
        self._model.changeColsCost(dim, columns, np.zeros(dim))
        self._model.changeRowBounds(row, -infinity, float(self._slack[row]))
        if found is None:
            return None
        point, duals = found
        multipliers = np.maximum(-duals, 0.0) / self._norms * self._norms[row]
        multipliers[row] = 0.0
        return Proposal(self._inside + point[:dim] * self._size, multipliers)

    def _run(self) -> tuple[Array, Array] | None:
        self._model.run()
        if self._left:
            return None
        if self._model.getModelStatus() != self._highs.HighsModelStatus.kOptimal:
            # A basis that led nowhere is a bad one to start from.
            self._model.clearSolver()
            self._model.run()
            if self._model.getModelStatus() != self._highs.HighsModelStatus.kOptimal:
                return None
        solution = self._model.getSolution()
        return np.array(solution.col_value), np.array(solution.row_dual)
