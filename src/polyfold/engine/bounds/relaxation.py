"""The linear program that a stage's pre-activations obey when every gate that can switch is relaxed to a triangle.

HiGHS solves it in floats. What counts is not its word but its multipliers: whatever multipliers give a bound, which is
computed here with all rounding accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.types import Array, Ids
from polyfold.exact.rounding import TINY
from polyfold.program.passes.bounded_layers import Layers, Range
from polyfold.program.passes.linear_bounds import lines


@dataclass(frozen=True, eq=False)
class Region:
    """The parameters: a box that is proved to hold them, and inequalities A u <= b that they obey."""

    low: Array
    high: Array
    A: Array
    b: Array


@dataclass(frozen=True, eq=False)
class _Open:
    """Gates of a stage that can switch: their pre-activations' and outputs' columns, and the row output >= z."""

    gate: Ids
    z: Ids
    relu: Ids
    row: Ids


@dataclass(frozen=True, eq=False)
class Answer:
    """A point of the relaxation (None if the solver has none), and a bound that is proved."""

    point: Array | None
    bound: float


class Relaxation:
    """Largest values of pre-activations of one stage over relaxed earlier stages."""

    def __init__(self, layers: Layers, ranges: list[Range], region: Region, stage: int) -> None:
        import highspy
        from scipy.sparse import csr_matrix, vstack

        self._highs, self._error, self._region = highspy, layers.error, region
        starts = np.cumsum([layers.input_dim, *(2 * layer.width for layer in layers.layers[:stage])])
        self._columns = int(starts[-1])
        self.low, self.high = np.zeros(self._columns), np.zeros(self._columns)
        self.low[: layers.input_dim], self.high[: layers.input_dim] = region.low, region.high
        # What a source's entries are in terms of columns, written as sparse matrices.
        eye = _spread(np.arange(layers.input_dim), np.ones(layers.input_dim), self._columns)
        sources, blocks, lower, upper = [eye], [], [], []
        if len(region.A):
            blocks.append(csr_matrix(np.pad(region.A, ((0, 0), (0, self._columns - layers.input_dim)))))
            lower.append(np.full(len(region.A), -np.inf))
            upper.append(region.b)
        self.open: list[_Open] = []
        rows = len(region.A)
        for number in range(stage):
            layer, (least, most) = layers.layers[number], ranges[number]
            z = starts[number] + np.arange(layer.width)
            relu = z + layer.width
            self.low[z], self.high[z] = least, most
            blocks.append(_spread(z, np.ones(layer.width), self._columns) - _affine(layers, number, sources))
            lower.append(layer.bias)
            upper.append(layer.bias)
            rows += layer.width
            gates = np.flatnonzero((least < 0) & (most > 0))
            self.high[relu[gates]] = most[gates]
            line = lines(least[gates], most[gates], layers.error)
            ones, count = np.ones(len(gates)), len(gates)
            at_relu, at_z = (_spread(columns[gates], ones, self._columns) for columns in (relu, z))
            blocks += [at_relu - at_z, at_relu - _spread(z[gates], line.above, self._columns)]
            lower += [np.zeros(count), np.full(count, -np.inf)]
            upper += [np.full(count, np.inf), line.lift]
            self.open.append(_Open(gates, z[gates], relu[gates], rows + np.arange(count)))
            rows += 2 * count
            straight = np.where(least >= 0, layer.on, layer.off)
            bent = np.where((least < 0) & (most > 0), layer.bend, 0.0)
            sources.append(_spread(z, straight, self._columns) + _spread(relu, bent, self._columns))
        self._A = csr_matrix(vstack(blocks)) if blocks else csr_matrix((0, self._columns))
        self._size = abs(self._A)
        self.lower, self.upper = (np.concatenate(parts) if parts else np.zeros(0) for parts in (lower, upper))
        self._objective, self._constant = _affine(layers, stage, sources).tocsr(), layers.layers[stage].bias
        numbers = (self._A.data, self.lower, self.upper, self._objective.data, self._constant)
        beyond = any(np.isnan(values).any() for values in numbers)
        self._model: Any = None if beyond else self._build()

    @property
    def usable(self) -> bool:
        """Whether there is a program to solve: not where numbers are beyond the floats, or what HiGHS takes."""
        return self._model is not None

    def largest(self, gate: int, sign: float, low: Array, high: Array, upper: Array) -> Answer:
        """The largest value of sign * z of a gate, where columns and rows may have narrower bounds than at first."""
        cost = sign * np.asarray(self._objective[gate].todense()).ravel()
        model, everything = self._model, np.arange(self._columns, dtype=np.int32)
        model.changeColsBounds(self._columns, everything, low, high)
        changed = np.arange(len(upper), dtype=np.int32)
        model.changeRowsBounds(len(upper), changed, self.lower, upper)
        model.changeColsCost(self._columns, everything, cost)
        apart(model.run)
        status, constant = model.getModelStatus(), sign * float(self._constant[gate])
        if status == self._highs.HighsModelStatus.kInfeasible:
            _, exists, ray = model.getDualRay()
            if not exists:
                return Answer(None, np.inf)
            nothing = np.zeros(self._columns)
            least = min(self._bound(nothing, side * np.array(ray), low, high, upper, 0.0) for side in (1.0, -1.0))
            return Answer(None, -np.inf if least < 0 else np.inf)
        if status != self._highs.HighsModelStatus.kOptimal:
            model.clearSolver()
            return Answer(None, np.inf)
        solution = model.getSolution()
        point = np.array(solution.col_value)
        return Answer(point, self._bound(cost, np.array(solution.row_dual), low, high, upper, constant))

    def _bound(self, cost: Array, duals: Array, low: Array, high: Array, upper: Array, constant: float) -> float:
        """No point that obeys rows and columns has a larger value of cost . y + constant, whatever the multipliers."""
        # A multiplier that leans on a side that is not there is dropped.
        duals = np.where(((duals > 0) & (upper == np.inf)) | ((duals < 0) & (self.lower == -np.inf)), 0.0, duals)
        ends = np.where(duals > 0, upper, np.where(duals < 0, self.lower, 0.0))
        left = cost - duals @ self._A
        most = np.maximum(left * low, left * high).sum() + duals @ ends + constant
        reach = np.maximum(np.abs(low), np.abs(high))
        size = (np.abs(cost) + np.abs(duals) @ self._size) @ reach + np.abs(duals) @ np.abs(ends) + abs(constant)
        terms = 4 * self._error
        # Multipliers and costs may have underflowed, and then meet large values.
        bound = float(most + terms * size * (1 + terms) + TINY * (1 + reach.sum() + np.abs(ends).sum()))
        return np.inf if np.isnan(bound) else bound

    def _build(self) -> Any:
        """The program as HiGHS has it; None if it takes some numbers for too large."""
        infinity = self._highs.kHighsInf
        model = self._highs.Highs()
        options = {"output_flag": False, "presolve": "off", "solver": "simplex", "threads": 1}
        for name, value in options.items():
            model.setOptionValue(name, value)
        model.changeObjectiveSense(self._highs.ObjSense.kMaximize)
        model.addVars(self._columns, self.low, self.high)
        status = model.addRows(
            self._A.shape[0],
            np.where(self.lower == -np.inf, -infinity, self.lower),
            np.where(self.upper == np.inf, infinity, self.upper),
            self._A.nnz,
            self._A.indptr[:-1].astype(np.int32),
            self._A.indices.astype(np.int32),
            self._A.data,
        )
        return None if status == self._highs.HighsStatus.kError else model


def _affine(layers: Layers, number: int, sources: list[Any]) -> Any:
    from scipy.sparse import csr_matrix

    total = csr_matrix((layers.layers[number].width, sources[0].shape[1]))
    for source, W in layers.layers[number].blocks:
        total = total + csr_matrix(W) @ sources[source]
    return total


def _spread(columns: Ids, values: Array, width: int) -> Any:
    """Row i has one entry: values[i] in columns[i]."""
    from scipy.sparse import csr_matrix

    return csr_matrix((values, columns, np.arange(len(columns) + 1)), (len(columns), width))
