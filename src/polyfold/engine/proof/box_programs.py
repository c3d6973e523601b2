"""Linear programs over rows in a box, by HiGHS: the sides are bounds of variables. What comes back are proposals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array


@dataclass(frozen=True, eq=False)
class Least:
    """Where a form is least, and the rows' multipliers that say so."""

    point: Array
    multipliers: Array


class BoxPrograms:
    """{u in the box : a . u + b >= 0 for all rows}; in coordinates that go from -1 to 1, with rows of size one."""

    def __init__(self, a: Array, b: Array, centre: Array, half: Array) -> None:
        # Imported here because HiGHS takes longer to import than all of polyfold.
        import highspy

        self._highs, self._infinity = highspy, highspy.kHighsInf
        self._centre, self._half = centre, half
        scaled = a * half
        self._scale = np.abs(scaled).max(axis=1, initial=0.0)
        self._scale[~((self._scale > 0) & np.isfinite(self._scale))] = 1.0
        self._rows, self._least = scaled / self._scale[:, None], -(b + a @ centre) / self._scale
        self._model = self._build()

    def _build(self) -> Any:
        count, dim = self._rows.shape
        model = self._highs.Highs()
        options = {"output_flag": False, "presolve": "off", "solver": "simplex", "threads": 1}
        for name, value in options.items():
            model.setOptionValue(name, value)
        model.addVars(dim, np.full(dim, -1.0), np.ones(dim))
        model.addVars(1, np.zeros(1), np.zeros(1))  # how far from all rows
        most = 2 * np.abs(self._rows).max(axis=1, initial=0.0)
        wide = np.column_stack([self._rows, -most])
        columns = np.tile(np.arange(dim + 1, dtype=np.int32), count)
        starts = (dim + 1) * np.arange(count, dtype=np.int32)
        model.addRows(count, self._least, np.full(count, self._infinity), wide.size, starts, columns, wide.ravel())
        return model

    def middle(self, margin: float, side: int | None = None) -> Array | None:
        """A point from which one may go far along every axis before a row is met; on a side of the box, if wanted.

        It keeps away from all other sides by this part of the box.
        """
        dim = len(self._half)
        end = np.full(dim, 1 - margin)
        low, high = np.append(-end, 0.0), np.append(end, 1.0)
        if side is not None:
            low[side // 2] = high[side // 2] = 1.0 if side % 2 else -1.0
        self._within(low, high)
        found = self._solved(np.append(np.zeros(dim), -1.0))
        self._within(np.append(-np.ones(dim), 0.0), np.append(np.ones(dim), 0.0))
        return None if found is None else found.point

    def least(self, form: Array, without: int | None = None) -> Least | None:
        """Where a form is least, with one row left out if wanted; None if the solver does not tell."""
        cost = np.append(form * self._half, 0.0)
        size = float(np.abs(cost).max(initial=0.0))
        if not (0 < size < np.inf):
            return None
        if without is not None:
            self._model.changeRowBounds(without, -self._infinity, self._infinity)
        found = self._solved(cost / size)
        if without is not None:
            self._model.changeRowBounds(without, self._least[without], self._infinity)
        return None if found is None else Least(found.point, found.multipliers * size / self._scale)

    def _within(self, low: Array, high: Array) -> None:
        self._model.changeColsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)

    def _solved(self, cost: Array) -> Least | None:
        tick()
        model = self._model
        model.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        model.run()
        if model.getModelStatus() != self._highs.HighsModelStatus.kOptimal:
            model.clearSolver()
            return None
        solution = model.getSolution()
        at = np.array(solution.col_value)[:-1]
        return Least(self._centre + self._half * at, np.maximum(np.array(solution.row_dual), 0.0))
